public import Core
import Reactors
public import Rights

/// The callers that ask most of this node, in the last one or two minutes.
///
/// Bounded in callers and in time: after two windows nothing of a caller is left. Its lock is taken for a publish, a
/// command, a read and a refusal, never for a delivered message. Thread: any.
public final class Talkers: Sendable {
    /// The name under which callers are counted; the raw value is its word in queries.
    public enum Group: String, CaseIterable, Sendable {
        case user, address, namespace, key
    }

    /// The length of a window, milliseconds.
    static let windowMs = 60_000
    private static let capacity = 128

    /// Slices, so that counting a known name allocates nothing.
    private struct Window {
        var users = TalkerTable<ArraySlice<UInt8>>(capacity: Talkers.capacity)
        var addresses = TalkerTable<ArraySlice<UInt8>>(capacity: Talkers.capacity)
        var namespaces = TalkerTable<ArraySlice<UInt8>>(capacity: Talkers.capacity)
        var keys = TalkerTable<ArraySlice<UInt8>>(capacity: Talkers.capacity)

        mutating func add(_ figures: TalkerFigures, _ payer: Payer) {
            switch payer {
            case .crowd: break
            case .user(let user): users.add(figures, of: user[...])
            case .service(let name): keys.add(figures, of: name[...])
            case .address(let address): addresses.add(figures, of: address.bytes[...])
            case .publishable(let name, let address):
                keys.add(figures, of: Array(name.utf8)[...])
                addresses.add(figures, of: address.bytes[...])
            }
        }

        func all(_ group: Group) -> [(key: ArraySlice<UInt8>, figures: TalkerFigures)] {
            switch group {
            case .user: users.all
            case .address: addresses.all
            case .namespace: namespaces.all
            case .key: keys.all
            }
        }
    }

    private struct State {
        var number = 0
        var current = Window()
        var last = Window()

        mutating func turn(nowMs: Int) {
            let now = nowMs / Talkers.windowMs
            guard now != number else { return }
            last = now == number + 1 ? current : Window()
            current = Window()
            number = now
        }
    }

    private let state = Guarded(State())

    /// Nobody has asked anything.
    public init() {}

    /// Counts what a payer did, on a topic of that namespace where there is one.
    ///
    /// Users and backends are counted by their name, callers without a token by their address.
    public func count(_ figures: TalkerFigures, _ payer: Payer, namespace: ArraySlice<UInt8>? = nil, nowMs: Int) {
        state.withLock { state in
            state.turn(nowMs: nowMs)
            if let namespace { state.current.namespaces.add(figures, of: namespace) }
            state.current.add(figures, payer)
        }
    }

    /// Counts a refusal, also for the address of a caller that has a name.
    public func refused(_ payer: Payer, at address: IPAddress?, nowMs: Int) {
        let one = TalkerFigures(refusals: 1)
        count(one, payer, nowMs: nowMs)
        guard payer.address == nil, let address else { return }
        state.withLock { $0.current.addresses.add(one, of: address.limitKey.bytes[...]) }
    }

    /// The callers of a group, in no particular order.
    public func all(_ group: Group, nowMs: Int) -> [(key: [UInt8], figures: TalkerFigures)] {
        let (current, last) = state.withLock { state in
            state.turn(nowMs: nowMs)
            return (state.current.all(group), state.last.all(group))
        }
        var sums: [ArraySlice<UInt8>: TalkerFigures] = [:]
        for (key, figures) in current + last { sums[key] = (sums[key] ?? TalkerFigures()) + figures }
        return sums.map { (Talkers.name($0.key, group), $0.value) }
    }

    private static func name(_ key: ArraySlice<UInt8>, _ group: Group) -> [UInt8] {
        guard group == .address, let address = IPAddress(bytes: key) else { return Array(key) }
        return Array("\(address)".utf8)
    }
}
