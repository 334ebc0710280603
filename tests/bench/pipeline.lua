-- SPDX-License-Identifier: MIT
-- wrk sends 16 requests in one write and waits for all 16 replies.
local requests

init = function(args)
    local one = wrk.format("GET", "/status")
    requests = string.rep(one, 16)
end

request = function()
    return requests
end
