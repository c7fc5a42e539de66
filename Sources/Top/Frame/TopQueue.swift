import Core

/// Work that waits in Redis, and the part of it that was given up.
struct TopQueue: Equatable {
    /// `outbox`, or the kind and name of the receiver.
    let name: String
    /// Entries that wait; `nil` when not known.
    let waiting: Int?
    /// Age of the oldest of them, seconds; `nil` when not known.
    let oldestSeconds: Int?
    /// Dead letters that are kept; `nil` when not known.
    var dead: Int?
    /// The cause of the last failure; empty without one.
    let lastError: String

    /// A queue of these figures.
    init(_ name: String, waiting: Int?, oldestSeconds: Int?, dead: Int?, lastError: String = "") {
        self.name = TopText.clean(name)
        (self.waiting, self.oldestSeconds, self.dead) = (waiting, oldestSeconds, dead)
        self.lastError = TopText.clean(lastError)
    }

    /// Reads a service in the row of a node; `nil` for any other value.
    init?(service value: JSON.Value) {
        guard value.kind == .object, let name = value["service"]?.string else { return nil }
        self.init(
            "service " + name, waiting: value["waiting"]?.int, oldestSeconds: value["oldestSeconds"]?.int,
            dead: value["dead"]?.int)
    }

    /// Reads the state of the outbox; `nil` for any other value.
    init?(outbox value: JSON.Value?) {
        guard let value, value.kind == .object else { return nil }
        self.init(
            "outbox", waiting: value["entries"]?.int, oldestSeconds: value["oldestSeconds"]?.int,
            dead: value["dead"]?.int, lastError: value["lastError"]?["reason"]?.string ?? "")
    }

    /// Reads the state of a webhook's receiver; `nil` for any other value.
    init?(webhook value: JSON.Value, dead: Int?) {
        guard value.kind == .object, let name = value["receiver"]?.string else { return nil }
        self.init(
            "webhook " + name, waiting: value["topicsWaiting"]?.int, oldestSeconds: value["oldestSeconds"]?.int,
            dead: dead, lastError: value["lastError"]?["reason"]?.string ?? "")
    }
}
