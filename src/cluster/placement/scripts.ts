/**
 * The scripts that Redis runs, each as a whole. Keys:
 *
 * `generation`  which server keeps the claims, and since when
 * `settling`    exists for one lease time after a new generation
 * `nodes`       set of incarnations
 * `members`     counts who has joined, drained, left or died
 * `node:{incarnation}`  a node's lease: expires by itself; value: "address" or "address draining"
 * `claims`      hash of artifact id to "incarnation number"; a claim of a node without a lease counts for nothing
 * `handover:{artifact id}`  what the last owner handed over; expires by itself
 */

const OWNER = `
local function ownerOf(claim) return claim and string.match(claim, '^%S+') end
`;

/** A server with another run id may lack the last writes; an emptied one lacks the key. ARGV: server, lease time. */
const GENERATION = `
local generation = redis.call('GET', KEYS[1])
if not generation or string.sub(generation, 1, #ARGV[1]) ~= ARGV[1] then
  local now = redis.call('TIME')
  generation = ARGV[1] .. ' ' .. now[1] .. '.' .. now[2]
  redis.call('SET', KEYS[1], generation)
  redis.call('SET', KEYS[2], '1', 'PX', ARGV[2])
end
`;

/** KEYS: generation, settling, nodes, node:, members. ARGV: server, lease time, incarnation, its value, the incarnation that it replaces or ''. */
export const BEAT = `${GENERATION}
if ARGV[5] ~= '' then
  redis.call('DEL', KEYS[4] .. ARGV[5])
  redis.call('SREM', KEYS[3], ARGV[5])
end
local was = redis.call('SET', KEYS[4] .. ARGV[3], ARGV[4], 'PX', ARGV[2], 'GET')
redis.call('SADD', KEYS[3], ARGV[3])
if was ~= ARGV[4] then redis.call('INCR', KEYS[5]) end
local answer = { was and 1 or 0, generation, 0 }
for _, incarnation in ipairs(redis.call('SMEMBERS', KEYS[3])) do
  local node = redis.call('GET', KEYS[4] .. incarnation)
  if node then
    answer[#answer + 1] = incarnation
    answer[#answer + 1] = node
  else
    redis.call('SREM', KEYS[3], incarnation)
    redis.call('INCR', KEYS[5])
  end
end
answer[3] = tonumber(redis.call('GET', KEYS[5]) or 0)
return answer
`;

/** KEYS: generation, settling, node:, claims, handover:, members. ARGV: server, lease time, incarnation, then the number of the claim, or '' to look, and the id. */
export const FIND = `${OWNER}${GENERATION}
local settlingMs = redis.call('PTTL', KEYS[2])
local isAlive = redis.call('EXISTS', KEYS[3] .. ARGV[3]) == 1
local answers = {}
for at = 4, #ARGV, 2 do
  local id = ARGV[at + 1]
  local claim = redis.call('HGET', KEYS[4], id)
  local owner = ownerOf(claim)
  local node = owner and redis.call('GET', KEYS[3] .. owner)
  local answer
  if node and owner ~= ARGV[3] then
    answer = { 'held', owner, node }
  elseif not (owner == ARGV[3] and isAlive) then
    if ARGV[at] == '' then
      answer = { 'free', tonumber(redis.call('GET', KEYS[6]) or 0) }
    elseif not isAlive then
      answer = { 'lapsed' }
    elseif settlingMs > 0 then
      answer = { 'settling', settlingMs }
    else
      claim = ARGV[3] .. ' ' .. ARGV[at]
      redis.call('HSET', KEYS[4], id, claim)
    end
  end
  if not answer then
    answer = { 'mine', tonumber(string.match(claim, '%S+$')) }
    local handover = redis.call('GET', KEYS[5] .. id)
    if handover then
      answer[3] = handover
      answer[4] = redis.call('PTTL', KEYS[5] .. id)
    end
  end
  answers[#answers + 1] = answer
end
return answers
`;

/** KEYS: node:, claims. ARGV: incarnation, then the number of the claim and the id. */
export const RECLAIM = `${OWNER}
if redis.call('EXISTS', KEYS[1] .. ARGV[1]) == 0 then return redis.error_reply('LAPSED') end
local lost = {}
for at = 2, #ARGV, 2 do
  local claim = ARGV[1] .. ' ' .. ARGV[at]
  local found = redis.call('HGET', KEYS[2], ARGV[at + 1])
  local owner = ownerOf(found)
  if not owner or owner == ARGV[1] or redis.call('EXISTS', KEYS[1] .. owner) == 0 then
    if found ~= claim then redis.call('HSET', KEYS[2], ARGV[at + 1], claim) end
  else
    lost[#lost + 1] = ARGV[at + 1]
  end
end
return lost
`;

/** KEYS: claims, handover:. ARGV: incarnation, lifetime of handovers, then the number of the claim, the id and its handover or ''. */
export const RELEASE = `
for at = 3, #ARGV, 3 do
  local id = ARGV[at + 1]
  if redis.call('HGET', KEYS[1], id) == ARGV[1] .. ' ' .. ARGV[at] then
    redis.call('HDEL', KEYS[1], id)
    if ARGV[at + 2] == '' then redis.call('DEL', KEYS[2] .. id)
    else redis.call('SET', KEYS[2] .. id, ARGV[at + 2], 'PX', ARGV[2]) end
  end
end
`;

/** KEYS: nodes, node:, members. ARGV: incarnation. */
export const LEAVE = `
redis.call('DEL', KEYS[2] .. ARGV[1])
redis.call('SREM', KEYS[1], ARGV[1])
redis.call('INCR', KEYS[3])
`;

/** KEYS: settling, node:, claims. ARGV: cursor, how many. While nodes say again what they hold, nobody counts as gone: the answer is ''. */
export const SWEEP = `${OWNER}
if redis.call('EXISTS', KEYS[1]) == 1 then return '' end
local page = redis.call('HSCAN', KEYS[3], ARGV[1], 'COUNT', ARGV[2])
for at = 1, #page[2], 2 do
  if redis.call('EXISTS', KEYS[2] .. ownerOf(page[2][at + 1])) == 0 then redis.call('HDEL', KEYS[3], page[2][at]) end
end
return page[1]
`;
