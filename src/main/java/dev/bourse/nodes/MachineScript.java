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
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The script of one call on a machine: a fixed POSIX shell text (the files in {@code nodes/} of the
 * resources), values as its positional parameters, and data on its standard input.
 *
 * <p>The work of a call is a run on the machine that does not depend on the connection: it survives
 * a lost connection, the end of the caller, and a takeover by another process. Each connection is a
 * visit: it starts the run unless it is in progress, waits some time for its end, and reports
 * {@linkplain #isAtWork a run in progress} otherwise. When the time of a run is up, the machine
 * kills all its processes. The machine keeps the result of a run until a visit reads it.
 *
 * <p>A tenant may have left symbolic links in its home directory, so root must not write or remove
 * files there by a path. The script changes into the keys' directory, checks the directory's real
 * path, and then uses plain names.
 *
 * @param command the command line for the machine
 * @param input the standard input of the command, sent as UTF-8
 * @param patienceSeconds how long the command may take to answer, even if its run takes longer
 */
record MachineScript(String command, String input, int patienceSeconds) {
  /** Precedes the allocation in the answer of {@link #held}, because a login may print too. */
  static final String MARK = "bourse-mark:";

  /** Precedes each fault in the answer of {@link #examine}: its severity, a space, a sentence. */
  static final String FAULT = "bourse-fault:";

  /** A line that ends the answer of {@link #examine} if something was checked. */
  static final String CHECKED = "bourse-checked";

  /** Precedes the digest of the baseline, the list of the configuration that root owns. */
  static final String BASELINE = "bourse-baseline:";

  /** Precedes each difference from the accepted baseline. */
  static final String CHANGE = "bourse-change:";

  /** Precedes the record of a reclaim: seconds, processes, files, objects, baseline digest. */
  static final String CLEANED = "bourse-cleaned:";

  /** Precedes the id and the state of the last notice in the answer of {@link #held}. */
  static final String NOTICE = "bourse-notice:";

  /** Precedes the sequence of a newer notice, which the machine keeps instead of the call's. */
  static final String NEWER = "bourse-newer:";

  /** The time for three programs of the driver and the operator's check. */
  private static final int EXAMINE_SECONDS = 3 * 22 + 62;

  /** The time for the signals and the wait for another notice. */
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
  private static final int JOIN_REFUSED = 83;

  private static final String COMMON = read("common.sh");

  /**
   * The program of a run. It runs in three phases: a connection starts {@code visit}; {@code keep}
   * supervises the work in its own session; {@code work} does the work in another session, which is
   * killed as a whole when its time is up.
   *
   * <p>A run holds the kernel's lock on a file beside the mark, which no tenant can open; its last
   * process releases the lock. Another file names the run's process, which counts as well, because
   * a run of an older release held another lock or none.
   */
  private static final String RUN =
      read("tenant.sh")
          + read("notice.sh")
          + read("baseline.sh")
          + read("health.sh")
          + read("agent.sh")
          + read("run.sh");

  private static final String LOOK =
      read("tenant.sh")
          + read("notice.sh")
          + read("baseline.sh")
          + read("health.sh")
          + read("agent.sh")
          + read("look.sh");

  /**
   * Installs exactly these keys and the agent's access on a machine that is clean or holds this
   * allocation.
   */
  static MachineScript provision(
      SshConfig config,
      Machine machine,
      String allocationId,
      List<String> publicKeys,
      Optional<AgentAccess> agent,
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
        agent.map(AgentAccess::toFile).orElse(""),
        prepare,
        "",
        config.hasOwnIds() ? terms.ids() : null);
  }

  /** Reclaims a machine that holds this allocation or none. */
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

  /** Prints {@link #BASELINE} with the digest of the baseline, and {@link #CHANGE} lines. */
  static MachineScript review(SshConfig config, Machine machine) {
    return look(config, machine, null, "review_baseline", limitSeconds(config));
  }

  /** Accepts the machine's baseline if it still has this digest. */
  static MachineScript accept(SshConfig config, Machine machine, String digest) {
    return look(config, machine, null, "accept_baseline", limitSeconds(config), digest);
  }

  /** Delivers a notice to the tenant's programs. */
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
      String keys,
      String access,
      String first,
      String second,
      @Nullable LoginIds ids) {
    String input = keys + access;
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
        Integer.toString(keys.getBytes(StandardCharsets.UTF_8).length),
        first,
        second,
        Long.toString(nowMillis / 1000),
        ids == null ? "" : Long.toString(ids.uid()),
        ids == null ? "" : Long.toString(ids.gid()),
        Integer.toString(access.length()));
  }

  private static int limitSeconds(SshConfig config) {
    return (int) ((config.commandTimeoutMillis() + 999) / 1000);
  }

  /** Returns a digest that distinguishes calls with different results on the machine. */
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

  /** True if a status means that a run, this call's or another's, is in progress on the machine. */
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
              call + ": the machine holds another allocation, or was reclaimed from this one");
      case PREPARE_FAILED ->
          NodeFailureException.lasting(call + ": the prepare command failed: " + printed);
      case JOIN_REFUSED ->
          NodeFailureException.joinRefused(
              call + ": the Kubernetes cluster refused the node: " + printed);
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
          NodeFailureException.unfit(
              call + ": the machine differs from its accepted baseline: " + printed);
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
    // The text is a parameter, so that it can run itself again.
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
