import Core
import Dialects
import Testing

/// What the suites of the native dialect share.
enum Native {
    static let dialect = NativeDialect(
        json: JSON.Limits(depthMax: 8, elementsMax: 200), subscribeBatchMax: 3, publishBytesMax: 40)

    static func decode(_ text: String) -> Result<ClientRequest, DialectRefusal> {
        dialect.decode(Array(text.utf8))
    }

    /// The command of a message that must be understood.
    static func command(_ text: String, _ location: SourceLocation = #_sourceLocation) throws -> ClientCommand {
        try #require(try? decode(text).get(), "\(decode(text))", sourceLocation: location).command
    }

    /// The refusal of a message that must not be.
    static func refusal(_ text: String, _ location: SourceLocation = #_sourceLocation) throws -> DialectRefusal {
        guard case .failure(let refusal) = decode(text) else {
            try #require(Bool(false), "understood: \(text)", sourceLocation: location)
            throw Unreachable()
        }
        return refusal
    }

    static func topic(_ text: String) throws -> Topic { try #require(Topic(text)) }

    static func position(_ epoch: String, _ offset: Int) throws -> Position {
        try #require(Position(epoch: Array(epoch.utf8), offset: offset))
    }

    static func reference(_ text: String) throws -> Reference { try #require(Reference(Array(text.utf8))) }

    static func encode(_ message: ServerMessage, _ ref: Reference? = nil) -> String {
        String(decoding: dialect.encode(message, ref: ref), as: UTF8.self)
    }

    /// The text of an event; it has to be one unit of text.
    static func event(_ topic: Topic, _ name: EventName, _ data: [UInt8], _ position: Position?) -> String {
        let message = ChannelMessage(position: position, event: name, id: nil, data: data)
        let units = dialect.encoders[0].event(topic, message)
        return units.map { ($0.kind == .text ? "" : "bytes:") + String(decoding: $0.bytes, as: UTF8.self) }
            .joined(separator: "|")
    }

    private struct Unreachable: Error {}
}
