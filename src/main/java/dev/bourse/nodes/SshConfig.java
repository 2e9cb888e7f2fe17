package dev.bourse.nodes;

import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * The settings of real machines: how the provider connects to them and the commands that it runs.
 *
 * <p>Paths and commands may contain {@code {node}} (the machine's id) and {@code {user}} (the
 * tenant's login); both have no characters that are special to a shell. Commands, except the one
 * for a new image, run under {@code /bin/sh} as root, with {@code BOURSE_NODE} and {@code
 * BOURSE_ALLOCATION} in their environment and no standard input. They must be idempotent.
 *
 * @param adminUser the login of the provider: root, or a user with password-less sudo
 * @param identityFile its private key in OpenSSH or PEM form, without a passphrase
 * @param tenantUser the login of tenants; it exists on every machine and is not the admin
 * @param hasOwnIds true if each grant gives the tenant's login ids that no tenant had before, and
 *     the group of its organization; otherwise the login keeps its ids, and a process that survives
 *     a reclaim can read the next tenant's files
 * @param idRange the range of ids for logins and organizations
 * @param authorizedKeysPath the file from which the machine's sshd reads the tenant's keys; its
 *     directory is created if its parent exists, and replaced if it is a symbolic link
 * @param markPath the file in which a machine keeps the allocation that it is prepared for; in a
 *     directory that only root can write
 * @param runPath the directory in which the tenant's programs find notices; in a directory that
 *     only root can write, and removed by a reclaim. It is not configurable, because programs rely
 *     on it
 * @param prepareCommand runs before a tenant gets access; blank for none
 * @param endSessionsCommand ends work for the tenant in processes with other ids; runs after the
 *     processes with the tenant's ids were killed; blank for none
 * @param wipeCommand removes data of the tenant other than files with its ids; runs before these
 *     are removed; blank for none
 * @param reimageCommand gives a machine a new image; runs on the service's host as the service's
 *     user, and prints the machine's new host key; blank for none
 * @param reimageTimeoutMillis longest time from the start of that command until the machine answers
 *     with the new key, 100 to 86,400,000
 * @param checksHardware true if machines with hardware faults are rejected, and machines are
 *     checked while held
 * @param checkCommand the operator's own check: status 0 for a good machine, otherwise each printed
 *     line is a fault; blank for none
 * @param connectTimeoutMillis longest wait for each of the connection, the login and a channel, 100
 *     to 120,000
 * @param commandTimeoutMillis longest run of one call's commands, which the machine then ends, 100
 *     to 7,200,000
 * @param attempts the most attempts of a call with passing failures, 1 to 10
 * @param retryDelayMillis the wait before the second attempt, doubled for each further one, 1 to
 *     60,000
 * @param maxConcurrent the most connections at a time, 1 to 256
 * @param maxWaiting the most calls that wait; further calls are rejected, 1 to 100,000
 */
public record SshConfig(
    String adminUser,
    Path identityFile,
    String tenantUser,
    boolean hasOwnIds,
    IdRange idRange,
    String authorizedKeysPath,
    String markPath,
    String runPath,
    String prepareCommand,
    String endSessionsCommand,
    String wipeCommand,
    String reimageCommand,
    long reimageTimeoutMillis,
    boolean checksHardware,
    String checkCommand,
    long connectTimeoutMillis,
    long commandTimeoutMillis,
    int attempts,
    long retryDelayMillis,
    int maxConcurrent,
    int maxWaiting) {
  private static final Pattern LOGIN = Pattern.compile("[a-z_][a-z0-9_-]{0,31}");
  private static final Pattern NODE_ID = Pattern.compile("[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?");

  /** Two directories and a name; a check compares the directory with its parent's real path. */
  private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9_.-]{1,255}){3,64}");

  private static final int MAX_PATH_CHARS = 512;

  /** All commands for a machine are sent in one argument, which Linux limits to 128 KiB. */
  private static final int MAX_COMMAND_CHARS = 16_384;

  public SshConfig {
    require(LOGIN.matcher(adminUser).matches(), "admin-user", adminUser, "a login name");
    require(
        LOGIN.matcher(tenantUser).matches()
            && !tenantUser.equals("root")
            && !tenantUser.equals(adminUser),
        "tenant-user",
        tenantUser,
        "a login name that is neither root nor the admin's");
    requirePath("authorized-keys-path", authorizedKeysPath);
    requirePath("mark-path", markPath);
    requireCommand("prepare-command", prepareCommand);
    requireCommand("end-sessions-command", endSessionsCommand);
    requireCommand("wipe-command", wipeCommand);
    requireCommand("reimage-command", reimageCommand);
    requireCommand("check-command", checkCommand);
    requireRange("reimage-timeout", reimageTimeoutMillis, 100, 86_400_000);
    requireRange("connect-timeout", connectTimeoutMillis, 100, 120_000);
    requireRange("command-timeout", commandTimeoutMillis, 100, 7_200_000);
    requireRange("attempts", attempts, 1, 10);
    requireRange("retry-delay", retryDelayMillis, 1, 60_000);
    requireRange("max-concurrent", maxConcurrent, 1, 256);
    requireRange("max-waiting", maxWaiting, 1, 100_000);
  }

  /**
   * Returns the defaults: root over SSH, tenants as {@code tenant} with their own ids and with keys
   * in the home directory.
   */
  public static SshConfig defaults(Path identityFile) {
    return new SshConfig(
        "root",
        identityFile,
        "tenant",
        true,
        IdRange.USUAL,
        "/home/{user}/.ssh/authorized_keys",
        "/var/lib/bourse/allocation",
        "/run/bourse",
        "",
        "",
        "",
        "",
        3_600_000,
        true,
        "",
        10_000,
        600_000,
        3,
        1_000,
        16,
        4_096);
  }

  /** Returns a template with its placeholders filled in for one machine. */
  String filled(String template, String nodeId) {
    return template.replace("{node}", nodeId).replace("{user}", tenantUser);
  }

  /** True if a machine's id has only characters that paths and commands may contain. */
  static boolean isNodeId(String nodeId) {
    return NODE_ID.matcher(nodeId).matches();
  }

  private static void requirePath(String name, String path) {
    String example = path.replace("{node}", "n").replace("{user}", "u");
    require(
        path.length() <= MAX_PATH_CHARS
            && PATH.matcher(example).matches()
            && !(example + '/').contains("/../"),
        name,
        path,
        "an absolute path below two directories, of letters, digits, '_.-', {node} and {user}");
  }

  private static void requireCommand(String name, String command) {
    require(
        command.length() <= MAX_COMMAND_CHARS && command.indexOf('\0') < 0,
        name,
        "a command of " + command.length() + " characters",
        "at most " + MAX_COMMAND_CHARS + " characters, none of them NUL");
  }

  private static void requireRange(String name, long value, long least, long most) {
    require(value >= least && value <= most, name, value, least + ".." + most);
  }

  private static void require(boolean good, String name, Object value, String accepted) {
    if (!good) {
      throw new IllegalArgumentException(
          name + ": '" + value + "' is not acceptable; expected " + accepted);
    }
  }
}
