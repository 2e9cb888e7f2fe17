# Gives the tenant's login its user and group ids, ends and removes everything that has one of them, and
# verifies that nothing is left. No other tenant of the machine ever has the same ids, so every process and
# file with one of them is the tenant's. Only tenants of the same organization share a group id, one at a time.

# Below it are the machine's own accounts; from it on, the service assigns ids to logins and organizations.
first_own_id=65536

# Blocks of 65,536 subordinate ids, above those (0x10000000 to 0x6FFFFFFF, where systemd has containers).
block_size=65536 first_block=4096 last_block=28671

# The group of the tenant's organization. The file has its id while the group exists, because another group of that
# name is not the service's, and its files are not the tenant's.
organization=bourse-org
group_file=$mark.group

# File systems of this machine. A walk into a shared one would take hours, and find files of others.
local_types='ext2 ext3 ext4 xfs btrfs zfs f2fs jfs bcachefs tmpfs ramfs devtmpfs overlay mqueue hugetlbfs'

# Files that start programs of the login without a session.
job_files="/var/spool/cron/crontabs/$user /var/spool/cron/$user /var/spool/cron/tabs/$user \
/var/lib/systemd/linger/$user"

# Processes that do not end within this many seconds keep the machine from the next tenant.
ending_seconds=30

subordinate() {
  awk -F: -v user="$user" -v uid="$uid" '($1 == user || $1 == uid) && $3 > 0 { print $2, $2 + $3 - 1 }' \
    "$1" 2>/dev/null | paste -sd' ' -
}

# Sets $uids and $gids to the first and the last id of each range, and $home to the login's home. The ranges
# are empty if the login does not exist.
read_ids() {
  uids='' gids='' home=''
  uid=$(id -u "$user" 2>/dev/null) || return 0
  [ "$uid" -gt 0 ] || fail 77 "the login $user is root"
  uids="$uid $uid $(subordinate /etc/subuid)"
  gids=$(subordinate /etc/subgid)
  for first_id in $uids $gids; do
    [ "$first_id" -gt 0 ] || fail 77 "the ids of $user include root's: correct /etc/subuid and /etc/subgid"
  done
  if [ "$uid" -ge "$first_own_id" ] && [ "$(id -g "$user")" = "$uid" ]; then gids="$uid $uid $gids"; fi
  if [ -s "$group_file" ]; then gids="$gids $(cat "$group_file") $(cat "$group_file")"; fi
  home=$(getent passwd "$user" | cut -d: -f6)
  case $home in
    /?*/?*) ;;
    *) fail 77 "the home of $user is '$home': use a directory such as /home/$user" ;;
  esac
}

within='
  function within(id, ranges,   part, count, i) {
    count = split(ranges, part, " ")
    for (i = 1; i < count; i += 2) if (id >= part[i] + 0 && id <= part[i + 1] + 0) return 1
    return 0
  }
'

# Prints the status files of all processes. A process of a fork bomb is gone before its file is read, so the
# list also has the process ids that the kernel assigns next, three times, because reading a file is faster
# than a fork.
status_files() {
  last=0
  if [ -r /proc/loadavg ]; then read -r rest rest rest rest last </proc/loadavg; fi
  awk -v last="$last" -v highest="$(cat /proc/sys/kernel/pid_max 2>/dev/null || echo 32768)" '
    BEGIN {
      for (turn = 0; turn < 3; turn++) for (i = last; i < last + 600; i++) {
        print "/proc/" (i <= highest ? i : i - highest + 299) "/status"
      }
    }
  '
  printf '%s\n' /proc/[0-9]*/status
}

# Prints the process id, name and user ids of each process with a real, effective, saved or file system id of
# the tenant. Zombies do not count.
processes() {
  status_files | xargs cat 2>/dev/null |
    awk -v uids="$uids" -v gids="$gids" "$within"'
      function tell() {
        if (ours && state != "X" && !(state == "Z" && threads < 2) && !told[pid]++) print pid, name, owners
      }
      /^Name:/ { tell(); name = $2 == "" ? "-" : $2; ours = threads = 0 }
      /^State:/ { state = $2 }
      /^Pid:/ { pid = $2 }
      /^Uid:/ { owners = $2 " " $3 " " $4 }
      /^[UG]id:/ { for (i = 2; i <= 5; i++) if (within($i, $1 == "Uid:" ? uids : gids)) ours = 1 }
      /^Threads:/ { threads = $2 }
      END { tell() }
    '
}

