public import Core

/// The native protocol: JSON objects `{"event","data","topic"?,"ref"?}` in text frames (docs/protocol.md).
///
/// Unknown members are ignored, so that clients may be newer than the gateway; `null` counts as absent. Immutable; the
/// connections of a path without arguments share one, so that each holds one word of it.
public final class NativeDialect: Dialect {
    /// Depth and size of one message.
    public let json: JSON.Limits
    /// Topics in one subscribe or unsubscribe; beyond: `too_large`.
    public let subscribeBatchMax: Int
    /// Bytes of one publish's data; beyond: `too_large`.
    public let publishBytesMax: Int
    /// The values that the path of the client implies.
    public let socket: NativeSocket

    /// Makes the dialect with its limits, for the socket of a path.
    public init(
        json: JSON.Limits, subscribeBatchMax: Int, publishBytesMax: Int, socket: NativeSocket = .plain
    ) {
        self.json = json
        self.subscribeBatchMax = subscribeBatchMax
        self.publishBytesMax = publishBytesMax
        self.socket = socket
    }

    /// The dialect with the same limits, for the socket of another path.
    public func at(_ socket: NativeSocket) -> NativeDialect {
        NativeDialect(
            json: json, subscribeBatchMax: subscribeBatchMax, publishBytesMax: publishBytesMax, socket: socket)
    }

    /// The most bytes that a client's reference may have, quotes included.
    static let referenceBytesMax = 64

    /// The native encoder.
    public var encoders: [any EventEncoder] { [NativeEventEncoder()] }

    /// `switchboard.v1`.
    public var subprotocol: String? { NativeDialect.version }

    /// The subprotocol that a client may name.
    public static let version = "switchboard.v1"

    /// Begins a connection.
    public func converse() -> any DialectMachine { NativeMachine(self) }

    /// Reads one message; every refusal names the member at fault and how to correct it.
    public func decode(_ message: [UInt8], as kind: MessageKind = .text) -> Result<ClientRequest, DialectRefusal> {
        // Some clients send all messages as bytes (Starscream's `write(data:)`): bytes that are valid text are read as
        // text.
        let root: JSON.Value
        do {
            root = try JSON(parsing: message, limits: json).root
        } catch {
            return .failure(refused(refusal(of: error, kind)))
        }
        guard root.kind == .object else {
            return .failure(
                refused(
                    Refusal(.badRequest, "A message must be one JSON object, e.g. {\"event\":\"ping\",\"ref\":1}.")))
        }
        var ref: Reference?
        do throws(Refusal) {
            ref = try NativeDecoder.reference(root["ref"])
            let decoder = NativeDecoder(
                root: root, subscribeBatchMax: subscribeBatchMax, publishBytesMax: publishBytesMax, socket: socket)
            let command = try decoder.command()
            guard case .command = command, let ref else { return .success(ClientRequest(command: command, ref: ref)) }
            return .success(ClientRequest(command: command, ref: ref, operation: operation(of: ref)))
        } catch {
            return .failure(DialectRefusal(refusal: error, ref: ref, close: nil))
        }
    }

    /// Writes one message; `data`, `state` and references are inserted unchanged.
    public func encode(_ message: ServerMessage, ref: Reference?) -> [UInt8] {
        NativeEncoder.encode(message, ref: ref, socket)
    }

    /// The operation of a reference: a text names it across connections, a number on this connection only.
    ///
    /// A text that is no ``MessageID`` becomes `~` and its hexadecimal digits.
    private func operation(of ref: Reference) -> OperationName? {
        guard ref.bytes.first == UInt8(ascii: "\"") else { return .numbered(ref.bytes) }
        guard let text = try? JSON(parsing: ref.bytes, limits: json).root.stringBytes else { return nil }
        if let id = MessageID(text) { return .named(id) }
        let digits = Array("0123456789abcdef".utf8)
        let spelled = [UInt8(ascii: "~")] + text.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return MessageID(spelled).map { .named($0) }
    }

    private func refused(_ refusal: Refusal) -> DialectRefusal {
        DialectRefusal(refusal: refusal, ref: nil, close: nil)
    }

    private func refusal(of problem: JSON.Problem, _ kind: MessageKind) -> Refusal {
        switch problem {
        case .syntax:
            Refusal(.badRequest, "The message is not valid JSON; send one object and nothing after it.")
        case .invalidUTF8 where kind == .binary:
            Refusal(
                .badRequest, "A binary message must be JSON as UTF-8, like a text message; other bytes have no meaning."
            )
        case .invalidUTF8:
            Refusal(.badRequest, "The message is not valid UTF-8.")
        case .duplicateName:
            Refusal(.badRequest, "The message names a member twice in one object; each name may occur once.")
        case .tooDeep:
            Refusal(.tooLarge, "The message is nested deeper than \(json.depthMax) levels.")
        case .tooManyElements:
            Refusal(.tooLarge, "The message holds more than \(json.elementsMax) values.")
        }
    }
}
