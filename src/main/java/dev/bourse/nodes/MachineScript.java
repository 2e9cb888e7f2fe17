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
import org.jspecify.annotations.Nullable;

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

  /** Precedes each fault in the answer of {@link #examine}: its severity, a space, a sentence. */
  static final String FAULT = "bourse-fault:";

  /** A line that ends the answer of {@link #examine} if something was checked. */
  static final String CHECKED = "bourse-checked";

  /** Precedes the digest of the list of what root owns. */
  static final String BASELINE = "bourse-baseline:";

  /** Precedes each difference to the accepted list. */
  static final String CHANGE = "bourse-change:";

  /**
   * Precedes what a reclaim did: seconds, processes, files, objects, and the digest of the list.
   */
  static final String CLEANED = "bourse-cleaned:";

  /** Precedes the id and the state of the last notice in the answer of {@link #held}. */
  static final String NOTICE = "bourse-notice:";

  /**
   * Precedes the sequence of a newer notice, which the machine keeps in the place of the call's.
   */
  static final String NEWER = "bourse-newer:";

  /** Three answers of the driver's programs, and the operator's check. */
  private static final int EXAMINE_SECONDS = 3 * 22 + 62;

  /** The signals, and the wait for another notice. */
  private static final int NOTICE_SECONDS = 10;

  private static final int HOLDS_ANOTHER = 65;
  private static final int PREPARE_FAILED = 70;
  private static final int END_SESSIONS_FAILED = 71;
  private static final int WIPE_FAILED = 72;
  private static final int KEYS_CUT_SHORT = 74;
  private static final int AT_WORK = 75;
  private static final int OUT_OF_TIME = 76;
  private static final int NOT_FIT = 77;
  private static final int LEFT_BEHIND = 78;
  private static final int FAULTY = 79;
  private static final int CHANGED = 80;
  private static final int SUSPECT = 81;
  private static final int CHANGED_SINCE = 82;

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
  private static final String RUN =
      read("tenant.sh")
          + read("notice.sh")
          + read("baseline.sh")
          + read("health.sh")
          + read("run.sh");

  private static final String LOOK =
      read("tenant.sh")
          + read("notice.sh")
          + read("baseline.sh")
          + read("health.sh")
          + read("look.sh");

  /** Installs exactly these keys on a machine that is clean or holds this very allocation. */
  static MachineScript provision(
      SshConfig config,
      Machine machine,
      String allocationId,
      List<String> publicKeys,
      MachineTerms terms,
      long nowMillis,
      int patienceSeconds) {
    StringBuilder lines = new StringBuilder();
    publicKeys.forEach(key -> lines.append(key).append('\n'));
    String prepare = config.filled(config.prepareCommand().strip(), machine.nodeId());
    return run(
        config,
        machine,
        "provision",
        allocationId,
        patienceSeconds,
        terms,
        nowMillis,
        lines.toString(),
        prepare,
        "",
        config.hasOwnIds() ? terms.ids() : null);
  }

  /** Takes a machine back that holds this very allocation, or none. */
  static MachineScript reclaim(
      SshConfig config, Machine machine, String allocationId, int patienceSeconds) {
    return run(
        config,
        machine,
        "reclaim",
        allocationId,
        patienceSeconds,
        null,
        0,
        "",
        config.filled(config.endSessionsCommand().strip(), machine.nodeId()),
        config.filled(config.wipeCommand().strip(), machine.nodeId()),
        null);
  }

  /** Prints {@link #MARK} and the allocation, if any, on a line. */
  static MachineScript held(SshConfig config, Machine machine) {
    return look(config, machine, null, "tell_mark", 0);
  }

  /** Prints {@link #MARK}, {@link #BASELINE}, {@link #FAULT} lines and {@link #CHECKED}. */
  static MachineScript examine(SshConfig config, Machine machine, MachineTerms terms) {
    return look(config, machine, terms, "examine", EXAMINE_SECONDS);
  }

  /** Prints {@link #BASELINE}, the digest of the machine's list, and {@link #CHANGE} lines. */
  static MachineScript review(SshConfig config, Machine machine) {
    return look(config, machine, null, "review_baseline", limitSeconds(config));
  }

  /** Accepts the machine's list if it still has this digest. */
  static MachineScript accept(SshConfig config, Machine machine, String digest) {
    return look(config, machine, null, "accept_baseline", limitSeconds(config), digest);
  }

  /** Tells the tenant's programs of a notice. */
  static MachineScript notice(
      SshConfig config, Machine machine, String allocationId, NodeNotice notice, long sequence) {
    return look(
        config,
        machine,
        null,
        "notify",
        NOTICE_SECONDS,
        allocationId,
        notice.id(),
        notice.state(),
        Long.toString(sequence),
        notice.toJson(sequence));
  }

  private static MachineScript look(
      SshConfig config,
      Machine machine,
      @Nullable MachineTerms terms,
      String function,
      int patienceSeconds,
      String... more) {
    return script(config, machine, terms, LOOK, function, "", patienceSeconds, more);
  }

  private static MachineScript run(
      SshConfig config,
      Machine machine,
      String kind,
      String allocationId,
      int patienceSeconds,
      @Nullable MachineTerms terms,
      long nowMillis,
      String input,
      String first,
      String second,
      @Nullable LoginIds ids) {
    String request = kind + ':' + allocationId + ':' + digest(List.of(input, first, second));
    return script(
        config,
        machine,
        terms,
        RUN,
        "visit",
        input,
        patienceSeconds,
        kind,
        allocationId,
        request,
        Integer.toString(limitSeconds(config)),
        Integer.toString(patienceSeconds),
        Integer.toString(input.getBytes(StandardCharsets.UTF_8).length),
        first,
        second,
        Long.toString(nowMillis / 1000),
        ids == null ? "" : Long.toString(ids.uid()),
        ids == null ? "" : Long.toString(ids.gid()));
  }

  private static int limitSeconds(SshConfig config) {
    return (int) ((config.commandTimeoutMillis() + 999) / 1000);
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
  static NodeFailureException failure(SshConfig config, String call, int status, String printed) {
    return switch (status) {
      case HOLDS_ANOTHER ->
          NodeFailureException.heldByAnother(
              call + ": the machine holds another allocation, or was taken back from this one");
      case PREPARE_FAILED ->
          NodeFailureException.lasting(call + ": the prepare command failed: " + printed);
      case END_SESSIONS_FAILED ->
          NodeFailureException.lasting(call + ": the tenant's sessions were not ended: " + printed);
      case WIPE_FAILED ->
          NodeFailureException.lasting(call + ": the wipe command failed: " + printed);
      case AT_WORK -> NodeFailureException.busy(call + ": " + printed);
      case KEYS_CUT_SHORT ->
          NodeFailureException.passing(call + ": the machine received only a part of the keys");
      case OUT_OF_TIME ->
          NodeFailureException.lasting(
              "%s: the commands did not end within %d ms and were stopped"
                  .formatted(call, config.commandTimeoutMillis()));
      case NOT_FIT ->
          NodeFailureException.unfit(call + ": the machine is not fit for a tenant: " + printed);
      case LEFT_BEHIND ->
          NodeFailureException.lasting(
              call + ": the tenant's leftovers could not be removed: " + printed);
      case FAULTY ->
          NodeFailureException.unfit(call + ": the machine failed its hardware check: " + printed);
      case CHANGED ->
          NodeFailureException.unfit(call + ": the machine is not as it was accepted: " + printed);
      case SUSPECT ->
          NodeFailureException.lasting(
              call + ": the machine failed its hardware check: " + printed);
      case CHANGED_SINCE -> NodeFailureException.unfit(call + ": " + printed);
      default -> NodeFailureException.lasting(call + ": the commands ended with status " + status);
    };
  }

  private static MachineScript script(
      SshConfig config,
      Machine machine,
      @Nullable MachineTerms terms,
      String text,
      String phase,
      String input,
      int patienceSeconds,
      String... more) {
    String nodeId = machine.nodeId();
    List<String> words = new ArrayList<>();
    if (!config.adminUser().equals("root")) {
      words.addAll(List.of("sudo", "-n"));
    }
    // By way of a parameter, so that the text can run itself again.
    words.addAll(List.of("/bin/sh", "-c", quoted("eval \"$1\""), "bourse"));
    words.add(quoted(COMMON + text));
    words.add(phase);
    words.add(quoted(config.filled(config.authorizedKeysPath(), nodeId)));
    words.add(quoted(config.filled(config.markPath(), nodeId)));
    words.add(quoted(config.tenantUser()));
    words.add(quoted(nodeId));
    if (terms != null && config.checksHardware()) {
      words.add(Integer.toString(terms.gpus()));
      words.add(quoted(Objects.requireNonNullElse(terms.model(), "")));
      words.add(quoted(config.filled(config.checkCommand().strip(), nodeId)));
    } else {
      words.addAll(List.of("off", "''", "''"));
    }
    words.add(config.hasOwnIds() ? "own" : "fixed");
    words.add(quoted(Objects.requireNonNullElse(machine.baseline(), "")));
    words.add(quoted(config.filled(config.runPath(), nodeId)));
    words.add(terms != null && terms.hasRootTenants() ? "root" : "login");
    Stream.of(more).map(MachineScript::quoted).forEach(words::add);
    return new MachineScript(String.join(" ", words), input, patienceSeconds);
  }

  private static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }
}