# kill_as FIRST LAST…: kills, with the rights of each id, every process of that id and every process in a user
# namespace that the id created. The kernel kills them in one system call, so no fork escapes. Perl takes the
# id as its effective id only, so the tenant cannot signal it. Without Perl, setpriv takes the id, the tenant
# may kill or stop that process first, and ranges are skipped. No login has the id 65535, because it is -1 in
# 16 bits.
kill_as() {
  if has perl; then
    perl -e '
      while (my ($first, $last) = splice @ARGV, 0, 2) {
        for my $id ($first .. $last) {
          ($<, $>) = (65535, $id);
          die "no rights of $id" unless $< == 65535 && $> == $id;
          kill "KILL", -1;
          ($<, $>) = (0, 0);
        }
      }
    ' "$@" </dev/null >/dev/null 2>&1 9<&- && return 0
  fi
  while [ $# -ge 2 ]; do
    if [ "$1" = "$2" ]; then
      timeout -s KILL 5 setpriv --reuid "$1" --clear-groups /bin/sh -c 'kill -s KILL -- -1' \
        >/dev/null 2>&1 </dev/null 9<&- || :
    fi
    shift 2
  done
}

# Removes set-uid files, through which a program changes to another id. The program may still run, so find
# removes each file by its name within its directory, and follows no path.
disarm() {
  find_ours "-type f -perm /6000" -execdir rm -f -- '{}' +
}

# Kills until a scan finds no process, because a program may change its ids between a scan and the kill.
end_processes() {
  look_at_clock
  latest=$((now + ending_seconds)) naps=0
  kill_as "$uid" "$uid"
  while left=$(processes) && [ -n "$left" ]; do
    # shellcheck disable=SC2046 # words: the first and the last id of each range
    kill_as $(printf '%s\n' "$left" | awk -v uids="$uids" "$within"'
      { for (i = 3; i <= NF; i++) if (within($i, uids) && !seen[$i]++ && count++ < 64) print $i, $i }
    ')
    printf '%s\n' "$left" | awk '{ print $1 }' | xargs kill -s KILL 2>/dev/null || :
    if [ "$naps" -ge 3 ]; then
      disarm
      # shellcheck disable=SC2086 # ranges
      kill_as $uids
    fi
    look_at_clock
    [ "$now" -lt "$latest" ] ||
      fail 71 "processes that do not end: $(printf '%s\n' "$left" | head -n 20 | paste -sd';' -)"
    nap
  done
}

# Prints the tenant's FUSE mounts, the newest first, with the kernel's escapes in their paths. A FUSE mount hides
# the files below it, and blocks processes that read it.
fuse_mounts() {
  awk -v uids="$uids" "$within"'
    $3 ~ /^fuse/ && match($4, /user_id=[0-9]+/) && within(substr($4, RSTART + 8, RLENGTH - 8), uids) {
      points = $2 "\n" points
    }
    END { printf "%s", points }
  ' /proc/self/mounts
}

# unmount_fuse [PATH]: unmounts the tenant's FUSE mounts, or only the one at that path. While the tenant's
# programs run, it is safe only for a path whose parent directories belong to others.
unmount_fuse() {
  only=${1:-}
  fuse_mounts | sed 's/\\\([0-7][0-7][0-7]\)/\\0\1/g' | while read -r point; do
    # The dot keeps line breaks at the end of a path, which the shell would drop.
    point=$(printf '%b.' "$point")
    point=${point%.}
    if [ -z "$only" ] || [ "$only" = "$point" ]; then umount -l -- "$point" || :; fi
  done
  if [ -z "$only" ] && grep -q " /run/user/$uid " /proc/self/mounts; then umount -l "/run/user/$uid" || :; fi
}

# Prints the kind, as ipcrm names it, and the id of each System V object of the tenant.
system_v() {
  for kind in shm sem msg; do
    awk -v kind="$kind" -v uids="$uids" -v gids="$gids" "$within"'
      NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
      within($column["uid"], uids) || within($column["cuid"], uids) ||
      within($column["gid"], gids) || within($column["cgid"], gids) { print kind, $2 }
    ' "/proc/sysvipc/$kind" 2>/dev/null || :
  done
}

# Prints the tenant's listening sockets: a process of another user may have received one.
listeners() {
  awk -v uids="$uids" "$within"'
    FNR > 1 && ($4 == "0A" || FILENAME ~ /udp/ && $4 == "07") && within($8, uids) { print FILENAME, $2 }
  ' /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6 2>/dev/null || :
}

# find_ours TEST ACTION…: runs find's action on each file of the tenant that passes the test, on local file
# systems. It skips the home directory itself. find also fails when another process removes a file meanwhile,
# so its status is ignored and the caller searches again.
find_ours() {
  test=$1
  shift
  count=$#
  set -- "$@" ! '(' -false
  for type in $local_types; do set -- "$@" -o -fstype "$type"; done
  set -- "$@" ')' -prune -o '(' -false
  of=-uid
  for ranges in "$uids" "$gids"; do
    from=
    for id in $ranges; do
      if [ -n "$from" ]; then
        set -- "$@" -o "$of" "+$((from - 1))" "$of" "-$((id + 1))"
        from=
      else
        from=$id
      fi
    done
    of=-gid
  done
  # shellcheck disable=SC2086 # words of find
  set -- "$@" ')' ! -path "$home" $test
  # find wants the action last, and it came first.
  while [ "$count" -gt 0 ]; do
    action=$1
    shift
    set -- "$@" "$action"
    count=$((count - 1))
  done
  find / "$@" 2>/dev/null || :
}

is_local() {
  place=$1
  set -- -false
  for type in $local_types; do set -- "$@" -o -fstype "$type"; done
  [ -n "$(find "$place" -maxdepth 0 '(' "$@" ')' 2>/dev/null)" ]
}

# Empties the home directory for the next tenant.
empty_home() {
  if [ -d "$home" ] && [ ! -L "$home" ] && is_local "$home"; then
    chown root:root "$home"
    # chmod clears the set-id bits of a directory only if the mode has five digits.
    chmod 00700 "$home"
    # A shared file system that is mounted in the home directory keeps its files. rm alone would take the mount
    # point, because it compares with the file system of its argument.
    set -- -false
    for type in $local_types; do set -- "$@" -o -fstype "$type"; done
    find "$home" -mindepth 1 -maxdepth 1 '(' "$@" ')' -exec rm -rf --one-file-system -- '{}' + || :
    # The next tenant's files would inherit an access list; a new directory has none.
    case $(ls -ld "$home") in
      ??????????+*)
        if rmdir "$home"; then
          mkdir -m 700 "$home"
          if has restorecon; then restorecon "$home" || :; fi
        elif has setfacl; then
          setfacl -b "$home" || :
        fi
        ;;
    esac
    # The previous release does not change the owner at a grant.
    chown "$user:" "$home"
  fi
}

remove_jobs() {
  # shellcheck disable=SC2086 # each of them
  rm -f -- $job_files
}

# POSIX message queues exist even if their file system is not mounted.
show_queues() {
  grep -q ' mqueue ' /proc/self/mounts || { mkdir -p /dev/mqueue && mount -t mqueue mqueue /dev/mqueue; } 2>/dev/null || :
}

# Ends the tenant's processes, removes its objects and files, and fails with a list if something is left.
clean() {
  remove_jobs
  end_processes
  unmount_fuse
  objects_removed=$(system_v | wc -l)
  system_v | while read -r kind id; do ipcrm "$kind" "$id" || :; done
  empty_home
  show_queues
  files_removed=$(find_ours -prune -print0 -exec rm -rf --one-file-system -- '{}' + | tr -dc '\000' | wc -c)
  # Without set-uid files, processes cannot change their ids any more.
  end_processes
  left=$({
    for turn in 1 2 3; do processes; done | sort -u | sed 's/^/process /'
    system_v | sed 's/^/System V /'
    fuse_mounts | sed 's/^/mount /'
    listeners | sed 's/^/socket /'
    # Each name takes one line, because tr replaces control characters.
    find_ours -prune -print0 | tr '\000\001-\037\177' '\n[?*]' | sed 's/^/file /'
  } | head -n 20)
  [ -z "$left" ] || fail 78 "left behind: $(printf '%s\n' "$left" | paste -sd';' -)"
  leave_organization
}

# Removes the group, last, because a search that is repeated has to know its id.
leave_organization() {
  [ -s "$group_file" ] || return 0
  if grep -q "^$organization:[^:]*:$(cat "$group_file"):" /etc/group; then
    groupdel "$organization" || fail 78 "left behind: group $organization"
  fi
  rm -f "$group_file"
}

# Through each of these sockets, devices and files a login that may write to it becomes root.
ways_to_root='/run/docker.sock /run/podman/podman.sock /run/containerd/containerd.sock /run/k3s/containerd/containerd.sock
/run/crio/crio.sock /run/buildkit/buildkitd.sock /run/incus/unix.socket /var/lib/incus/unix.socket
/var/lib/lxd/unix.socket /var/snap/lxd/common/lxd/unix.socket /dev/mem /dev/kmem /dev/sd[a-z] /dev/vd[a-z]
/dev/xvd[a-z] /dev/nvme[0-9]n[0-9] /dev/dm-[0-9] /etc /etc/passwd /etc/shadow /etc/sudoers /etc/sudoers.d /etc/pam.d
/etc/cron.d /etc/crontab /etc/systemd/system /etc/ld.so.preload /etc/ssh /root /usr/bin /usr/sbin /usr/local/bin
/usr/local/sbin'

# Prints the first of these that the login may write to, with its rights: access lists and closed folders count.
way_to_root() {
  # shellcheck disable=SC2016,SC2086 # for the login's shell; each of them
  setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups --inh-caps=-all -- /bin/sh -c '
    for way; do if [ -w "$way" ]; then echo "$way" && exit; fi; done
  ' sh $ways_to_root 2>/dev/null </dev/null 9<&- || :
}

# Refuses a login that could become root, because the search by ids misses files and processes of root. In a pool
# of root tenants it may, and the machine gets a new image after each.
require_plain_login() {
  if [ "$tenants" = root ] || ! id "$user" >/dev/null 2>&1; then return 0; fi
  for group in $(id -Gn "$user"); do
    case $group in
      root | sudo | wheel | admin | adm | staff | disk | kmem | shadow | docker | podman | lxd | incus | incus-admin | \
        libvirt | kvm)
        fail 77 "the login $user could become root: it is in the group $group"
        ;;
    esac
  done
  if has sudo && LC_ALL=C sudo -n -l -U "$user" 2>/dev/null | grep -q 'may run the following'; then
    fail 77 "the login $user could become root: sudo lets it run commands"
  fi
  if grep -Eqs "^[^#]*permit[^#]* $user( |\$)" /etc/doas.conf; then
    fail 77 "the login $user could become root: doas lets it run commands"
  fi
  if grep -Eqs "^[^#]*[[:space:]]$user([[:space:]]|\$)" /etc/security/capability.conf; then
    fail 77 "the login $user could become root: /etc/security/capability.conf gives it capabilities"
  fi
  way=
  if has setpriv; then way=$(way_to_root); fi
  if [ -n "$way" ]; then fail 77 "the login $user could become root: it may write to $way"; fi
}

