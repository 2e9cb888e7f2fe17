set -eu
umask 077
program=$1 phase=$2 keys=$3 mark=$4 user=$5
export BOURSE_NODE="$6"
# What the pool says of the machine's GPUs, and the operator's command; "off" for the number turns the checks off.
gpus=$7 model=$8 check=$9
shift 9
# "own" gives the login ids of its own for each grant. The digest of the accepted list of what root owns, if known.
# The directory in which the tenant's programs read of notices. "root" if tenants may become root, otherwise "login".
ids=$1 baseline=$2 run=$3 tenants=$4
shift 4
boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || :)
# printf, because echo of some shells gives backslashes in names a meaning.
fail() { printf '%s\n' "$2" >&2; exit "$1"; }
has() { command -v "$1" >/dev/null 2>&1; }
# Without flock, two runs that start in the same moment may both think they are alone.
has flock || flock() { :; }
# Puts a program into a process group of its own, which can be ended as a whole.
apart=setsid
has setsid || apart=

held() {
  if [ -f "$mark" ]; then cat "$mark"; fi
}

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
