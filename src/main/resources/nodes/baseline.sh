# Compares what root owns on the machine with the list that was accepted, so that a tenant who became root, and
# left a way back, is noticed. The list is in a file that only root can read; the service keeps its digest.

baseline_file=$mark.baseline

# Configuration by which a login, or a program of root's, starts or gets rights. Files of packages in /usr and
# /lib are not in it, because an upgrade of packages would change them on every machine.
root_files='/etc/ssh /etc/sudoers /etc/sudoers.d /etc/pam.d /etc/security /etc/crontab /etc/cron.d /etc/cron.hourly
/etc/cron.daily /etc/cron.weekly /etc/cron.monthly /var/spool/cron /etc/ld.so.preload /etc/ld.so.conf
/etc/ld.so.conf.d /etc/systemd/system /etc/systemd/user /usr/local/lib/systemd /etc/init.d /etc/rc.local
/etc/rc.d/rc.local /etc/udev/rules.d /etc/modules /etc/modules-load.d /etc/modprobe.d /etc/environment
/etc/environment.d /etc/profile /etc/profile.d /etc/bash.bashrc /etc/bashrc /etc/zsh /etc/shells /etc/hosts.equiv'

# Prints a line for each thing: its kind, its name and its state. Without the tenant's login, whose ids change.
list_root() {
  awk -F: -v user="$user" '
    $1 != user && ($3 == 0 || $7 !~ /(nologin|false|sync|shutdown|halt)$/) { print "login", $1, $3, $4, $6, $7 }
  ' /etc/passwd
  awk -F: -v user="$user" '$1 != user && $2 !~ /^[*!]*$/ { print $1, $2 }' /etc/shadow 2>/dev/null |
    while read -r login password; do
      echo "password $login $(echo "$password" | sha256sum | cut -c 1-16)"
    done
  awk -F: -v user="$user" '$1 != user && $4 != "" { print "group", $1, $3, $4 }' /etc/group
  awk -F: -v user="$user" '$1 != user { print $6 }' /etc/passwd | sort -u | while read -r place; do
    for file in "$place/.ssh/authorized_keys" "$place/.ssh/authorized_keys2" "$place/.ssh/rc"; do
      if [ -f "$file" ]; then echo "$file"; fi
    done
  done | digests keys
  # shellcheck disable=SC2086 # each of them
  find $root_files ! -path "/var/spool/cron/*/$user" ! -path '/var/spool/cron/atjobs/*' \
    ! -path '/var/spool/cron/atspool/*' '(' -type f -o -type l ')' 2>/dev/null | digests file
  set --
  for type in $local_types; do set -- "$@" -o -fstype "$type"; done
  find / '(' ! '(' -false "$@" ')' -o -path /proc -o -path /var/lib/docker -o -path /var/lib/containerd \
    -o -path /var/lib/containers ')' -prune -o -type f -perm /6000 -exec ls -ldn '{}' + 2>/dev/null |
    awk '{ mode = $1; owner = $3 ":" $4; for (i = 1; i <= 8; i++) sub(/^[^ ]+ +/, ""); print "set-id", $0, mode, owner }'
}

# Reads names, and prints each with its digest, or with where it leads.
digests() {
  while read -r file; do
    if [ -L "$file" ]; then
      echo "$1 $file -> $(readlink "$file")"
    else
      echo "$1 $file $(sha256sum <"$file" 2>/dev/null | cut -c 1-16)"
    fi
  done
}

# write_list FILE
write_list() {
  list_root | tr '\001-\011\013-\037\177' '?' | LC_ALL=C sort -u >"$1"
}

digest_of() {
  if [ -f "$1" ]; then sha256sum <"$1" | cut -d' ' -f1; fi
}

# Takes the list of a machine that has none.
take_baseline() {
  if [ "$ids" != own ] || [ -f "$baseline_file" ]; then return 0; fi
  write_list "$baseline_file.new" && mv -f "$baseline_file.new" "$baseline_file"
}

# Prints the lines that are gone with "-" and the new ones with "+", from the accepted list to FILE.
difference() {
  if [ -f "$baseline_file" ]; then
    LC_ALL=C comm -23 "$baseline_file" "$1" | sed 's/^/-/'
    LC_ALL=C comm -13 "$baseline_file" "$1" | sed 's/^/+/'
  else
    sed 's/^/+/' "$1"
  fi
}

# Fails unless the machine's list is the accepted one. The service does not know a digest before the machine's
# first list.
verify_baseline() {
  if [ -z "$baseline" ]; then take_baseline; fi
  [ -f "$baseline_file" ] || fail 80 "the list that was accepted is missing: review and accept the machine's list"
  [ -z "$baseline" ] || [ "$(digest_of "$baseline_file")" = "$baseline" ] ||
    fail 80 "the list that was accepted was replaced: review and accept the machine's list"
  write_list "$baseline_file.now"
  changes=$(difference "$baseline_file.now" | head -n 20)
  rm -f "$baseline_file.now"
  [ -z "$changes" ] || fail 80 "what root owns has changed: $(echo "$changes" | paste -sd';' -)"
}

# Prints the digest of the machine's list and its differences to the accepted one.
review_baseline() {
  list=$baseline_file.review.$$
  write_list "$list"
  echo "bourse-baseline:$(digest_of "$list")"
  difference "$list" | head -n 1000 | sed 's/^/bourse-change:/'
  rm -f "$list"
}

# accept_baseline DIGEST: accepts the machine's list if it still has the digest.
accept_baseline() {
  list=$baseline_file.review.$$
  write_list "$list"
  if [ "$(digest_of "$list")" = "$1" ]; then
    mv -f "$list" "$baseline_file"
  else
    rm -f "$list"
    fail 65 "the list has changed since"
  fi
}
