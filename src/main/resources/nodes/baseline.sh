# Compares what root owns on the machine with the list that was accepted, so that a tenant who became root, and
# left a way back, is noticed. The list is in a file that only root can read; the service keeps its digest.

baseline_file=$mark.baseline

# Configuration by which a login, or a program of root's, starts or gets rights. Files of packages in /usr and
# /lib are not in it, because an upgrade of packages would change them on every machine.
root_files='/etc/ssh /etc/sudoers /etc/sudoers.d /etc/pam.d /etc/security /etc/crontab /etc/cron.d /etc/cron.hourly
/etc/cron.daily /etc/cron.weekly /etc/cron.monthly /var/spool/cron /var/spool/at /etc/ld.so.preload /etc/ld.so.conf
/etc/ld.so.conf.d /etc/systemd/system /etc/systemd/user /usr/local/lib/systemd /usr/local/bin /usr/local/sbin
/etc/init.d /etc/rc.local /etc/rc.d /etc/udev/rules.d /etc/modules /etc/modules-load.d /etc/modprobe.d
/etc/environment /etc/environment.d /etc/profile /etc/profile.d /etc/bash.bashrc /etc/bashrc /etc/zsh /etc/shells
/etc/hosts.equiv /etc/update-motd.d /etc/polkit-1 /etc/apt/apt.conf.d /etc/logrotate.d /root/.bashrc /root/.profile
/root/.bash_profile /root/.bash_login /root/.zshrc'

# What the list covers. A list that an older release accepted lacks this line, and is compared without the kinds of
# lines that came later, so that an upgrade quarantines no machine.
coverage='covers capabilities at'

# Prints a line for each thing: its kind, its name and its state. A name may have any characters, so names are
# separated by NUL until control characters are replaced. Without the tenant's login and files, whose ids change.
list_root() {
  echo "$coverage"
  (read_ids) 2>/dev/null && read_ids
  awk -F: -v user="$user" '
    $1 != user && ($3 == 0 || $2 != "x" || $7 !~ /(nologin|false|sync|shutdown|halt)$/) {
      print "login", $1, $2 == "x" ? "" : "password " $2, $3, $4, $6, $7
    }
  ' /etc/passwd
  awk -F: -v user="$user" '$1 != user && $2 !~ /^[*!]+$/ { print $1 ":" $2 }' /etc/shadow /etc/gshadow 2>/dev/null |
    while IFS=: read -r login password; do
      digest=none
      if [ -n "$password" ]; then digest=$(printf %s "$password" | sha256sum | cut -c 1-16); fi
      printf 'password %s %s\n' "$login" "$digest"
    done
  awk -F: -v user="$user" -v organization="$organization" '
    $1 != user && $1 != organization && $4 != "" { print "group", $1, $3, $4 }
  ' /etc/group
  awk -F: -v user="$user" '$1 != user { print $6 }' /etc/passwd | sort -u | while read -r place; do
    for file in authorized_keys authorized_keys2 rc environment; do
      if [ -e "$place/.ssh/$file" ]; then printf '%s\0' "$place/.ssh/$file"; fi
    done
  done | digests keys
  # shellcheck disable=SC2086 # each of them
  find $root_files ! -path "/var/spool/cron/*/$user" ! -path '/var/spool/cron/atspool/*' \
    ! -path '/var/spool/at/spool/*' ! -name .SEQ \
    '(' -type f -o -type l ')' -print0 2>/dev/null | digests file
  set --
  for type in $local_types; do set -- "$@" -o -fstype "$type"; done
  # One walk: names of programs go to the standard output, and set-id files to another descriptor.
  {
    set_id=$({
      find / '(' ! '(' -false "$@" ')' -o -path /proc -o -path /var/lib/docker -o -path /var/lib/containerd \
        -o -path /var/lib/containers ')' -prune -o -type f '(' -perm /6000 \
        -fprintf /proc/self/fd/3 '%U %m %U:%G %p\0' , -perm /111 -print0 ')' 2>/dev/null | capabilities >&4
    } 3>&1 | one_a_line)
  } 4>&1
  printf '%s\n' "$set_id" |
    awk -v uids="$uids" "$within"'NF && !within($1, uids) { sub(/^[0-9]+ /, ""); print "set-id", $0 }'
}

