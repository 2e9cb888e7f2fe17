# The agent: a process of root on a held machine that reports the measurements of its GPUs to the service, and tells the
# tenant's programs of notices as soon as the service has them. It speaks outward only, with curl. A grant starts it,
# each examination starts it again if it is gone, and a reclaim ends it.

# The service keeps one report for every 30 seconds, so a shorter period leaves no gap. It is the time of a report and
# a poll.
report_seconds=26

# The longest poll that the service permits, and the shortest that is worth its connection.
poll_seconds=25 least_poll_seconds=3

# The longest pause between two tries while the service does not answer.
most_seconds=480

# A process of the service may learn of a grant later than the machine, so one refusal is not final.
most_refusals=10

# Starts the agent, unless the machine has none or it runs.
start_agent() {
  [ -s "$mark.agent-access" ] && has curl && { has nvidia-smi || has amd-smi; } || return 0
  agent_process >/dev/null 2>&1 </dev/null 8<&- 9<&- &
}

agent_process() {
  exec $apart /bin/sh -c 'eval "$1"' bourse "$program" agent "$keys" "$mark" "$user" "$BOURSE_NODE" off '' '' "$ids" '' \
    "$run" "$tenants"
}

# Ends the agent. Its credential has ended with the allocation, so an agent that survives this reports nothing.
stop_agent() {
  rm -f "$mark.agent-access"
  if { read -r agent_pid agent_since agent_boot <"$mark.agent-pid"; } 2>/dev/null &&
    [ "$agent_boot" = "$boot" ] && [ -n "$agent_since" ] && [ "$(start_of "$agent_pid")" = "$agent_since" ]; then
    kill -s KILL -- "-$agent_pid" 2>/dev/null || kill -s KILL "$agent_pid" 2>/dev/null || :
  fi
  rm -f "$mark.agent-pid"
}

# The process. A program of the driver holds the lock, too, so while one hangs, no second agent starts another.
agent() {
  exec 7>>"$mark.agent-lock"
  flock -n 7 || exit 0
  echo "$$ $(start_of "$$") $boot" >"$mark.agent-pid"
  agent_of=$(held) refusals=0 pause=$report_seconds heard='' heard_sequence=0
  look_at_clock
  due=$now
  while [ -s "$mark.agent-access" ] && [ "$(held)" = "$agent_of" ]; do
    case $(gpu_report | post_report || :) in
      200)
        refusals=0 pause=$report_seconds due=$((due + report_seconds))
        hear_notices
        ;;
      401 | 410)
        refusals=$((refusals + 1))
        [ "$refusals" -lt "$most_refusals" ] || rm -f "$mark.agent-access"
        back_off
        ;;
      422)
        # A service that does not accept the report, for instance of a GPU that it does not know, may have notices.
        back_off
        hear_notices
        ;;
      *) back_off ;;
    esac
    look_at_clock
    # After a stall, the reports that were missed are not made up for.
    [ "$due" -gt "$now" ] || due=$((now + 1))
    sleep $((due - now)) 7<&-
  done
  rm -f "$mark.agent-pid"
}

# Doubles the pause. A random part keeps the agents of a site from returning all at once.
back_off() {
  look_at_clock
  due=$((now + pause / 2 + $(chance) % pause))
  pause=$((pause * 2))
  [ "$pause" -le "$most_seconds" ] || pause=$most_seconds
}

# Polls for notices until the next report is due. The visits over ssh tell them as well, so a service that refuses a
# poll, or a machine that cannot tell a notice, is not asked again before the next report.
hear_notices() {
  look_at_clock
  cuts=0
  while [ $((due - now)) -ge "$least_poll_seconds" ]; do
    began=$now
    # A poll that outlives this process does not hold the lock.
    reply=$(exec 7<&- && poll_notice $((due - now)) || :)
    case $reply in
      '{"notice":null}200')
        look_at_clock
        # A process that is stopping answers early. The agents of a site return at different times.
        [ $((now - began + 2)) -ge "$poll_seconds" ] || [ $((now + 2)) -ge "$due" ] || sleep $((1 + $(chance) % 8)) 7<&-
        ;;
      *200) hear_notice "${reply%200}" || return 0 ;;
      *000)
        # The process that held the poll has ended, or the connection was cut. The agents of a site return at
        # different times.
        cuts=$((cuts + 1))
        [ "$cuts" -lt 2 ] || return 0
        sleep $((1 + $(chance) % 8)) 7<&-
        ;;
      *) return 0 ;;
    esac
    look_at_clock
    [ "$now" -gt "$began" ] || sleep 1 7<&-
    look_at_clock
  done
}

# poll_notice SECONDS: prints the answer and the status. The file of the access gives the address and the credential.
poll_notice() {
  read_told
  if [ -n "$told" ] && [ "$told_of" = "$agent_of" ] && [ "$told_sequence" -gt "$heard_sequence" ]; then
    heard=$told:$told_state:$told_sequence
  fi
  wait_s=$1
  [ "$wait_s" -le "$poll_seconds" ] || wait_s=$poll_seconds
  sed "s|/metrics\"\$|/notices?wait_s=$wait_s${heard:+\&last=$heard}\"|" "$mark.agent-access" |
    curl -q -s -m $((wait_s + 5)) -w '%{http_code}' -K - 2>/dev/null
}

