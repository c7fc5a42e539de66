public import Core

/// The settings of `tail`.
public struct TailSettings: Sendable, Equatable {
    /// The topics to follow, at least one, each once.
    public var topics: [Topic]
    /// The gateway to connect to.
    public var gateway: GatewayAddress
    /// The file with the token; `nil`: anonymous.
    public var tokenFile: String?
    /// The position after which events are printed first; only with one topic.
    public var since: Position?
    /// The number of events after which it stops; `nil`: never.
    public var count: Int?
}

extension TailSettings {
    /// Checks the operands and that the settings agree; problems are recorded in the values.
    init(_ values: inout SettingValues, operands: [String]) {
        let command = SettingSource.command("tail")
        topics = []
        for operand in operands {
            guard let topic = Topic(operand) else {
                values.problem(command, "expected a topic such as shop:42; got " + PrintableText.quoted(operand))
                continue
            }
            if !topics.contains(topic) { topics.append(topic) }
        }
        if operands.isEmpty { values.problem(command, "name at least one topic, e.g. shop:42") }
        if topics.count > values.limits.topicsPerConnectionMax {
            values.problem(command, "at most \(values.limits.topicsPerConnectionMax) topics")
        }
        if values.has("since") && operands.count > 1 {
            values.problem(values.source("since"), "goes with one topic; a position belongs to one log")
        }
        gateway = GatewayAddress(&values)
        tokenFile = values.text("token-file")
        since = values.text("since").flatMap { Position(Array($0.utf8)) }
        count = values.integer("count")
    }
}
