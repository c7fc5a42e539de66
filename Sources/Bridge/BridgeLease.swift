import Core
import RedisLink

/// The call by which a node takes, keeps or passes on the lease of the bridge, and marks its place in the messages.
enum BridgeLease {
    /// The wish of a node about the lease.
    enum Wish: String {
        /// Renew its own lease, and leave a free one to others.
        case keep
        /// Take a free one, too, or that of a node that ends soon.
        case take
        /// Renew its own one until another node takes it.
        case yield
    }

    /// Milliseconds between two calls of a node.
    static let everyMs = 500
    /// Milliseconds until the lease of a node that does not renew it is free.
    static let leaseMs = 2_000

    /// The call; its reply is the name of the node that holds the lease, and nothing when none does.
    static func call(_ key: [UInt8], _ wish: Wish, _ mark: BridgeMark) -> RedisCall {
        var call = RedisCall("EVAL")
        call.append(script)
        call.append(decimal: 1)
        call.append(key)
        call.append(mark.node)
        call.append(decimal: leaseMs)
        call.append(wish.rawValue.utf8)
        call.append(mark.payload)
        return call
    }

    /// KEYS: the string with the name of the node that holds the lease, behind it `!` when the node ends soon; also the
    /// name of the channel of marks.
    ///
    /// ARGV: the node, the milliseconds of a lease, the wish, the mark.
    ///
    /// Two channels of one server keep the order in which they are published on. So a message that precedes a mark does
    /// so for every node. A mark that cannot be published leaves no lease.
    private static let script: StaticString = """
        local node, holder = ARGV[1], redis.call('GET', KEYS[1])
        if holder ~= node and holder ~= node .. '!' then
          local is_free = not holder or string.sub(holder, -1) == '!'
          if ARGV[3] ~= 'take' or not is_free then return holder or '' end
        end
        redis.call('SET', KEYS[1], ARGV[3] == 'yield' and node .. '!' or node, 'PX', ARGV[2])
        local told = redis.pcall('PUBLISH', KEYS[1], ARGV[4])
        if type(told) == 'table' then redis.call('DEL', KEYS[1]) return told end
        return node
        """
}
