-- What wrk sends for a crowd: each connection asks again after a pause, with the ETag that its thread saw last.
-- Arguments: the path, and the pause in milliseconds.

local threads = {}

function setup(thread)
   table.insert(threads, thread)
end

function init(args)
   path, pause = args[1], tonumber(args[2])
   unchanged, changed, failed = 0, 0, 0
   asking = wrk.format("GET", path)
end

function delay()
   return pause
end

function request()
   return asking
end

function response(status, headers)
   if status == 304 then
      unchanged = unchanged + 1
   elseif status == 200 then
      changed = changed + 1
      wrk.headers["If-None-Match"] = headers["etag"] or headers["ETag"]
      asking = wrk.format("GET", path)
   else
      failed = failed + 1
   end
end

function done(summary)
   local sums = { unchanged = 0, changed = 0, failed = summary.errors.connect + summary.errors.read + summary.errors.timeout }
   for _, thread in ipairs(threads) do
      for _, name in ipairs({ "unchanged", "changed", "failed" }) do
         sums[name] = sums[name] + thread:get(name)
      end
   end
   print(string.format('{"seconds":%f,"unchanged":%d,"changed":%d,"failed":%d}',
      summary.duration / 1e6, sums.unchanged, sums.changed, sums.failed))
end
