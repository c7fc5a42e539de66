import Commands
import Core
import Operations
import Rights

/// The data that a call of a command leaves in Redis, for which its caller's budget is charged.
extension CommandDescriptor {
    /// Seconds for which data outlive a call when none of the command's namespaces keeps a log.
    private static let dataSeconds = 86_400

    /// The bytes of the call's arguments, for the life of its home's log.
    ///
    /// A budget refills within that life, so all calls charged to one budget must have the same.
    func kept(_ bound: BoundArguments, _ policies: [String: NamespacePolicy]) -> KeptEvent {
        let bytes = bound.values.reduce(0) { $0 + ($1?.count ?? 0) }
        let seconds = policies[home?.namespace ?? ""]?.logSeconds ?? CommandDescriptor.dataSeconds
        return KeptEvent(bytes: bytes, eventsMax: 1, bytesMax: nil, seconds: seconds)
    }

    /// The charges of a writing command before it runs.
    func bill(
        _ bound: BoundArguments, _ role: CommandRole, _ policies: [String: NamespacePolicy]
    ) -> Budgets.Bill {
        Budgets.Bill(
            command: name, rates: rates, role: role, us: priceMicroseconds, kept: kept(bound, policies),
            namespace: keptNamespace)
    }

    /// The bytes of the events that a call published in the logs of its topics, charged on the call's home.
    ///
    /// Events of other topics are included, and expire with them once a log of the home would be full.
    func sent(
        _ bound: BoundArguments, _ bytes: Int, _ policies: [String: NamespacePolicy]
    ) -> (events: KeptEvent, topic: Topic)? {
        guard let topic = home?.topic({ bound.value($0, self) }) else { return nil }
        let policy = policies[home?.namespace ?? ""]
        let events = KeptEvent(
            bytes: bytes, eventsMax: policy?.logEventsMax ?? 100, bytesMax: policy?.logBytesMax,
            seconds: policy?.logSeconds ?? CommandDescriptor.dataSeconds)
        return (events, topic)
    }

    /// The namespace whose budget is charged for the call's bytes.
    private var keptNamespace: [UInt8] { Array((home?.namespace ?? name).utf8) }
}
