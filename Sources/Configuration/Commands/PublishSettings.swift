public import Core

/// The settings of `publish`.
public struct PublishSettings: Sendable, Equatable {
    /// The topic to publish on.
    public var topic: Topic
    /// The event's name.
    public var event: EventName
    /// The event's data, the text of one JSON object; `{}` unless it is given.
    public var json: [UInt8]
    /// The idempotency key; `nil` for none.
    public var id: MessageID?
    /// The gateway to publish through.
    public var gateway: GatewayAddress
    /// The file with the API key.
    public var apiKeyFile: String
}

extension PublishSettings {
    /// Checks the operands and that the settings agree; `nil` with problems recorded when they do not.
    init?(_ values: inout SettingValues, operands: [String]) {
        let command = SettingSource.command("publish")
        gateway = GatewayAddress(&values)
        // Dev's API key is sent to dev's gateway only, unless the operator names its directory.
        if values.has("url") && !values.has("api-key-file") && !values.has("state") {
            values.problem(values.source("url"), "needs --api-key-file: dev's key is not sent elsewhere")
        }
        apiKeyFile = values.text("api-key-file") ?? gateway.state.apiKey
        id = values.text("id").flatMap { MessageID(Array($0.utf8)) }
        guard (2...3).contains(operands.count) else {
            values.problem(command, "expected TOPIC EVENT [JSON]; got \(operands.count) of them")
            return nil
        }
        let topic = Topic(operands[0])
        if topic == nil {
            values.problem(command, "expected a topic such as shop:42; got " + PrintableText.quoted(operands[0]))
        }
        let event = EventName(operands[1])
        if event == nil {
            values.problem(
                command,
                "expected an event name, 1 to 64 of A-Z a-z 0-9 . _ : / -; got "
                    + PrintableText.quoted(operands[1]))
        }
        json = operands.count == 3 ? Array(operands[2].utf8) : Array("{}".utf8)
        do {
            let document = try JSON(parsing: json, limits: values.limits.json)
            if document.root.kind != .object {
                values.problem(command, "expected a JSON object; got " + FileReader.nameOfKind(document.root))
            }
        } catch {
            values.problem(command, "expected a JSON object: " + error.rawValue)
        }
        guard let topic, let event else { return nil }
        self.topic = topic
        self.event = event
    }
}
