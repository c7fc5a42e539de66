-- wrk's half of bench/publish.sh: broadcasts over keep-alive connections, one event or a batch in each request.
--
-- Environment: KEY (an API key), EVENTS (in each request), TOPICS (the events go to them in turn), BYTES (of data),
-- PAUSE_MS (before each request a connection rests up to twice as long, by chance; 0 or absent: not at all).

local events, topics = tonumber(os.getenv("EVENTS")), tonumber(os.getenv("TOPICS"))
local data = '{"m":"0000000001:0000000000000001","p":"'
data = data .. string.rep("x", tonumber(os.getenv("BYTES")) - #data - 2) .. '"}'

local function message(n)
  return string.format('{"topic":"shop:bench-%d","event":"order:created","data":%s}', n % topics, data)
end

local requests, nth = {}, 0

function init()
  local headers = {apikey = os.getenv("KEY"), ["Content-Type"] = "application/json"}
  for first = 0, topics - 1, math.min(events, topics) do
    local body = message(first)
    if events > 1 then
      local list = {}
      for n = 1, events do list[n] = message(first + n - 1) end
      body = '{"messages":[' .. table.concat(list, ",") .. ']}'
    end
    requests[#requests + 1] = wrk.format("POST", "/v1/broadcast", headers, body)
  end
end

function request()
  nth = nth % #requests + 1
  return requests[nth]
end

local pause_ms = tonumber(os.getenv("PAUSE_MS") or 0)
if pause_ms > 0 then
  -- By chance, or all connections would ask at once.
  function delay() return math.random(0, 2 * pause_ms) end
end

-- What the script beside it reads; times in microseconds.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("\nRESULT %d %d %d %d %d\n", summary.requests, summary.duration, latency:percentile(50),
    latency:percentile(99), errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
