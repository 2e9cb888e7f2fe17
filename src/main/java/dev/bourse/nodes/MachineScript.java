package dev.bourse.nodes;

import dev.bourse.core.Digests;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * What runs on a machine for one call: a fixed POSIX shell text (the files in {@code nodes/} of the
 * resources), values as its positional parameters, and data on its standard input.
 *
 * <p>The work of a call is a run of its own on the machine, apart from the connection that began
 * it: a lost connection, a caller that ended and another one that takes over lose nothing of it.
 * Each connection is a visit, which begins the run unless it is under way already, waits a while
 * for its end and says {@linkplain #isAtWork so} when that has not come. A run is ended with all
 * its processes when its time is up; how it ended is noted on the machine until somebody asks.
 *
 * <p>A tenant may have left anything in its home directory, so root neither writes nor removes
 * there through a name the tenant could have made a symbolic link: the script changes into the
 * keys' directory first, checks where it is, and from then on uses plain names.
 *
 * @param command the command line for the machine
 * @param input what the command reads, sent as UTF-8
 * @param patienceSeconds how long the command may take to answer, however its run goes
 */
record MachineScript(String command, String input, int patienceSeconds) {
  /** What precedes the allocation in the answer of {@link #held}, for a login may print too. */
  static final String MARK = "bourse-mark:";

  private static final int HOLDS_ANOTHER = 65;
  private static final int PREPARE_FAILED = 70;
  private static final int END_SESSIONS_FAILED = 71;
  private static final int WIPE_FAILED = 72;
  private static final int KEYS_CUT_SHORT = 74;
  private static final int AT_WORK = 75;
  private static final int OUT_OF_TIME = 76;
  private static final int NOT_FIT = 77;
  private static final int LEFT_BEHIND = 78;

  private static final String COMMON = read("common.sh");

  /**
   * The program runs three times for one call, each time as its phase says. {@code visit} is what a
   * connection starts; {@code keep} watches over the work, in a session of its own; {@code work}
   * does it, in another one, which is ended as a whole when its time is up.
   *
   * <p>Whoever holds the kernel's lock on a file beside the mark, which no tenant can open, is at
   * work on the machine; the lock goes with the last process of the run. Another file says who it
   * is: a run of an older release held another lock or none, and a process that it names counts
   * too.
   */
  private static final String RUN = read("tenant.sh") + read("run.sh");

  private static final String HELD = "echo \"" + MARK + "$(held)\"\n";

  /** Installs exactly these keys on a machine that is clean or holds this very allocation. */
  static MachineScript provision(
      SshConfig config,
      String nodeId,
      String allocationId,
      List<String> publicKeys,
      int patienceSeconds) {
    StringBuilder lines = new StringBuilder();
    publicKeys.forEach(key -> lines.append(key).append('\n'));
    String prepare = config.filled(config.prepareCommand().strip(), nodeId);
    return run(
        config, nodeId, "provision", allocationId, patienceSeconds, lines.toString(), prepare, "");
  }

  /** Takes a machine back that holds this very allocation, or none. */
  static MachineScript reclaim(
      SshConfig config, String nodeId, String allocationId, int patienceSeconds) {
    return run(
        config,
        nodeId,
        "reclaim",
        allocationId,
        patienceSeconds,
        "",
        config.filled(config.endSessionsCommand().strip(), nodeId),
        config.filled(config.wipeCommand().strip(), nodeId));
  }

  /** Prints {@link #MARK} and the allocation, if any, on a line. */
  static MachineScript held(SshConfig config, String nodeId) {
    return script(config, nodeId, HELD, "", 0);
  }

  private static MachineScript run(
      SshConfig config,
      String nodeId,
      String kind,
      String allocationId,
      int patienceSeconds,
      String input,
      String first,
      String second) {
    long limitSeconds = (config.commandTimeoutMillis() + 999) / 1000;
    String request = kind + ':' + allocationId + ':' + digest(List.of(input, first, second));
    return script(
        config,
        nodeId,
        RUN,
        input,
        patienceSeconds,
        kind,
        allocationId,
        request,
        Long.toString(limitSeconds),
        Integer.toString(patienceSeconds),
        Integer.toString(input.getBytes(StandardCharsets.UTF_8).length),
        config.hasOwnIds() ? "own" : "fixed",
        first,
        second);
  }

  /** Tells a call from one that would leave the machine otherwise. */
  private static String digest(List<String> parts) {
    byte[] whole = String.join("\0", parts).getBytes(StandardCharsets.UTF_8);
    return HexFormat.of().formatHex(Digests.sha256(whole), 0, 8);
  }

  private static String read(String name) {
    try (InputStream in = MachineScript.class.getResourceAsStream("/nodes/" + name)) {
      return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether a status means that a run, this call's or another's, is under way on the machine. */
  static boolean isAtWork(int status) {
    return status == AT_WORK;
  }

  /**
   * Returns the failure for an exit status other than 0.
   *
   * @param printed the error output of the machine, in one line
   */
  static NodeFailure failure(SshConfig config, String call, int status, String printed) {
    return switch (status) {
      case HOLDS_ANOTHER ->
          NodeFailure.heldByAnother(
              call + ": the machine holds another allocation, or was taken back from this one");
      case PREPARE_FAILED -> NodeFailure.lasting(call + ": the prepare command failed: " + printed);
      case END_SESSIONS_FAILED ->
          NodeFailure.lasting(call + ": the tenant's sessions were not ended: " + printed);
      case WIPE_FAILED -> NodeFailure.lasting(call + ": the wipe command failed: " + printed);
      case KEYS_CUT_SHORT ->
          NodeFailure.passing(call + ": the machine received only a part of the keys");
      case OUT_OF_TIME ->
          NodeFailure.lasting(
              "%s: the commands did not end within %d ms and were stopped"
                  .formatted(call, config.commandTimeoutMillis()));
      case NOT_FIT ->
          NodeFailure.lasting(call + ": the machine is not fit for a tenant: " + printed);
      case LEFT_BEHIND ->
          NodeFailure.lasting(call + ": the tenant's leftovers could not be removed: " + printed);
      default -> NodeFailure.lasting(call + ": the commands ended with status " + status);
    };
  }

  private static MachineScript script(
      SshConfig config,
      String nodeId,
      String text,
      String input,
      int patienceSeconds,
      String... more) {
    List<String> words = new ArrayList<>();
    if (!config.adminUser().equals("root")) {
      words.addAll(List.of("sudo", "-n"));
    }
    // By way of a parameter, so that the text can run itself again.
    words.addAll(List.of("/bin/sh", "-c", quoted("eval \"$1\""), "bourse"));
    words.add(quoted(COMMON + text));
    words.add("visit");
    words.add(quoted(config.filled(config.authorizedKeysPath(), nodeId)));
    words.add(quoted(config.filled(config.markPath(), nodeId)));
    words.add(quoted(config.tenantUser()));
    words.add(quoted(nodeId));
    Stream.of(more).map(MachineScript::quoted).forEach(words::add);
    return new MachineScript(String.join(" ", words), input, patienceSeconds);
  }

  private static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }
}
