import Configuration
import Core

/// One step of a case: something that happens, and the expected outcome.
///
/// Its members have been checked; values keep their place in the file, so that a difference has its line.
public struct TestStep: Sendable {
    /// The kinds of steps; the raw value is the member that a step of the kind has.
    enum Kind: String, CaseIterable {
        /// A caller calls a command.
        case call
        /// Time passes.
        case wait
        /// A caller subscribes to a topic, and receives its state.
        case join
        /// A key of Redis has a value.
        case key
        /// A service publishes an event.
        case publish
        /// A backend writes to Redis past the scripts.
        case redis
        /// A service outside answers a call that waits.
        case service

        /// The members of the kind beside its own word and ``TestStep/common``.
        var members: [String] {
            switch self {
            case .call: ["as", "name", "with", "operation", "answer", "error", "message"]
            case .wait, .redis: []
            case .join: ["as", "name", "state", "error", "message"]
            case .key: ["value"]
            case .publish: ["event", "data"]
            case .service: ["request", "reply", "failed"]
            }
        }

        /// The members that a step of the kind must have.
        var needed: [String] {
            switch self {
            case .key: ["value"]
            case .publish: ["event"]
            case .call, .wait, .join, .redis, .service: []
            }
        }
    }

    /// The members of steps of every kind.
    static let common = ["about", "events", "eventsInclude", "dead"]

    /// The step's object.
    let value: JSON.Value
    /// The kind.
    let kind: Kind

    /// The member of that name; `nil` when there is none.
    subscript(name: String) -> JSON.Value? { value[name] }

    /// The member of the kind's own word.
    var subject: JSON.Value { value[kind.rawValue] ?? value }

    /// The time that passes in a step `wait`, milliseconds; `nil` for a text that is no time.
    static func milliseconds(_ text: String) -> Int? {
        if text.hasSuffix("ms") {
            return ASCII.decimal(Array(text.utf8.dropLast(2))).flatMap { $0 <= 1_000_000_000 ? $0 : nil }
        }
        return (try? DurationText.seconds(parsing: text)).map { $0 * 1_000 }
    }
}
