import RedisLink
import Rights
import Service

/// The courier's own scripts: each is one step in Redis.
struct CourierScripts: Sendable {
    /// All of them, for the link.
    let registry: ScriptRegistry
    /// Ends a call.
    let finish: ScriptID
    /// Stores the time from which a receiver gets events.
    let mark: ScriptID
    /// Moves a receiver's cursor of one topic, and reads the next events.
    let step: ScriptID

    init() throws(StartProblem) {
        guard
            let registry = try? ScriptRegistry(
                scripts: [
                    ("courier_finish", Array(CourierScripts.finishText.utf8)),
                    ("courier_mark", Array(CourierScripts.markText.utf8)),
                    ("courier_step", Array(CourierScripts.stepText.utf8)),
                ], sha1: { Digest.sha1($0) }),
            let finish = registry.script(named: "courier_finish"), let mark = registry.script(named: "courier_mark"),
            let step = registry.script(named: "courier_step")
        else { throw StartProblem("the scripts of the courier are broken") }
        (self.registry, self.finish, self.mark, self.step) = (registry, finish, mark, step)
    }

    /// The script of docs/courier.md; a test compares the two.
    static let finishText = """
        -- KEYS: #calls:SERVICE, #outbox:next, #calls-dead:SERVICE. ARGV: the entry's id, the arguments, and why it is given up or nothing.
        if #redis.call('XPENDING', KEYS[1], 'couriers', ARGV[1], ARGV[1], 1) == 0 then return 0 end
        local entry = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])[1]
        if entry then
          local command, payer
          for place = 1, #entry[2], 2 do
            if entry[2][place] == 'c' then command = entry[2][place + 1] end
            if entry[2][place] == 'p' then payer = entry[2][place + 1] end
          end
          redis.call('XADD', KEYS[2], '*', 'p', payer or '', 'c', command, 'a', ARGV[2])
          if ARGV[3] ~= '' then
            redis.call('XADD', KEYS[3], 'MAXLEN', '~', 1000, '*', 'id', ARGV[1], 'reason', ARGV[3], unpack(entry[2]))
            redis.call('EXPIRE', KEYS[3], 604800)
          end
        end
        redis.call('XACK', KEYS[1], 'couriers', ARGV[1])
        redis.call('XDEL', KEYS[1], ARGV[1])
        redis.call('PUBLISH', (string.gsub(KEYS[2], ':next$', '')), KEYS[2])
        return 1

        """

    /// Stores the time from which a receiver gets events, unless Redis has it.
    ///
    /// The time is Redis's, since couriers' clocks may differ. KEYS: the mark. ARGV: the mark that the courier has read
    /// before, or nothing. Returns the mark, milliseconds since 1970, and 1 when it was missing.
    static let markText = """
        local since = redis.call('GET', KEYS[1])
        if since then return {since, 0} end
        local now = redis.call('TIME')
        since = ARGV[1] ~= '' and ARGV[1] or string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000))
        redis.call('SET', KEYS[1], since)
        return {since, 1}

        """

