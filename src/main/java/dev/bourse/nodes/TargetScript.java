package dev.bourse.nodes;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * What runs on a machine for one call: a fixed POSIX shell text, values as its positional
 * parameters, and data on its standard input.
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
record TargetScript(String command, String input, int patienceSeconds) {
  /** What precedes the allocation in the answer of {@link #held}, for a login may print too. */
  static final String MARK = "bourse-mark:";

  private static final int HOLDS_ANOTHER = 65;
  private static final int PREPARE_FAILED = 70;
  private static final int END_SESSIONS_FAILED = 71;
  private static final int WIPE_FAILED = 72;
  private static final int KEYS_CUT_SHORT = 74;
  private static final int AT_WORK = 75;
  private static final int OUT_OF_TIME = 76;

  private static final String COMMON =
      """
      set -eu
      umask 077
      program=$1 phase=$2 keys=$3 mark=$4 user=$5
      export BOURSE_NODE="$6"
      fail() { echo "$2" >&2; exit "$1"; }

      held() {
        if [ -f "$mark" ]; then cat "$mark"; fi
      }
      """;

  /**
   * The program runs three times for one call, each time as its phase says. {@code visit} is what a
   * connection starts; {@code keep} watches over the work, in a session of its own; {@code work}
   * does it, in another one, which is ended as a whole when its time is up.
   *
   * <p>Who holds the kernel's lock on the mark's directory is at work on the machine: that needs no
   * free byte, and goes with the last process of the run. The file beside the mark says who it is;
   * a run of an older release left its first line alone there, and held no such lock.
   */
  private static final String RUN =
      """
      kind=$7 allocation=$8 request=$9
      shift 9
      limit=$1 patience=$2 bytes=$3 first=$4 second=$5
      export BOURSE_ALLOCATION="$allocation"
      dir=${keys%/*} name=${keys##*/} state=${mark%/*} lock=$mark.lock
      boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || :)
      has() { command -v "$1" >/dev/null 2>&1; }
      # Without the one a run is not ended as a whole; without the other two that begin in the same
      # moment may both think they are alone.
      apart=setsid
      has setsid || apart=
      has flock || flock() { :; }

      # Seconds of a clock that nobody sets.
      look_at_clock() {
        now=
        if [ -r /proc/uptime ]; then read -r now rest </proc/uptime; fi
        now=${now%%.*}
        now=${now:-$(date +%s)}
      }

      nap() {
        naps=$((naps + 1))
        if [ "$naps" -gt 20 ]; then sleep 1; else sleep 0.1 2>/dev/null || sleep 1; fi
      }

      # Runs this program again in the place of this shell.
      become() {
        exec $apart /bin/sh -c 'eval "$1"' bourse "$program" "$1" "$keys" "$mark" "$user" \\
          "$BOURSE_NODE" "$kind" "$allocation" "$request" "$limit" 0 "$bytes" "$first" "$second"
      }

      # Who is at work, as far as it is written down.
      read_lock() {
        pid= since= who= begun= ends= group=
        if [ -f "$lock" ]; then
          { read -r pid since; read -r who begun ends group; } 2>/dev/null <"$lock" || :
        fi
      }

      is_older_run() {
        read_lock
        if [ -n "$who" ] && has flock; then return 1; fi
        [ -n "$pid" ] && [ "$since" = "$boot" ] && kill -s 0 "$pid" 2>/dev/null
      }

      # Work that is there well after its time lost who kept it.
      end_overdue() {
        read_lock
        if [ -n "$group" ] && [ "$since" = "$boot" ] && [ "$now" -gt "$((ends + 10))" ]; then
          kill -s KILL -- "-$group" 2>/dev/null || :
        fi
      }

      # Waits until nobody is at work, but no longer than the visit may last.
      take_machine() {
        naps=0
        if [ -d "$state" ]; then exec 9<"$state"; else exec 9</; fi
        until flock -n 9 && ! is_older_run; do
          look_at_clock
          end_overdue
          if [ "$now" -ge "$leave" ]; then
            fail 75 "at work for $((now - ${begun:-now})) s: ${who:-a run} as process ${pid:-unknown}"
          fi
          nap
        done
      }

      # How the last run ended, if it was for this very request and nobody has heard of it yet.
      learn_outcome() {
        what= since= status=
        if [ -f "$mark.outcome" ]; then
          read -r what since status <"$mark.outcome" || :
          rm -f "$mark.outcome"
        fi
        [ "$what" = "$request" ] && [ "$since" = "$boot" ] && [ -n "$status" ] || return 1
        case $kind$status in
          provision0) [ "$(held)" = "$allocation" ] ;;
          reclaim0) [ -z "$(held)" ] ;;
        esac
      }

      # Nobody has learned anything when nobody is there any more: the first line ends this process.
      report() {
        echo "bourse-ended:$1"
        if [ "$1" -ne 0 ] && [ -f "$mark.log" ]; then cat "$mark.log" >&2; fi
        rm -f "$mark.outcome" "$mark.log"
        exit "$1"
      }

      # Only letting somebody in needs room on the disk; nothing here may hinder a reclaim without.
      visit() {
        mkdir -p "$state" 2>/dev/null || [ "$kind" = reclaim ] || fail 73 "no directory $state"
        look_at_clock
        leave=$((now + patience))
        take_machine
        if learn_outcome; then report "$status"; fi
        if [ "$kind" = provision ]; then
          cat >"$mark.keys" || fail 73 "the keys cannot be written"
          [ "$(wc -c <"$mark.keys")" -eq "$bytes" ] || fail 74 "the keys arrived cut short"
        fi
        rm -f "$mark.log"
        become keep >/dev/null 2>&1 </dev/null &
        keeper=$!
        exec 9<&-
        take_machine
        status=0
        wait "$keeper" || status=$?
        report "$status"
      }

      # The beginning of what the commands print, and room for no more.
      keep_log() {
        exec 9<&-
        { head -c 16384 >"$mark.log" || :; cat >/dev/null; } <"$mark.out"
      }

      keep() {
        look_at_clock
        begun=$now ends=$((now + limit))
        rm -f "$mark.out"
        printed=/dev/null logger=
        if mkfifo "$mark.out"; then
          printed=$mark.out
          keep_log &
          logger=$!
        fi
        become work >"$printed" 2>&1 &
        worker=$!
        { echo "$$ $boot" && echo "$request $begun $ends $worker"; } >"$lock" || :
        naps=0 status=0
        while kill -s 0 "$worker" && [ "$now" -lt "$ends" ]; do
          nap
          look_at_clock
        done
        if kill -s 0 "$worker"; then
          end_group "$worker"
          status=76
        fi
        ended=0
        wait "$worker" || ended=$?
        if [ "$status" -eq 0 ]; then status=$ended; fi
        # What a command left running may go on printing.
        naps=0
        while [ -n "$logger" ] && kill -s 0 "$logger" && [ "$naps" -lt 10 ]; do nap; done
        echo "$request $boot $status" >"$mark.outcome" || rm -f "$mark.outcome"
        rm -f "$mark.keys" "$mark.out" "$lock"
        exit "$status"
      }

      # The first process of a group may be gone before the others; what does not heed is killed.
      end_group() {
        kill -s TERM -- "-$1" || kill -s TERM "$1" || :
        naps=0
        while kill -s 0 -- "-$1" && [ "$naps" -lt 24 ]; do nap; done
        kill -s KILL -- "-$1" || kill -s KILL "$1" || :
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
          rm -rf -- "$name" "${name}2" ".$name.new" || return 1
          cd /
        fi
      }

      # What a command leaves running is not at work on the machine any more.
      carry_out() {
        (cd / && exec /bin/sh -c "$1") </dev/null 9<&-
      }

      # A call may come late, when the machine is another's by now.
      require_no_other() {
        holder=$(held)
        if [ -n "$holder" ] && [ "$holder" != "$allocation" ]; then
          fail 65 "holds allocation $holder"
        fi
        if [ "$kind" = provision ] && grep -qxF "$allocation" "$mark.ended" 2>/dev/null; then
          fail 65 "was taken back from allocation $allocation, which never comes back"
        fi
      }

      # So that a call which comes late lets nobody in again. The oldest of a hundred are forgotten:
      # no call is under way for so long. Without room on the disk it is not remembered.
      remember_end() {
        {
          tail -n 99 "$mark.ended" 2>/dev/null || :
          echo "$allocation"
        } >"$mark.ended.new" && mv -f "$mark.ended.new" "$mark.ended" || rm -f "$mark.ended.new"
      }

      provision() {
        echo "$allocation" >"$mark.new"
        mv -f "$mark.new" "$mark"
        if [ -n "$first" ]; then
          carry_out "$first" || fail 70 "prepare ended with $?"
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
      }

      # Keys go first, so that nobody returns, and once more after the sessions, which may have put
      # some back; the mark goes last, so that a run cut short is known to be unfinished. All that
      # comes before the wipe does without room on the disk.
      reclaim() {
        remove_keys || echo "keys could not be removed at once" >&2
        carry_out "$first" || fail 71 "end-sessions ended with $?"
        remove_keys || fail 73 "the keys cannot be removed"
        carry_out "$second" || fail 72 "wipe ended with $?"
        remember_end
        rm -f "$mark"
      }

      work() {
        require_no_other
        "$kind"
      }

      "$phase"
      """;

