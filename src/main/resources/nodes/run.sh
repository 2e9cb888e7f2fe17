# The agent that a run starts has no parameters of a run.
if [ "$phase" = visit ] || [ "$phase" = keep ] || [ "$phase" = work ]; then
  kind=$1 allocation=$2 request=$3 limit=$4 patience=$5 bytes=$6 first=$7 second=$8
  # A visit gets the service's time; the other phases get the difference of the machine's clock to it.
  offset=$9
  # The ids that a grant gives the login, and its organization. The length of the agent's access, which follows the
  # keys on the standard input.
  shift 9
  own_id=$1 organization_id=$2 access_bytes=$3
  export BOURSE_ALLOCATION="$allocation"
  dir=${keys%/*} name=${keys##*/} state=${mark%/*} lock=$mark.lock
fi

# Runs this program again in the place of this shell.
become() {
  exec $apart /bin/sh -c 'eval "$1"' bourse "$program" "$1" "$keys" "$mark" "$user" \
    "$BOURSE_NODE" "$gpus" "$model" "$check" "$ids" "$baseline" "$run" "$tenants" "$kind" "$allocation" "$request" \
    "$limit" 0 "$bytes" "$first" "$second" "$offset" "$own_id" "$organization_id" "$access_bytes"
}

# Who is at work, as far as it is written down.
read_lock() {
  pid= since= who= begun= ends= group=
  if [ -f "$lock" ]; then
    { read -r pid since; read -r who begun ends group; } 2>/dev/null <"$lock" || :
  fi
}

# True if the lock file names a process that runs. Older releases take another lock, or none, but write the file.
is_noted_run() {
  read_lock
  [ -n "$pid" ] && [ "$since" = "$boot" ] && kill -s 0 "$pid" 2>/dev/null &&
    [ "$now" -le "$((${ends:-$now} + 10))" ]
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
  # No tenant can open this file and hold the lock. On a full disk without the file, a reclaim locks the folder.
  if { : >>"$mark.run"; } 2>/dev/null; then
    exec 9>>"$mark.run"
  elif [ -d "$state" ]; then
    exec 9<"$state"
  else
    exec 9</
  fi
  until flock -n 9 && ! is_noted_run; do
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
  if [ "$1" -eq 0 ] && [ "$kind" = reclaim ] && [ -f "$mark.cleaned" ]; then
    sed 's/^/bourse-cleaned:/' "$mark.cleaned"
  fi
  echo "bourse-ended:$1"
  if [ "$1" -ne 0 ] && [ -f "$mark.log" ]; then cat "$mark.log" >&2; fi
  rm -f "$mark.outcome" "$mark.log"
  exit "$1"
}

# Only letting somebody in needs room on the disk; nothing here may hinder a reclaim without.
visit() {
  mkdir -p "$state" 2>/dev/null || [ "$kind" = reclaim ] || fail 73 "no directory $state"
  if [ -n "$(find "$state" -maxdepth 0 -perm /077 2>/dev/null)" ]; then
    [ "$kind" = reclaim ] || fail 77 "the folder $state is open to others: chmod 700 $state"
    chmod 700 "$state" || :
  fi
  offset=$(($(date +%s) - offset))
  look_at_clock
  leave=$((now + patience))
  take_machine
  if learn_outcome; then report "$status"; fi
  if [ "$kind" = provision ]; then
    cat >"$mark.input" || fail 73 "the keys cannot be written"
    [ "$(wc -c <"$mark.input")" -eq "$((bytes + access_bytes))" ] || fail 74 "the machine received only a part of the keys"
    head -c "$bytes" "$mark.input" >"$mark.keys" || fail 73 "the keys cannot be written"
    tail -c "$access_bytes" "$mark.input" >"$mark.agent-access.new" || fail 73 "the agent's access cannot be written"
    rm -f "$mark.input"
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
  rm -f "$mark.input" "$mark.keys" "$mark.agent-access.new" "$mark.out" "$lock"
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
  (cd / && exec /bin/sh -c "$1") </dev/null 8<&- 9<&-
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

# Refuses a machine with faults, once for each allocation and again after a restart. Faults that the tenant may
# have caused by then count only once.
accept() {
  accepted=$(cat "$mark.accepted" 2>/dev/null || :)
  if [ "$gpus" = off ] || [ "$accepted" = "$allocation $boot" ]; then return 0; fi
  faults=$({
    hardware_faults accept
    [ "${accepted%% *}" = "$allocation" ] || room_faults
  } | head -n 20)
  if [ -n "$faults" ]; then
    status=81
    if printf '%s\n' "$faults" | grep -q '^failed '; then status=79; fi
    fail "$status" "$(printf '%s\n' "$faults" | cut -d' ' -f2- | paste -sd';' -)"
  fi
  echo "$allocation $boot" >"$mark.accepted"
}

# A gang's node gets its keys with the last call, so a call without keys is late if the keys are there.
provision() {
  if [ "$bytes" -eq 0 ] && [ "$(held)" = "$allocation" ] && [ -s "$keys" ]; then return 0; fi
  read_ids
  # An earlier release leaves these at a reclaim.
  if [ -z "$(held)" ]; then remove_notices; fi
  echo "$allocation" >"$mark.new"
  mv -f "$mark.new" "$mark"
  if [ "$ids" = own ]; then give_ids; fi
  if [ -n "$home" ]; then hand_over_home; fi
  if open_run; then offer_registrations || :; fi
  if [ -n "$first" ]; then
    prepared=0
    carry_out "$first" || prepared=$?
    # Statuses up to 100 belong to curl and apt, and those from 125 on to shells.
    case $prepared in
      0) ;;
      113) fail 83 "prepare ended with 113" ;;
      *) fail 70 "prepare ended with $prepared" ;;
    esac
  fi
  # Again, because the command may have changed the login.
  require_plain_login
  accept
  take_baseline
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
  # -T, because a tenant that is logged in may put a directory, or a link to one, in this place.
  mv -fT ".$name.new" "$name"
  rm -rf -- "${name}2"
  # Only root can read it: the folder and the file are closed to others.
  if [ -s "$mark.agent-access.new" ]; then
    mv -f "$mark.agent-access.new" "$mark.agent-access"
  else
    rm -f "$mark.agent-access"
  fi
  start_agent
}

# Keys go first, so that nobody returns, and once more after the sessions, which may have put
# some back; the mark goes last, so that a run cut short is known to be unfinished. All that
# comes before the wipe does without room on the disk. The operator's commands may start or leave
# something, so the tenant's ids are searched for after them.
reclaim() {
  rm -f "$mark.cleaned"
  stop_agent
  end_notices
  look_at_clock
  cleaning_since=$now
  # The keys are removed even if the ids are refused.
  if ! (read_ids) 2>/dev/null; then remove_keys || :; fi
  read_ids
  if [ -n "$uids" ]; then
    processes_ended=$(processes | wc -l)
    # Removing keys below the tenant's FUSE mount would block.
    kill_as "$uid" "$uid"
    unmount_fuse "$dir"
  fi
  remove_keys || echo "keys could not be removed at once" >&2
  if [ -n "$uids" ]; then
    remove_jobs
    end_processes
  fi
  remove_notices
  if [ -n "$first" ]; then carry_out "$first" || fail 71 "end-sessions ended with $?"; fi
  remove_keys || fail 73 "the keys cannot be removed"
  if [ -n "$second" ]; then carry_out "$second" || fail 72 "wipe ended with $?"; fi
  if [ -n "$uids" ]; then
    clean
    digest=
    if [ "$ids" = own ]; then
      verify_baseline
      digest=$(digest_of "$baseline_file")
    fi
    look_at_clock
    echo "$((now - cleaning_since)) $processes_ended $files_removed $objects_removed $digest" >"$mark.cleaned" || :
  fi
  remember_end
  # Answers and lists of runs that were ended.
  find "$state" -maxdepth 1 -name "${mark##*/}.*.[0-9]*" -mmin +10 -exec rm -f -- '{}' + || :
  rm -f "$mark.accepted" "$mark"
}

work() {
  require_no_other
  "$kind"
}

"$phase" "$@"