# Tells the notice of an answer, in the way of the visits. On a full disk the machine forgets what it told, but this
# process does not ask for it again.
hear_notice() {
  notice=$(printf '%s\n' "$1" |
    sed -n 's/^{"notice":\({"id":"[a-z-]*-[0-9]*","state":"[a-z]*",.*,"sequence":[0-9]*}\)}$/\1/p')
  [ -n "$notice" ] || return 0
  notice_id=${notice#*\"id\":\"} notice_state=${notice#*\"state\":\"} notice_sequence=${notice##*:}
  notice_id=${notice_id%%\"*} notice_state=${notice_state%%\"*} notice_sequence=${notice_sequence%\}}
  # A program of the tenant gets no file of root.
  (exec 7<&- && notify "$agent_of" "$notice_id" "$notice_state" "$notice_sequence" "$notice") || return 1
  heard=$notice_id:$notice_state:$notice_sequence heard_sequence=$notice_sequence
}

chance() {
  chosen=$(od -An -N2 -tu2 /dev/urandom 2>/dev/null | tr -d ' ')
  echo "${chosen:-$$}"
}

# Posts the standard input and prints the status, 000 without an answer. The credential is in the file, and in no
# argument list.
post_report() {
  curl -q -s -m 20 -o /dev/null -w '%{http_code}' -K "$mark.agent-access" -H 'Content-Type: application/json' \
    --data-binary @- 2>/dev/null 7<&-
}

# Prints the report. A program of the driver that hangs or fails leaves its GPUs unknown.
gpu_report() {
  if has nvidia-smi; then
    agent_tool=nvidia
    set -- nvidia-smi "--query-gpu=$nvidia_fields" --format=csv,noheader,nounits
  else
    agent_tool=amd
    set -- amd-smi metric --json
  fi
  ask 20 "agent-$agent_tool" "$@" || :
  if [ -f "$answer" ]; then
    "${agent_tool}_report" <"$answer"
    rm -f "$answer"
  else
    echo '{"gpus":[]}'
  fi
}

nvidia_fields='index,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw,clocks.sm,clocks.mem,ecc.errors.corrected.volatile.total,ecc.errors.uncorrected.volatile.total'

# Writes a GPU as JSON. A text that is not a number in the range of the contract is unknown: N/A, [Not Supported], ERR!
report_json='
  function put(name, text, low, high,   value) {
    if (text !~ /^ *-?[0-9]+(\.[0-9]+)? *$/) return
    value = text + 0
    value = value < 0 ? -int(0.5 - value) : int(value + 0.5)
    if (value >= low && value <= high) gpu = gpu sprintf(",\"%s\":%.0f", name, value)
  }
  function put_all(utilization, used, total, temperature, power, sm, memory, corrected, uncorrected) {
    put("utilization_percent", utilization, 0, 100)
    put("memory_used_mib", used, 0, 16777215)
    put("memory_total_mib", total, 0, 16777215)
    put("temperature_c", temperature, -50, 127)
    put("power_w", power, 0, 32767)
    put("sm_clock_mhz", sm, 0, 32767)
    put("memory_clock_mhz", memory, 0, 32767)
    put("ecc_corrected", corrected, 0, 9007199254740991)
    put("ecc_uncorrected", uncorrected, 0, 9007199254740991)
  }
  function begin_gpu(index_text) {
    gpu = ""
    if (index_text !~ /^ *[0-9]+ *$/ || index_text + 0 > 63 || (index_text + 0) in seen) return 0
    seen[index_text + 0]
    gpu = sprintf("{\"index\":%d", index_text)
    return 1
  }
  function end_gpu() { gpus = gpus (gpus == "" ? "" : ",") gpu "}" }
  function end_report() { print "{\"gpus\":[" gpus "]}" }
'

# Reads the lines of nvidia-smi: one for each GPU, and others for GPUs that do not answer.
nvidia_report() {
  awk -F, "$report_json"'
    NF == 10 && begin_gpu($1) {
      put_all($2, $3, $4, $5, $6, $7, $8, $9, $10)
      end_gpu()
    }
    END { end_report() }
  '
}

# Reads the JSON of amd-smi. A value is an object with "value" and "unit", or a text such as "N/A"; the clocks have
# the same name in different objects.
amd_report() {
  awk "$report_json"'
    function finish() {
      if (open) {
        put_all(value["gfx_activity"], value["used_vram"], value["total_vram"], value["hotspot"],
          value["socket_power"], value["gfx_0 clk"], value["mem_0 clk"], value["total_correctable_count"],
          value["total_uncorrectable_count"])
        end_gpu()
      }
      split("", value)
    }
    { text = text $0 "\n" }
    END {
      gsub(/[{}]/, "\n&\n", text)
      gsub(/[][,]/, "\n", text)
      count = split(text, lines, "\n")
      for (i = 1; i <= count; i++) {
        line = lines[i]
        if (line ~ /[{]/) { path[++depth] = name; name = "" }
        else if (line ~ /[}]/) { if (depth > 0) depth-- }
        else if (match(line, /"[^"]*" *:/)) {
          name = substr(line, RSTART + 1, RLENGTH - 1)
          sub(/" *:$/, "", name)
          content = substr(line, RSTART + RLENGTH)
          if (name == "gpu") { finish(); open = begin_gpu(content) }
          else if (content ~ /[^ \t]/) {
            field = name == "value" ? path[depth] : name
            parent = name == "value" ? path[depth - 1] : path[depth]
            value[field == "clk" ? parent " clk" : field] = content
          }
        }
      }
      finish()
      end_report()
    }
  '
}