# Denies cron and at, because jobs would start during the cleaning and after it.
deny_jobs() {
  for service in cron at; do
    if grep -qxF "$user" "/etc/$service.allow" 2>/dev/null; then
      fail 77 "remove $user from /etc/$service.allow: its jobs would outlive the grant"
    fi
    # crontab reads the file with its user's rights, so everyone may read it. Its last line may lack a newline.
    [ -e "/etc/$service.deny" ] || (umask 022 && : >"/etc/$service.deny")
    grep -qxF "$user" "/etc/$service.deny" || printf '\n%s\n' "$user" >>"/etc/$service.deny"
  done
}

set_ids() {
  if grep -q "^$user:" /etc/group; then
    groupmod -g "$own_id" "$user" || return 1
  else
    groupadd -g "$own_id" "$user" || return 1
  fi
  usermod -u "$own_id" -g "$own_id" "$user" || return 1
  for map in uid gid; do
    [ -f "/etc/sub$map" ] || continue
    sed -n "s/^$user://p" "/etc/sub$map" | while IFS=: read -r from count; do
      usermod "--del-sub${map}s" "$from-$((from + count - 1))" "$user" || return 1
    done
    usermod "--add-sub${map}s" "$lowest-$highest" "$user" || return 1
  done
  [ "$(id -u "$user")" = "$own_id" ] || return 1
  # An entry may name the login by its user id, and give it ids of others.
  uid=$own_id
  for map in uid gid; do
    [ ! -f "/etc/sub$map" ] || [ "$(subordinate "/etc/sub$map")" = "$lowest $highest" ] || return 1
  done
}