# Reads names that are separated by NUL, and prints each that has capabilities. They count only on files that can be
# run, which bounds the number of names. A name with a line break takes two lines.
capabilities() {
  if has getcap; then
    xargs -0 -r -n 512 getcap 2>/dev/null | tr '\001-\011\013-\037\177' '[?*]' | sed 's/^/capability /' || :
  else
    cat >/dev/null
    echo 'capability unknown: install getcap'
  fi
}

# Replaces the separators by line breaks, and control characters of names by question marks.
one_a_line() {
  tr '\000\001-\037\177' '\n[?*]'
}

# Reads names that are separated by NUL, and prints each with its digest, or with where it leads.
digests() {
  xargs -0 -r -n 64 /bin/sh -c '
    kind=$1
    shift
    for file; do
      if [ -L "$file" ]; then
        state="-> $(readlink "$file")"
      else
        state=$(sha256sum <"$file" 2>/dev/null | cut -c 1-16)
      fi
      printf "%s %s %s\0" "$kind" "$file" "$state"
    done
  ' sh "$1" | one_a_line
}

# Needs no room on the disk, because a reclaim has to work without.
current_list() {
  list_root | LC_ALL=C sort -u
}

digest_of() {
  if [ -f "$1" ]; then sha256sum <"$1" | cut -d' ' -f1; fi
}

# write_list FILE LIST
write_list() {
  { printf '%s\n' "$2" >"$1"; } 2>/dev/null
}

# Takes the list of a machine that has none. Another visit may take it at the same time, and a tenant may come
# meanwhile: then the list is dropped.
take_baseline() {
  if [ "$ids" != own ] || [ -f "$baseline_file" ]; then return 0; fi
  holder=$(held)
  list=$(current_list)
  if write_list "$baseline_file.new.$$" "$list" && [ "$(held)" = "$holder" ]; then
    ln "$baseline_file.new.$$" "$baseline_file" 2>/dev/null || :
  fi
  rm -f "$baseline_file.new.$$"
}

# Reads a list, and prints the lines of the accepted list that it lacks with "-", and its other lines with "+".
difference() {
  accepted=$baseline_file
  [ -f "$accepted" ] || accepted=/dev/null
  awk -v coverage="$coverage" '
    list == "accepted" { lines[$0]; if ($0 == coverage) covered = 1; next }
    $0 in lines { delete lines[$0]; next }
    !covered && ($1 == "covers" || $1 == "capability" || $2 ~ "^/var/spool/at/") { next }
    { print "+" $0 }
    END { for (line in lines) print "-" line }
  ' list=accepted "$accepted" list=now - | LC_ALL=C sort
}

# Fails unless the machine's list is the accepted one. The service does not know a digest before the machine's
# first list.
verify_baseline() {
  if [ -z "$baseline" ]; then
    take_baseline
    [ -f "$baseline_file" ] || return 0
  fi
  [ -f "$baseline_file" ] || fail 80 "the list that was accepted is missing: review and accept the machine's list"
  [ -z "$baseline" ] || [ "$(digest_of "$baseline_file")" = "$baseline" ] ||
    fail 80 "the list that was accepted was replaced: review and accept the machine's list"
  changes=$(current_list | difference | head -n 20)
  [ -z "$changes" ] || fail 80 "what root owns has changed: $(printf '%s\n' "$changes" | paste -sd';' -)"
}

# Prints the digest of the machine's list and its differences to the accepted one.
review_baseline() {
  list=$(current_list)
  echo "bourse-baseline:$(printf '%s\n' "$list" | sha256sum | cut -d' ' -f1)"
  printf '%s\n' "$list" | difference | head -n 1000 | sed 's/^/bourse-change:/'
}

# accept_baseline DIGEST: accepts the machine's list if it still has the digest.
accept_baseline() {
  list=$(current_list)
  [ "$(printf '%s\n' "$list" | sha256sum | cut -d' ' -f1)" = "$1" ] ||
    fail 82 "what root owns has changed since it was compared"
  write_list "$baseline_file.new.$$" "$list" || fail 73 "the list cannot be written"
  mv -f "$baseline_file.new.$$" "$baseline_file"
}
