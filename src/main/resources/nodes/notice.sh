# Tells the programs of a machine's tenant that the machine will be taken back, or withdraws that notice. Root writes
# in a directory that only root can write, and leaves everything that the tenant could have prepared to a process
# with the tenant's ids.

# Tenants register their processes here. It is a file system of its own, so that they cannot fill the one of /run.
registrations=$run/notify.d

# The tenant's processes get a signal within these seconds, or not at all.
telling_seconds=5

# Prints the notice that this machine was told last, if it was since the machine started.
tell_notice() {
  read_told
  if [ -n "$told" ] && [ "$told_of" = "$(held)" ]; then echo "bourse-notice:$told $told_state"; fi
}

read_told() {
  told_of='' told_since='' told_sequence='' told='' told_state=''
  if [ -f "$mark.told" ]; then
    read -r told_of told_since told_sequence told told_state <"$mark.told" || :
  fi
  if [ "$told_since" != "$boot" ]; then told=; fi
}

# Has a notice told by a process group of its own, which holds the lock of notices, so that a reclaim can end it.
notify() {
  [ -n "$(held)" ] || fail 65 "holds no allocation"
  exec 8>>"$mark.notice"
  naps=0
  until flock -n 8; do
    [ "$naps" -lt 20 ] || fail 75 "a reclaim or another notice is under way"
    nap
  done
  $apart /bin/sh -c 'eval "$1"' bourse-notice "$program" deliver "$keys" "$mark" "$user" "$BOURSE_NODE" \
    off '' '' "$ids" '' "$run" "$tenants" "$@" &
  group=$!
  exec 8<&-
  wait "$group"
}

# deliver ALLOCATION ID STATE SEQUENCE JSON: ends without a change if the machine has this notice. If the machine has a
# newer one, from its agent or another process, or because the caller's database was set back, it prints the sequence
# of that.
# On a full disk a notice is told as well; the machine forgets that, and the notice may come again.
deliver() {
  echo "$$ $boot" >"$mark.notifier" || :
  [ "$(held)" = "$1" ] || fail 65 "holds allocation $(held)"
  read_told
  if [ -n "$told" ] && [ "$told_of" = "$1" ]; then
    if [ "$told $told_state" = "$2 $3" ]; then return 0; fi
    if [ "$told_sequence" -ge "$4" ]; then
      echo "bourse-newer:$told_sequence"
      return 0
    fi
  fi
  read_ids
  open_run || fail 73 "no directory $run"
  offer_registrations || :
  printf '%s\n' "$5" >"$run/.notice.json.new"
  chmod 644 "$run/.notice.json.new"
  mv -fT "$run/.notice.json.new" "$run/notice.json"
  tell_programs "$3"
  { echo "$1 $boot $4 $2 $3" >"$mark.told.new" && mv -f "$mark.told.new" "$mark.told"; } || :
}

open_run() {
  if [ -L "$run" ] || [ ! -d "$run" ]; then rm -rf -- "$run" && mkdir "$run"; fi
  chmod 755 "$run"
}

# Gives tenants a directory for registrations. Without it, if the machine permits no mounts, programs can only watch
# the file. The directory is root's: a reclaim of an earlier release would count a tenant's as left behind, and a
# tenant could mount a file system on its own.
offer_registrations() {
  if grep -q " $registrations " /proc/self/mounts; then return 0; fi
  mkdir -p "$registrations"
  mount -t tmpfs -o size=64k,nr_inodes=256,mode=1777,nosuid,nodev,noexec bourse-notices "$registrations" ||
    rmdir "$registrations"
}

# Runs as the tenant, so the kernel decides which processes get a signal. Only names are read, because a file
# could be a pipe without a writer. What waits for the home directory runs in the background, because the home
# directory may be a file system that does not answer.
# shellcheck disable=SC2016 # for the tenant's shell
as_tenant='
  cd /
  count=0
  for entry in "$1"/*; do
    name=${entry##*/}
    pid=${name%%.*} signal=USR1
    case $name in *.*) signal=${name#*.} ;; esac
    case $pid in "" | 0* | *[!0-9]* | ???????????*) continue ;; esac
    case $signal in
      USR1 | USR2 | TERM | INT | HUP) kill -s "$signal" "$pid" ;;
      *) continue ;;
    esac
    count=$((count + 1))
    [ "$count" -lt 64 ] || break
  done
  (
    cd "$HOME" && [ -f .bourse/on-notice ] && [ -x .bourse/on-notice ] && [ -O .bourse/on-notice ] &&
      exec setsid timeout -k 10 300 .bourse/on-notice "$2"
  ) &
'

# Sends the signals and starts on-notice, with the tenant's rights. The timeout of root ends a shell that the
# tenant stops. It keeps its process group, because a reclaim kills the group.
tell_programs() {
  [ -n "$uid" ] && has setpriv || return 0
  timeout --foreground -s KILL "$telling_seconds" setpriv --reuid "$uid" --regid "$(id -g "$user")" --init-groups \
    --no-new-privs env -i HOME="$home" USER="$user" LOGNAME="$user" SHELL=/bin/sh \
    PATH=/usr/local/bin:/usr/bin:/bin BOURSE_NOTICE="$run/notice.json" \
    /bin/sh -c "$as_tenant" on-notice "$registrations" "$1" </dev/null >/dev/null 2>&1 8<&- || :
}

# Keeps notices out until the reclaim ends. It kills one that is under way, because that could start a program of
# the tenant after the search for processes.
end_notices() {
  { : >>"$mark.notice"; } 2>/dev/null || [ -f "$mark.notice" ] || return 0
  exec 8>>"$mark.notice"
  naps=0
  until flock -n 8; do
    [ "$naps" -lt 60 ] || fail 71 "a notice that does not end"
    read -r group since <"$mark.notifier" || :
    if [ "${since:-}" = "$boot" ] && grep -qs bourse-notice "/proc/$group/cmdline"; then
      kill -s KILL -- "-$group" 2>/dev/null || :
    fi
    nap
  done
}

# Removes what the tenant's programs were told. It may run when the tenant's processes have ended.
remove_notices() {
  while grep -q " $registrations " /proc/self/mounts; do
    umount -l "$registrations" || fail 78 "left behind: mount $registrations"
  done
  rm -rf --one-file-system -- "$run"
  rm -f "$mark.told" "$mark.notifier"
}