# Makes the login a member of its organization's group. A reclaim removes all files of that group, so its id must
# not be another's.
join_organization() {
  holder=$(getent group "$organization_id" | cut -d: -f1)
  [ "${holder:-$organization}" = "$organization" ] ||
    fail 77 "the group id $organization_id is that of $holder: set nodes.ssh.id-range to ids that the machines do not use"
  gid=$(getent group "$organization" | cut -d: -f3)
  [ "${gid:-$organization_id}" = "$organization_id" ] || fail 77 "the group $organization has the id $gid: remove it"
  if awk -F: -v gid="$organization_id" '$4 == gid { found = 1 } END { exit !found }' /etc/passwd; then
    fail 77 "the group id $organization_id is that of a login: set nodes.ssh.id-range to ids that the machines do not use"
  fi
  echo "$organization_id" >"$group_file.new"
  mv -f "$group_file.new" "$group_file"
  [ -n "$gid" ] || groupadd -g "$organization_id" "$organization" || return 1
  usermod -a -G "$organization" "$user" || return 1
  case " $(id -G "$user") " in
    *" $organization_id "*) ;;
    *) return 1 ;;
  esac
}

# Refuses a login that cannot be given ids of its own, and sets $block, $lowest and $highest to its next block of
# subordinate ids.
require_usable_login() {
  [ -n "$uid" ] && grep -q "^$user:" /etc/passwd ||
    fail 77 "the login $user is not in /etc/passwd, so it cannot be given ids of its own"
  require_plain_login
  [ ! -L "$home" ] || fail 77 "$home is a symbolic link: make it a directory"
  if [ ! -s "$group_file" ] && getent group "$organization" >/dev/null; then
    fail 77 "the group $organization exists: remove it, because the service makes a group of that name for each grant"
  fi
  block=$(cat "$mark.block" 2>/dev/null || :)
  # An earlier release counted from below.
  if [ "${block:-0}" -lt "$first_block" ]; then block=$((first_block - 1)); fi
  for id in $uids; do
    if [ $((id / block_size)) -gt "$block" ]; then block=$((id / block_size)); fi
  done
  block=$((block + 1))
  [ "$block" -le "$last_block" ] || fail 77 "all blocks of ids are used up: reinstall the machine"
  lowest=$((block * block_size)) highest=$((block * block_size + block_size - 1))
  awk -v low="$first_own_id" -v high="$highest" '
    $1 <= low && high < $1 + $3 { found = 1 } END { exit !found }
  ' /proc/self/uid_map || fail 77 "this machine has no user ids up to $highest"
}

