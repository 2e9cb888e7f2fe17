# Checks the machine's hardware. Each fault is one line: a severity, a space, and a sentence that says what to do.
# "failed" is a fault of the hardware; "degraded" may pass; "setting" is a difference to what operators said, which
# counts when a machine is granted only. A tenant is not billed for a node that is "failed", so on a machine that a
# tenant holds a fault that the tenant may have caused is "degraded": $doubtful is the severity of such faults. A
# tenant without root rights can exhaust memory, processes and the disk, and keep a program of the driver from ending.

# The driver's programs take seconds for eight cards without persistence mode; the operator's check may run a job.
tool_seconds=20 check_seconds=60

# The number of the first GPU fault in a list that a reset or a reboot clears, and that programs of a tenant
# cannot cause: memory errors, a card off the bus, links. Codes of the NVIDIA driver.
fatal_xids='48 62 64 74 79 95 136 140 143'

# Faults that a reset clears, too, and that a program of a tenant may cause: the firmware does not answer.
doubtful_xids='119 120'

# Clocks further apart than this make certificates and signed requests fail.
clock_seconds=30

# A machine with less room than this fails in the middle of a job.
free_percent=5

start_of() {
  sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20
}

# ask SECONDS NAME WORD…: runs a program and sets $answer to the file with its output. Fails with 124 if it does
# not end in time. A driver may hold its process where no signal ends it, so while that process exists, the
# program is not started again.
ask() {
  seconds=$1 tool=$2
  shift 2
  answer=$mark.answer-$tool.$$
  # On a full disk nothing is known.
  { echo >"$answer"; } 2>/dev/null || return 125
  if [ -f "$mark.$tool.hung" ]; then
    read -r pid since when <"$mark.$tool.hung" || :
    if [ "$when" = "$boot" ] && [ -n "$since" ] && [ "$(start_of "$pid")" = "$since" ]; then
      rm -f "$answer"
      return 124
    fi
    rm -f "$mark.$tool.hung"
  fi
  $apart "$@" >"$answer" 2>&1 </dev/null 9<&- &
  asked=$!
  look_at_clock
  until=$((now + seconds)) naps=0
  while kill -s 0 "$asked" 2>/dev/null; do
    if [ "$now" -ge "$until" ]; then
      kill -s KILL -- "-$asked" 2>/dev/null || kill -s KILL "$asked" 2>/dev/null || :
      naps=0
      while kill -s 0 "$asked" 2>/dev/null && [ "$naps" -lt 5 ]; do nap; done
      if kill -s 0 "$asked" 2>/dev/null; then
        echo "$asked $(start_of "$asked") $boot" >"$mark.$tool.hung" || :
      fi
      rm -f "$answer"
      return 124
    fi
    nap
    look_at_clock
  done
  wait "$asked"
}

