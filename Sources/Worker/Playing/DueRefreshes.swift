/// The refreshes that a test has to run: for changed keys, and at the times for which they asked.
///
/// A value of facts: no I/O; times are milliseconds since 1970.
struct DueRefreshes {
    /// A refresh and the id that it is for.
    struct Name: Hashable {
        let refresh: Int
        let id: [UInt8]
    }

    /// The names whose keys have changed, in the order of the changes.
    private var changed: [Name] = []
    /// The times for which a refresh asked.
    private var times: [Name: Int] = [:]
    /// The names that a sweep runs again: all that did not say that nothing lives there, in their order.
    private var swept: [Name] = []

    /// Whether a refresh waits for its run.
    var isEmpty: Bool { changed.isEmpty }

    /// The first time for which a refresh asked; `nil` when none did.
    var nextMs: Int? { times.values.min() }

    /// A key of the name has changed.
    mutating func change(_ name: Name) {
        if !changed.contains(name) { changed.append(name) }
    }

    /// Takes the names that wait.
    mutating func take() -> [Name] {
        defer { changed = [] }
        for name in changed { times[name] = nil }
        return changed
    }

    /// A run has ended: `isIdle` says that nothing lives there, `againMs` is the time of another run.
    mutating func ended(_ name: Name, isIdle: Bool, againMs: Int?) {
        times[name] = againMs
        if isIdle {
            swept.removeAll { $0 == name }
        } else if !swept.contains(name) {
            swept.append(name)
        }
    }

    /// The time is `nowMs`: what asked for it, or for an earlier one, waits from now on.
    mutating func reach(_ nowMs: Int) {
        let due = times.filter { $0.value <= nowMs }
        for (name, _) in due.sorted(by: { ($0.value, $0.key.refresh) < ($1.value, $1.key.refresh) }) { change(name) }
    }

    /// Lets everything run that a sweep would run.
    mutating func sweep() {
        for name in swept { change(name) }
    }
}
