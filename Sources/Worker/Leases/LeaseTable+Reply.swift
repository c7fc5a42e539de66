import Core
import RedisLink

extension LeaseTable.Reply {
    /// Reads the reply of `lease.lua`; `nil` when it is malformed.
    init?(_ value: RESPValue) {
        guard let parts = value.elements, parts.count == 2, let names = parts[0].elements,
            let held = parts[1].elements, held.count % 2 == 0
        else { return nil }
        workers = names.compactMap(\.bytes)
        tokens = [:]
        for index in stride(from: 0, to: held.count, by: 2) {
            guard let partition = held[index].bytes.flatMap({ ASCII.decimal($0) }),
                let token = held[index + 1].bytes.flatMap({ ASCII.decimal($0) })
            else { return nil }
            tokens[partition] = token
        }
    }
}