# Prints the faults that nvidia-smi -q -x shows.
nvidia_faults() {
  status=0
  ask "$tool_seconds" nvidia-smi nvidia-smi -q -x || status=$?
  case $status in
    0 | 14) ;;
    125) return ;;
    124)
      echo "$doubtful nvidia-smi does not answer within $tool_seconds s: reboot the machine"
      return
      ;;
    *)
      echo "$doubtful nvidia-smi ended with $status: $(head -n 1 "$answer" | cut -c 1-200)"
      rm -f "$answer"
      return
      ;;
  esac
  # GPUs are missing at the end of an answer that did not fit on the disk.
  if ! tail -n 1 "$answer" | grep -q '</nvidia_smi_log>'; then
    echo "$doubtful the answer of nvidia-smi has no end: make room on the disk"
    rm -f "$answer"
    return
  fi
  [ "$status" -eq 0 ] || echo "degraded a GPU's InfoROM is corrupted: replace it"
  # One record for each tag: its name and attributes, ">", the text that follows. The file is read twice. A tenant
  # chooses the names of processes, which nvidia-smi prints as they are, so a name can end its section and add parts of
  # a GPU. The number of GPUs stands before all names, and no GPU has two sections: if more sections end, a name has
  # tags, and each fault is one that the tenant may have caused.
  awk -v RS='<' -v gpus="$gpus" -v model="$model" -v doubtful="$doubtful" "$hardware"'
    NR == FNR && /^attached_gpus>/ && attached == "" { attached = substr($0, 15) + 0 }
    NR == FNR { ended += /^\/processes>/; is_forged = ended > attached; next }
    # MIG devices have parts of the memory.
    skipped { if (index($0, "/" skipped ">") == 1) skipped = ""; next }
    /^(processes|mig_devices)>/ { skipped = substr($0, 1, index($0, ">") - 1); next }
    {
      end = index($0, ">")
      tag = substr($0, 1, end - 1)
      text = substr($0, end + 1)
      gsub(/^[ \t\r\n]+|[ \t\r\n]+$/, "", text)
      gsub(/[^ -~]/, "?", text)
      sub(/ .*/, "", tag)
    }
    tag == "gpu" { number = count++ }
    tag == "product_name" { require_model(number, text) }
    tag ~ /^\/?(fb_memory_usage|volatile|double_bit)$/ { within[tag] = 1; if (tag ~ /^\//) within[substr(tag, 2)] = 0 }
    tag == "total" && within["fb_memory_usage"] { require_memory(number, text + 0) }
    within["volatile"] && (tag ~ /uncorrectable/ || tag == "total" && within["double_bit"]) && text + 0 > 0 {
      errors[number] += text
    }
    tag ~ /^remapped_row_pending$|^pending_(retirement|blacklist)$/ && text == "Yes" {
      fault("degraded", number, "has memory rows to be remapped: reset it (nvidia-smi --gpu-reset -i " number ")")
    }
    tag == "remapped_row_failure" && text == "Yes" {
      fault("failed", number, "has no spare memory rows left: replace it")
    }
    tag == "gpu_recovery_action" && text != "None" && text !~ /N\/A/ {
      fault(doubtful, number, "asks for a recovery action: " text)
    }
    tag ~ /_hw_(slowdown|thermal_slowdown|power_brake_slowdown)$/ && text == "Active" && !slow[number]++ {
      fault("degraded", number, "is slowed down by its hardware: check its cooling and its power supply")
    }
    text ~ /GPU is lost|requires reset|^ERR!$|Unknown Error/ && !lost[number]++ {
      fault(text ~ /GPU is lost/ ? "failed" : doubtful, number, "does not answer (" text "): reboot the machine")
    }
    END {
      for (number in errors) {
        fault("failed", number, "has " errors[number] " uncorrected memory errors: reset it " \
          "(nvidia-smi --gpu-reset -i " number "), and replace it if they return")
      }
      require_count(count)
    }
  ' "$answer" "$answer"
  rm -f "$answer"
}

# Prints the faults that amd-smi shows.
amd_faults() {
  status=0 static=
  ask "$tool_seconds" amd-smi amd-smi static --asic --vram --json || status=$?
  if [ "$status" -eq 0 ]; then
    static=$mark.answer-static.$$
    mv -f "$answer" "$static"
    ask "$tool_seconds" amd-smi amd-smi metric --ecc --json || status=$?
  fi
  case $status in
    0) ;;
    125) return ;;
    124) echo "$doubtful amd-smi does not answer within $tool_seconds s: reboot the machine" ;;
    *) echo "$doubtful amd-smi ended with $status: $(head -n 1 "$answer" | cut -c 1-200)" ;;
  esac
  if [ "$status" -eq 0 ] && [ "$(tr -cd '[{' <"$static" | wc -c)" -ne "$(tr -cd ']}' <"$static" | wc -c)" ]; then
    status=1
    echo "$doubtful the answer of amd-smi has no end: make room on the disk"
  fi
  if [ "$status" -eq 0 ]; then
    tr ',{}' '\n\n\n' <"$static" | awk -F'"' -v gpus="$gpus" -v model="$model" "$hardware"'
      $2 == "market_name" { require_model(count++, $4) }
      $2 == "size" { sized = 1 }
      $2 == "value" && sized { sub(/^[^:]*:/, ""); require_memory(count - 1, $0 + 0); sized = 0 }
      END { require_count(count) }
    '
    tr ',{}' '\n\n\n' <"$answer" | awk -F'[":, ]+' -v gpus="$gpus" -v model="$model" "$hardware"'
      $2 == "gpu" { number = $3 + 0 }
      $2 == "total_uncorrectable_count" && $3 + 0 > 0 {
        fault("failed", number, "has " $3 " uncorrected memory errors: reset it, and replace it if they return")
      }
    '
  fi
  rm -f "$answer" "${static:-$answer}"
}