  private static final String HELD =
      """
      echo "bourse-mark:$(held)"
      """;

  /** Installs exactly these keys on a machine that is clean or holds this very allocation. */
  static TargetScript provision(
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
  static TargetScript reclaim(
      SshConfig config, String nodeId, String allocationId, int patienceSeconds) {
    return run(
        config,
        nodeId,
        "reclaim",
        allocationId,
        patienceSeconds,
        "",
        config.filled(config.endSessionsCommand(), nodeId),
        config.filled(config.wipeCommand(), nodeId));
  }

  /** Prints {@link #MARK} and the allocation, if any, on a line. */
  static TargetScript held(SshConfig config, String nodeId) {
    return script(config, nodeId, HELD, "", 0);
  }

  private static TargetScript run(
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
        first,
        second);
  }

  /** Tells a call from one that would leave the machine otherwise. */
  private static String digest(List<String> parts) {
    try {
      byte[] whole = String.join("\0", parts).getBytes(StandardCharsets.UTF_8);
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(whole))
          .substring(0, 16);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Whether a status means that a run, this call's or another's, is under way on the machine. */
  static boolean isAtWork(int status) {
    return status == AT_WORK;
  }

  /** What an exit status other than 0 means. */
  static NodeFailure failure(SshConfig config, String call, int status) {
    return switch (status) {
      case HOLDS_ANOTHER ->
          NodeFailure.heldByAnother(
              call + ": the machine holds another allocation, or was taken back from this one");
      case PREPARE_FAILED -> NodeFailure.lasting(call + ": the prepare command failed");
      case END_SESSIONS_FAILED -> NodeFailure.lasting(call + ": the end-sessions command failed");
      case WIPE_FAILED -> NodeFailure.lasting(call + ": the wipe command failed");
      case KEYS_CUT_SHORT -> NodeFailure.passing(call + ": the keys arrived cut short");
      case OUT_OF_TIME ->
          NodeFailure.lasting(
              call
                  + ": the commands did not end within "
                  + config.commandTimeoutMillis()
                  + " ms, and were ended");
      default -> NodeFailure.lasting(call + ": the commands ended with status " + status);
    };
  }

  private static TargetScript script(
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
    for (String word : more) {
      words.add(quoted(word));
    }
    return new TargetScript(String.join(" ", words), input, patienceSeconds);
  }

  private static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }
}
