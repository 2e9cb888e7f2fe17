package dev.bourse.nodes;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * What runs on a machine for one call: a fixed POSIX shell text, values as its positional
 * parameters, and data on its standard input.
 *
 * <p>A tenant may have left anything in its home directory, so root neither writes nor removes
 * there through a name the tenant could have made a symbolic link: the script changes into the
 * keys' directory first, checks where it is, and from then on uses plain names.
 *
 * @param command the command line for the machine
 * @param input what the command reads, sent as UTF-8
 */
record TargetScript(String command, String input) {
  /** What precedes the allocation in the answer of {@link #held}, for a login may print too. */
  static final String MARK = "bourse-mark:";

  private static final int HOLDS_ANOTHER = 65;
  private static final int PREPARE_FAILED = 70;
  private static final int END_SESSIONS_FAILED = 71;
  private static final int WIPE_FAILED = 72;
  private static final int KEYS_CUT_SHORT = 74;
  private static final int BUSY = 75;

  private static final String COMMON =
      """
      set -eu
      umask 077
      keys=$1 mark=$2 user=$3
      export BOURSE_NODE="$4"
      dir=${keys%/*} name=${keys##*/} lock=$mark.lock
      fail() { echo "$2" >&2; exit "$1"; }

      # One run at a time: a connection may be lost while its commands still run.
      alone() {
        mkdir -p "${mark%/*}"
        boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || :)
        if ! (set -C; echo "$$ $boot" >"$lock") 2>/dev/null; then
          pid= since=
          read -r pid since <"$lock" || :
          if [ "$since" = "$boot" ] && [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; then
            fail 75 "another run is under way as process $pid"
          fi
          echo "$$ $boot" >"$lock"
        fi
        trap 'rm -f "$lock" "$mark.keys"' EXIT
        trap 'exit 1' HUP INT TERM PIPE
      }

      # Fails when there is no such directory.
      enter_keys_directory() {
        if [ -L "$dir" ]; then rm -f "$dir"; fi
        [ -d "$dir" ] || return 1
        real=$(cd -P "${dir%/*}" && pwd -P)/${dir##*/}
        cd -P "$dir" || return 1
        [ "$(pwd -P)" = "$real" ] || fail 73 "$dir is not where it should be"
      }

      remove_keys() {
        if enter_keys_directory; then
          rm -rf -- "$name" "${name}2" ".$name.new"
          cd /
        fi
      }

      held() {
        if [ -f "$mark" ]; then cat "$mark"; fi
      }

      # A call may come late, when the machine is another's by now.
      require_no_other() {
        holder=$(held)
        if [ -n "$holder" ] && [ "$holder" != "$1" ]; then
          fail 65 "holds allocation $holder"
        fi
      }
      """;

  private static final String PROVISION =
      """
      allocation=$5 bytes=$6 prepare=$7
      export BOURSE_ALLOCATION="$allocation"
      alone
      cat >"$mark.keys"
      [ "$(wc -c <"$mark.keys")" -eq "$bytes" ] || fail 74 "the keys arrived cut short"
      require_no_other "$allocation"
      echo "$allocation" >"$mark.new"
      mv -f "$mark.new" "$mark"
      if [ -n "$prepare" ]; then
        (cd / && exec /bin/sh -c "$prepare") </dev/null || fail 70 "prepare ended with $?"
      fi
      if ! enter_keys_directory; then
        mkdir "$dir"
        enter_keys_directory
        chown "$user" .
      fi
      rm -rf -- ".$name.new"
      (set -C; cat "$mark.keys" >".$name.new")
      chown -h "$user" ".$name.new"
      # A directory in the file's place would swallow the new file.
      if [ -d "$name" ]; then rm -rf -- "$name"; fi
      mv -f ".$name.new" "$name"
      rm -rf -- "${name}2"
      """;

  // Keys go first, so that nobody returns, and once more after the sessions, which may have put
  // some back; the mark goes last, so that a run cut short is known to be unfinished.
  private static final String RECLAIM =
      """
      allocation=$5 end_sessions=$6 wipe=$7
      export BOURSE_ALLOCATION="$allocation"
      alone
      require_no_other "$allocation"
      remove_keys
      (cd / && exec /bin/sh -c "$end_sessions") </dev/null || fail 71 "end-sessions ended with $?"
      remove_keys
      (cd / && exec /bin/sh -c "$wipe") </dev/null || fail 72 "wipe ended with $?"
      rm -f "$mark"
      """;

  private static final String HELD =
      """
      echo "bourse-mark:$(held)"
      """;

  /** Installs exactly these keys on a machine that is clean or holds this very allocation. */
  static TargetScript provision(
      SshConfig config, String nodeId, String allocationId, List<String> publicKeys) {
    StringBuilder lines = new StringBuilder();
    publicKeys.forEach(key -> lines.append(key).append('\n'));
    String input = lines.toString();
    return script(
        config,
        nodeId,
        PROVISION,
        input,
        allocationId,
        Integer.toString(input.getBytes(StandardCharsets.UTF_8).length),
        config.filled(config.prepareCommand().strip(), nodeId));
  }

  /** Takes a machine back that holds this very allocation, or none. */
  static TargetScript reclaim(SshConfig config, String nodeId, String allocationId) {
    return script(
        config,
        nodeId,
        RECLAIM,
        "",
        allocationId,
        config.filled(config.endSessionsCommand(), nodeId),
        config.filled(config.wipeCommand(), nodeId));
  }

  /** Prints {@link #MARK} and the allocation, if any, on a line. */
  static TargetScript held(SshConfig config, String nodeId) {
    return script(config, nodeId, HELD, "");
  }

  /** What an exit status other than 0 means. */
  static NodeFailure failure(String call, int status) {
    return switch (status) {
      case HOLDS_ANOTHER ->
          NodeFailure.heldByAnother(call + ": the machine holds another allocation");
      case PREPARE_FAILED -> NodeFailure.lasting(call + ": the prepare command failed");
      case END_SESSIONS_FAILED -> NodeFailure.lasting(call + ": the end-sessions command failed");
      case WIPE_FAILED -> NodeFailure.lasting(call + ": the wipe command failed");
      case KEYS_CUT_SHORT -> NodeFailure.passing(call + ": the keys arrived cut short");
      case BUSY -> NodeFailure.passing(call + ": another run is under way on the machine");
      default -> NodeFailure.lasting(call + ": the commands ended with status " + status);
    };
  }

  private static TargetScript script(
      SshConfig config, String nodeId, String text, String input, String... more) {
    List<String> words = new ArrayList<>();
    if (!config.adminUser().equals("root")) {
      words.addAll(List.of("sudo", "-n"));
    }
    words.addAll(List.of("/bin/sh", "-c", quoted(COMMON + text), "bourse"));
    words.add(quoted(config.filled(config.authorizedKeysPath(), nodeId)));
    words.add(quoted(config.filled(config.markPath(), nodeId)));
    words.add(quoted(config.tenantUser()));
    words.add(quoted(nodeId));
    for (String word : more) {
      words.add(quoted(word));
    }
    return new TargetScript(String.join(" ", words), input);
  }

  private static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }
}
