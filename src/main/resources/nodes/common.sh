set -eu
umask 077
program=$1 phase=$2 keys=$3 mark=$4 user=$5
export BOURSE_NODE="$6"
fail() { echo "$2" >&2; exit "$1"; }

held() {
  if [ -f "$mark" ]; then cat "$mark"; fi
}