    /// Moves the cursor of one topic, and reads the next events.
    ///
    /// KEYS: the cursor, the lease, the position, the log and the past log of the topic.
    ///
    /// ARGV, in this order:
    /// - the courier's name;
    /// - the milliseconds of a lease;
    /// - epoch and offset of the last event done, or nothing;
    /// - how many entries to read (0: none, the lease is kept; -1: none, the lease is returned);
    /// - the milliseconds that a cursor lives while events remain;
    /// - the receiver's mark.
    ///
    /// A cursor after which no event remains lives a minute longer than the position.
    ///
    /// The cursor is `EPOCH DONE`, or `EPOCH DONE OWED` with an offset up to which at least events remain. A fourth
    /// word is the epoch of the past log, once that log is done. DONE is `-` when no event is done.
    ///
    /// Returns one of:
    /// - {0, ms}: another courier has the topic for so long;
    /// - {1}: the lease is kept;
    /// - {2}: no event remains, and the lease is returned;
    /// - {3, epoch, done, last, entries, before, offset}: entries of one epoch after the offset `done`, which is `-`
    ///   without a cursor. Without entries, all events up to `last` were deleted. `before` is empty, or the epoch whose
    ///   events the receiver got before, up to `offset`; that epoch may have had others.
    static let stepText = """
        local holder = redis.call('GET', KEYS[2])
        if holder and holder ~= ARGV[1] then
          local left = redis.call('PTTL', KEYS[2])
          if left <= tonumber(ARGV[2]) then return {0, left} end
          -- It lasts for more than a lease, so it was given before the clock went back: it is over.
          holder = nil
        end
        local count, since = tonumber(ARGV[5]), tonumber(ARGV[7])
        local meta = redis.call('HMGET', KEYS[3], 'epoch', 'offset', 'until', 'past')
        local epoch, last = meta[1], tonumber(meta[2] or '')
        if not last then epoch = false end
        local past, ended, older = string.match(meta[4] or '', '^(%S+) (%d+) ?(%S*)$')
        local at, done, owed, over = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) ([%d-]+) ?(%d*) ?(%S*)$')
        done, owed = tonumber(done or ''), tonumber(owed or '') or 0
        over = over or ''

        local function text(offset) return string.format('%.0f', offset) end

        local function put(up_to)
          local least = done or 0
          if at == epoch then over = past or '' end
          local words = at .. ' ' .. (done and text(done) or '-')
          if up_to > least or over ~= '' then words = words .. ' ' .. text(math.max(up_to, least)) end
          if over ~= '' then words = words .. ' ' .. over end
          local life = redis.call('PTTL', KEYS[3])
          redis.call('SET', KEYS[1], words, 'PX', up_to <= least and life > 0 and life + 60000 or ARGV[6])
        end

        if ARGV[3] ~= '' then
          if not holder then return {0, 0} end
          if at ~= ARGV[3] then owed, over = 0, '' end
          at, done = ARGV[3], tonumber(ARGV[4])
          if not epoch and owed <= done then
            redis.call('DEL', KEYS[1])
            at = nil
          else
            -- At the end of an epoch that is over it is owed to say so.
            put(at == epoch and last or math.max(owed, epoch and done + 1 or 0))
          end
        end
        if count == 0 then
          redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
          return {1}
        end

        local function entries(stream, from)
          return redis.call('XRANGE', stream, text(from) .. '-0', '+', 'COUNT', count)
        end

        local function page()
          local is_told = at or past and tonumber(ended) >= since
          if past and at ~= epoch and over ~= past and is_told then
            local is_begun = at == past
            local found = entries(KEYS[5], is_begun and (done or 0) + 1 or 1)
            if found[1] then
              local top = string.match(found[#found][1], '^%d+')
              if is_begun or not at and older == '' then
                return {3, past, is_begun and done and text(done) or '-', top, found, '', '0'}
              end
              return {3, past, '0', top, found, at or older, text(at and done or 0)}
            end
          end
          if not epoch then
            -- The position is over, and with it the log.
            if at and owed > (done or 0) then return {3, at, text(done or 0), text(owed), {}, at, text(done or 0)} end
            if at then redis.call('DEL', KEYS[1]) end
          elseif at == epoch then
            if last > (done or 0) then
              return {3, epoch, done and text(done) or '-', meta[2], entries(KEYS[4], (done or 0) + 1), '', '0'}
            end
          elseif at or past and over ~= past and is_told then
            return {3, epoch, '0', meta[2], entries(KEYS[4], 1), at or past, text(at and done or 0)}
          elseif last > 0 then
            local found = entries(KEYS[4], 1)
            if found[1] or (tonumber(meta[3] or '') or 0) >= since then
              return {3, epoch, '-', meta[2], found, '', '0'}
            end
          end
        end

        local found = count > 0 and page()
        if not found then
          redis.call('DEL', KEYS[2])
          -- The position may live on because clients listen to it.
          if at == epoch and at and redis.call('PTTL', KEYS[1]) < redis.call('PTTL', KEYS[3]) then put(last) end
          return {2}
        end
        redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
        if not at then at = found[6] ~= '' and found[6] or found[2] end
        put(at == epoch and last or math.max(owed, (done or 0) + 1))
        return found

        """
}
