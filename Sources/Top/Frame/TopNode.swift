import Core

/// A process in a report: a gateway's own row, or a worker's or courier's announcement.
struct TopNode: Equatable {
    /// The id, as in logs.
    let id: String
    /// The name of its machine; of other processes the id.
    let name: String
    /// `gateway`, `worker` or `courier`.
    let role: String
    let version: String
    let uptimeSeconds: Int?
    /// `ready`, `draining`, the first reason for which it is not ready, or the role of another process.
    let state: String
    /// Whether the state needs the operator.
    let isWell: Bool
    let connections: Int?
    let memoryBytes: Int?
    /// Its counts; `nil` for other processes and older versions.
    let counts: TopCounts?
    /// The calls that wait for couriers, as it reads them.
    let services: [TopQueue]
    /// Changes of its counts; `nil` before its second answer.
    var rates: TopRates?

    /// The most services of a row that are read.
    private static let servicesMax = 256

    /// Reads a row of the answer about nodes; `nil` for any other value.
    init?(_ value: JSON.Value) {
        guard value.kind == .object, let id = value["id"]?.string else { return nil }
        func text(_ name: String) -> String? { value[name]?.string.map(TopText.clean) }
        self.id = TopText.clean(id)
        name = text("name") ?? ""
        let role = text("role") ?? "-"
        self.role = role
        version = text("version") ?? "-"
        uptimeSeconds = value["uptimeSeconds"]?.int
        connections = value["connections"]?.int.map { max(0, $0) }
        memoryBytes = value["memoryBytes"]?.int.map { max(0, $0) }
        counts = TopCounts(value["traffic"])
        services = value["services"]?.members.prefix(TopNode.servicesMax).compactMap { TopQueue(service: $0) } ?? []
        guard role == TopNode.gateway else {
            (state, isWell) = (role, true)
            return
        }
        let first = value["reasons"]?.members.first { _ in true }?.string.map(TopText.clean)
        if value["draining"]?.bool == true {
            (state, isWell) = ("draining", true)
        } else if value["ready"]?.bool == true {
            (state, isWell) = ("ready", true)
        } else {
            (state, isWell) = (first ?? "not ready", false)
        }
    }

    private static let gateway = "gateway"

    /// Whether it is a gateway.
    var isGateway: Bool { role == TopNode.gateway }
}
