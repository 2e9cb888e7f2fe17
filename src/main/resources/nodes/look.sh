# Looks at a machine, without a run: what it holds, its hardware, and what root owns on it.

# Prints the allocation that the machine is prepared for, and the notice that it was told.
tell_mark() {
  echo "bourse-mark:$(held)"
  tell_notice
}

# Restores the directory for registrations after the machine was started again, unless a reclaim is under way.
restore_registrations() (
  exec 8>>"$mark.notice"
  flock -n 8 || exit 0
  [ -n "$(held)" ] || exit 0
  open_run && offer_registrations
)

# Prints the mark, the digest of the accepted list, and faults of the login and of the hardware. A machine that
# nobody holds takes its first list; on a machine in use, the list could hold what its tenant put there.
examine() {
  mkdir -p "${mark%/*}"
  BOURSE_ALLOCATION=$(held)
  export BOURSE_ALLOCATION
  tell_mark
  if [ -n "$(held)" ]; then
    restore_registrations || :
    start_agent
  fi
  if [ -z "$(held)" ] && [ "$ids" = own ]; then
    take_baseline
    login_faults | sed 's/^/bourse-fault:/'
  fi
  echo "bourse-baseline:$(digest_of "$baseline_file")"
  if [ "$gpus" = off ]; then return 0; fi
  hardware_faults held | grep -v '^setting ' | head -n 20 | sed 's/^/bourse-fault:/'
  if has nvidia-smi || has amd-smi || [ -n "$check" ]; then echo bourse-checked; fi
}

"$phase" "$@"
