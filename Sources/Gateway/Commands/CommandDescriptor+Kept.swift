import Commands
import Core
import Rights

/// The data that a call of a command leaves in Redis, as its caller pays for them.
extension CommandDescriptor {
    /// How long data outlive a call when none of the command's namespaces keeps a log.
    private static let dataSeconds = 86_400

    /// The bytes of the call's arguments, for the life of its home's log.
    ///
    /// A budget refills within that life, so all that pay from one budget must have the same.
    func kept(_ bound: BoundArguments, _ policies: [String: NamespacePolicy]) -> KeptEvent {
        let bytes = bound.values.reduce(0) { $0 + ($1?.count ?? 0) }
        let seconds = policies[home?.namespace ?? ""]?.logSeconds ?? CommandDescriptor.dataSeconds
        return KeptEvent(bytes: bytes, eventsMax: 1, bytesMax: nil, seconds: seconds)
    }

    /// What a call of a command that writes costs before it runs.
    func bill(
        _ bound: BoundArguments, _ role: CommandRole, _ policies: [String: NamespacePolicy]
    ) -> Budgets.Bill {
        Budgets.Bill(
            command: name, rates: rates, role: role, us: priceMicroseconds, kept: kept(bound, policies),
            namespace: keptNamespace)
    }

    /// The events of a call that were told in the logs of its topics: so many bytes, on the call's home.
    ///
    /// Those of other topics count with them, and leave with them once a log of the home would be full.
    func told(
        _ bound: BoundArguments, _ bytes: Int, _ policies: [String: NamespacePolicy]
    ) -> (events: KeptEvent, topic: Topic)? {
        guard let topic = home?.topic({ bound.value($0, self) }) else { return nil }
        let policy = policies[home?.namespace ?? ""]
        let events = KeptEvent(
            bytes: bytes, eventsMax: policy?.logEventsMax ?? 100, bytesMax: policy?.logBytesMax,
            seconds: policy?.logSeconds ?? CommandDescriptor.dataSeconds)
        return (events, topic)
    }

    /// The namespace in whose budget the call's bytes are.
    private var keptNamespace: [UInt8] { Array((home?.namespace ?? name).utf8) }
}