# What the pool says of a machine's GPUs. The model is free text such as "H100 SXM5 80GB": its first word with a
# digit stands in the product's name, and a word such as 80GB says the memory, of which drivers keep some.
hardware='
  function report(severity, what) { print (is_forged && severity == "failed" ? doubtful : severity) " " what }
  function fault(severity, number, what) { report(severity, "GPU " number " " what) }
  function plain(text) { text = tolower(text); gsub(/[^a-z0-9]/, "", text); return text }
  function require_model(number, name,   words, count, i) {
    count = split(tolower(model), words, /[^a-z0-9]+/)
    for (i = 1; i <= count; i++) {
      if (words[i] ~ /[0-9]/ && words[i] !~ /^[0-9]+(x|gb|gib)$/) {
        if (!index(plain(name), words[i])) {
          fault("setting", number, "is a " name ", and the pool says " model ": correct the pool or move the machine")
        }
        return
      }
    }
  }
  function require_memory(number, mebibytes,   words, count, i) {
    count = split(tolower(model), words, /[^a-z0-9]+/)
    for (i = 1; i <= count; i++) {
      if (words[i] ~ /^[0-9]+gi?b$/ && mebibytes < (words[i] + 0) * 1000 * 1000 * 1000 / 1048576 * 0.9) {
        fault("setting", number, "has " mebibytes " MiB of memory, and the pool says " model ": correct the pool or replace it")
      }
    }
  }
  function require_count(count) {
    if (gpus + 0 > 0 && count != gpus) {
      report("failed", "the driver sees " (count + 0) " of " gpus " GPUs: reseat or replace the missing one")
    }
  }
'

# A process chooses its name, of at most 15 characters, which the kernel may write at the start of a line, also after
# a line feed: dmesg writes the time before each message of the kernel only.
kernel_faults() {
  { dmesg 2>/dev/null || :; } | awk -v fatal=" $fatal_xids " -v maybe=" $doubtful_xids " -v doubtful="$doubtful" '
    match($0, /NVRM: Xid \(PCI:[0-9a-fA-F:.]+\): [0-9]+/) && $0 ~ /^(<[0-9]+>)?\[ *[0-9]+\.[0-9]+\] NVRM: Xid/ {
      split(substr($0, RSTART, RLENGTH), part, "): ")
      sub(/.*PCI:/, "", part[1])
      severity = index(fatal, " " part[2] " ") ? "failed" : index(maybe, " " part[2] " ") ? doubtful : ""
      if (severity != "" && !told[part[1] part[2]]++) {
        print severity " the driver reported Xid " part[2] " for the GPU at " part[1] ": reboot the machine"
      }
    }
  '
}

# Prints the faults that the operator's command shows: each line it prints if it fails. What the command looks at is
# not known here, so its faults are doubtful.
command_faults() {
  [ -n "$check" ] || return 0
  status=0
  export BOURSE_CHECK="$1"
  ask "$check_seconds" check /bin/sh -c "cd / && $check" || status=$?
  case $status in
    0) ;;
    125) return 0 ;;
    124) echo "$doubtful the check command did not end within $check_seconds s" ;;
    *)
      if grep -q '[^[:space:]]' "$answer"; then
        grep '[^[:space:]]' "$answer" | head -n 20 | cut -c 1-300 | tr '\000-\011\013-\037\177' '?' |
          sed "s/^/$doubtful /"
      else
        echo "$doubtful the check command ended with $status"
      fi
      ;;
  esac
  rm -f "$answer"
}

# What is checked before a tenant is let in, and not later because a tenant may cause it: room on the disk,
# free memory, the clock. $offset is the clock's difference to the service's.
room_faults() {
  for place in / "${home:-/}"; do
    for kind in -P -Pi; do
      used=$(df "$kind" "$place" 2>/dev/null | awk 'NR == 2 { sub(/%/, "", $5); print $5 + 0 }')
      [ "${used:-0}" -le $((100 - free_percent)) ] || {
        what=space
        [ "$kind" = -P ] || what=inodes
        echo "failed $place has less than $free_percent % of its $what free: remove files"
      }
    done
  done | sort -u
  awk '
    $1 == "MemTotal:" { total = $2 }
    $1 == "MemAvailable:" && $2 < total / 4 {
      print "failed only " int($2 / 1024) " of " int(total / 1024) " MiB of memory are available: reboot the machine"
    }
  ' /proc/meminfo 2>/dev/null || :
  # shellcheck disable=SC2154 # set by the run
  if [ "${offset#-}" -gt "$clock_seconds" ]; then
    echo "setting the clock differs by $offset s from the service's: synchronize it"
  fi
}

# hardware_faults WHEN: prints the machine's faults; WHEN tells the operator's command "accept" or "held".
hardware_faults() {
  doubtful=failed
  if [ "$1" = held ] && [ -n "$(held)" ]; then doubtful=degraded; fi
  if has nvidia-smi; then nvidia_faults; fi
  if has amd-smi; then amd_faults; fi
  kernel_faults
  command_faults "$1"
}
