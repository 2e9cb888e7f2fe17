-- Declares capacity over BENCH_CLUSTERS clusters from bench-0000, or from number BENCH_FIRST, on, for wrk;
-- nobody else may declare those meanwhile. Each request takes the cluster that has waited longest and
-- names the version its last answer told, so none is refused; the ceiling changes each time. A cluster
-- is read once before it is first declared.
local unread = tonumber(os.getenv("BENCH_FIRST") or "0")
local last = unread + tonumber(os.getenv("BENCH_CLUSTERS"))
local headers = {
  ["Authorization"] = "Bearer " .. os.getenv("BENCH_TOKEN"),
  ["Content-Type"] = "application/json",
}
local names, versions = {}, {}
local head, tail = 1, 0
puts, refused, refusal = 0, 0, ""

local threads = {}

function setup(thread)
  threads[#threads + 1] = thread
end

-- wrk asks once before it starts, to see whether that is several requests, and never sends it.
local asked = false

function request()
  if not asked then
    asked = true
    return wrk.format("GET", "/api/vm/capacity", headers)
  end
  if unread < last then
    local name = string.format("bench-%04d", unread)
    unread = unread + 1
    return wrk.format("GET", "/api/vm/capacity?cluster=" .. name, headers)
  end
  local name, version = names[head], versions[head]
  names[head], versions[head] = nil, nil
  head = head + 1
  -- Always upwards: a ceiling under the one at grant gives up the node's protection.
  local body = string.format(
    '{"cluster":"%s","max_gpus":8,"max_price_per_gpu_hour":%.2f,"expected_version":%d}',
    name, 2 + version / 100, version)
  return wrk.format("PUT", "/api/vm/capacity", headers, body)
end

function response(status, _, body)
  local name, version = string.match(body, '^{"cluster":"([^"]*)","version":(%d+)')
  if status ~= 200 or not name then
    refused = refused + 1
    refusal = status .. " " .. body
    return
  end
  if unread == last then
    puts = puts + 1
  end
  tail = tail + 1
  names[tail], versions[tail] = name, tonumber(version)
end

function done(summary, latency)
  local count, failed, why = 0, summary.errors.connect + summary.errors.timeout, ""
  for _, thread in ipairs(threads) do
    count = count + thread:get("puts")
    failed = failed + thread:get("refused")
    why = thread:get("refusal")
  end
  print(string.format("puts %.0f p50 %.2f p99 %.2f failed %d %s", count / (summary.duration / 1e6),
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed, why))
end
