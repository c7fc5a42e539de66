public import Core

/// Socket.IO 5 over Engine.IO 4, for the clients of that name (docs/protocol/socketio.md lists their messages).
public struct SocketIODialect: Dialect {
    /// The settings and limits of a connection; times in milliseconds.
    public struct Settings: Sendable {
        /// The time from an answer to the next ping.
        public var pingIntervalMs: Int
        /// The time from a ping to the end of a client that does not answer.
        public var pingTimeoutMs: Int
        /// The most bytes of one packet, which the open packet announces, and of the attachments of one packet
        /// together.
        public var payloadBytesMax: Int
        /// The longest time that a connection may be in no namespace.
        public var connectMs: Int
        /// Depth and size of one packet.
        public var json: JSON.Limits
        /// Topics in one subscribe or unsubscribe; more are `too_large`.
        public var subscribeBatchMax: Int
        /// Bytes of one publish's data; more are `too_large`.
        public var publishBytesMax: Int

        /// Makes settings.
        public init(
            pingIntervalMs: Int, pingTimeoutMs: Int, payloadBytesMax: Int, connectMs: Int, json: JSON.Limits,
            subscribeBatchMax: Int, publishBytesMax: Int
        ) {
            self.pingIntervalMs = pingIntervalMs
            self.pingTimeoutMs = pingTimeoutMs
            self.payloadBytesMax = payloadBytesMax
            self.connectMs = connectMs
            self.json = json
            self.subscribeBatchMax = subscribeBatchMax
            self.publishBytesMax = publishBytesMax
        }
    }

    /// The main namespace, which every gateway has.
    public static let mainNamespace = "/"

    /// The settings and limits of connections.
    public let settings: Settings
    /// Makes an identifier that nobody can guess, of characters that JSON and URLs take as they are.
    let makeID: @Sendable () -> [UInt8]
    /// Makes a proof that a node wrote these bytes, in characters that JSON takes as they are; empty while it cannot.
    let prove: @Sendable ([UInt8]) -> [UInt8]
    /// The names, in the order of their numbers.
    let names: [[UInt8]]
    /// The rules and values of each namespace, in the same order.
    let sockets: [NativeSocket]
    private let numbers: [[UInt8]: Int]

    /// Makes the dialect of its namespaces, each a valid one and none twice.
    ///
    /// `rules` are those of the sockets of the same name. Without `prove` no client receives a `pid`.
    public init(
        namespaces: [String], rules: [String: SocketRules] = [:], settings: Settings,
        prove: @escaping @Sendable ([UInt8]) -> [UInt8] = { _ in [] },
        makeID: @escaping @Sendable () -> [UInt8]
    ) {
        precondition(namespaces.allSatisfy(SocketIODialect.isNamespace) && Set(namespaces).count == namespaces.count)
        self.settings = settings
        self.makeID = makeID
        self.prove = prove
        names = namespaces.map { Array($0.utf8) }
        sockets = namespaces.map { name in rules[name].flatMap { NativeSocket($0) } ?? .plain }
        numbers = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($0.element, $0.offset) })
    }

    /// Whether a name may be a namespace: `/` and up to 32 of `A-Z a-z 0-9 . _ -`.
    public static func isNamespace(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return bytes.first == UInt8(ascii: "/") && bytes.count <= 33
            && bytes.dropFirst().allSatisfy {
                ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_")
                    || $0 == UInt8(ascii: "-")
            }
    }

    /// Two for each namespace: events alone, and events with positions.
    public var encoders: [any EventEncoder] {
        names.flatMap { name in
            [false, true].map { SocketIOEventEncoder(namespace: name, positions: $0) }
        }
    }

    /// The number of a namespace; `nil` for an unknown name.
    func number(of namespace: [UInt8]) -> Int? { numbers[namespace] }

    /// Makes the machine of a connection that is a WebSocket from the beginning.
    public func converse() -> any DialectMachine { converse(sid: makeID(), upgrades: false) }

    /// Makes a machine with the session id `sid`; `upgrades` offers the client a move to a WebSocket.
    public func converse(sid: [UInt8], upgrades: Bool) -> SocketIOMachine {
        SocketIOMachine(self, sid: sid, upgrades: upgrades)
    }
}
