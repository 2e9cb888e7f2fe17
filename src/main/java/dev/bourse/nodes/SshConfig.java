package dev.bourse.nodes;

import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * How real machines are reached and what is run there.
 *
 * <p>Paths and commands may name {@code {node}} (the machine's id) and {@code {user}} (the tenant's
 * login); both are of characters a shell gives no meaning to. Commands, except the one for a new
 * image, run under {@code /bin/sh} as root with {@code BOURSE_NODE} and {@code BOURSE_ALLOCATION}
 * in their environment and no standard input, and must bear being run again.
 *
 * @param adminUser who the provider logs in as: root, or a user with password-less sudo
 * @param identityFile its private key in OpenSSH or PEM form, without a passphrase
 * @param tenantUser who tenants log in as; exists on every machine and is not the admin
 * @param hasOwnIds true if each grant gives the tenant's login ids that no tenant had before, and
 *     the group of its organization; otherwise the login keeps its ids, and a process that survives
 *     a reclaim can read the next tenant's files
 * @param idRange from where the ids of logins and organizations are
 * @param authorizedKeysPath the file the machine's sshd reads the tenant's keys from; its directory
 *     is made when only that is missing, and is replaced when it is a symbolic link
 * @param markPath where a machine keeps the allocation it is prepared for; in a directory that only
 *     root can write
 * @param runPath where the tenant's programs read of notices; in a directory that only root can
 *     write, and removed by a reclaim. It is no setting, because programs rely on it
 * @param prepareCommand run before a tenant is let in; blank for none
 * @param endSessionsCommand ends work for the tenant in processes with other ids; runs after the
 *     processes with the tenant's ids were killed; blank for none
 * @param wipeCommand removes data of the tenant in other places than files with its ids; runs
 *     before these are removed; blank for none
 * @param reimageCommand gives a machine a new image; runs on the service's host as the service's
 *     user, and prints the machine's new host key; blank for none
 * @param reimageTimeoutMillis longest time from the start of that command until the machine answers
 *     with the new key, 100 to 86,400,000
 * @param checksHardware true if machines are refused for hardware faults, and checked while held
 * @param checkCommand the operator's own check: status 0 for a good machine, otherwise each printed
 *     line is a fault; blank for none
 * @param connectTimeoutMillis longest wait for each of the connection, the login and a channel, 100
 *     to 120,000
 * @param commandTimeoutMillis longest run of one call's commands, which the machine ends then, 100
 *     to 7,200,000
 * @param attempts how often a call is tried while its failures are passing ones, 1 to 10
 * @param retryDelayMillis the wait before the second attempt, doubled for each further one, 1 to
 *     60,000
 * @param maxConcurrent connections, and so machines worked on, at a time, 1 to 256
 * @param maxWaiting calls that may wait for their turn; one more is refused, 1 to 100,000
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

  /**
   * Two directories and a name, for the keys' directory is compared with its parent's real path.
   */
  private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9_.-]{1,255}){3,64}");

  private static final int MAX_PATH_CHARS = 512;

  /** All commands for machines travel in one argument, which Linux bounds at 128 KiB. */
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
   * The usual machine: root over ssh, tenants as {@code tenant} with ids of their own, their keys
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

  /** The text with its placeholders filled in for one machine. */
  String filled(String template, String nodeId) {
    return template.replace("{node}", nodeId).replace("{user}", tenantUser);
  }

  /** Whether a machine id is of the characters that may stand in a path and a command. */
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