# Prints why a tenant may not get the login, if so.
login_faults() {
  why=$( (read_ids && { [ "$tenants" = root ] || require_usable_login; }) 2>&1 >/dev/null) || printf "failed %s\n" "$why"
}

# Gives the login its ids, once for each allocation, because the tenant may be logged in when the call is
# repeated. On a machine without a block yet, it first cleans up after tenants with the old ids.
give_ids() {
  if [ "$(cat "$mark.ids" 2>/dev/null)" = "$allocation $uid" ]; then return 0; fi
  # After a tenant with root rights the machine gets a new image, so its login may keep the ids that it has.
  if [ "$tenants" = root ] && ! (require_usable_login) 2>/dev/null; then return 0; fi
  [ -n "$own_id" ] || fail 77 "the service assigned no ids"
  require_usable_login
  deny_jobs
  [ -f "$mark.ids" ] || clean
  echo "$block" >"$mark.block.new"
  mv -f "$mark.block.new" "$mark.block"
  set_ids || fail 77 "the ids of $user cannot be changed"
  join_organization || fail 77 "the login $user cannot be made a member of a group"
  echo "$allocation $uid" >"$mark.ids.new"
  mv -f "$mark.ids.new" "$mark.ids"
}

hand_over_home() {
  [ ! -L "$home" ] || fail 77 "$home is a symbolic link: make it a directory"
  mkdir -p "$home"
  if is_local "$home"; then
    chown "$user:" "$home"
    chmod 00700 "$home"
  fi
}
