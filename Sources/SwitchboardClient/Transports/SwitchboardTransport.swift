public import Foundation

/// How a client reaches its gateway.
///
/// Apps use the one of their system; tests bring their own.
public protocol SwitchboardTransport: Sendable {
    /// Opens a WebSocket, and says what happens to it, in order and from any thread: `opened` at most once, then texts,
    /// then exactly one `closed`, also after `close`. `events` is let go of after `closed`.
    func open(_ request: SocketRequest, events: @escaping @Sendable (SocketEvent) -> Void) -> any SwitchboardSocket
}

/// A WebSocket of a transport.
public protocol SwitchboardSocket: Sendable {
    /// Sends a text frame behind those before it. It never waits; on a closed socket nothing happens.
    func send(_ text: String)
    /// Ends the socket with a close code.
    func close(code: Int)
}

/// What to open.
public struct SocketRequest: Sendable, Hashable {
    /// `ws://` or `wss://`.
    public var url: URL
    /// The subprotocols to offer.
    ///
    /// One of them may hold a token: never log them.
    public var protocols: [String]
}

/// What happens to a WebSocket.
public enum SocketEvent: Sendable, Hashable {
    /// The upgrade was accepted.
    case opened
    /// A text frame.
    case text(String)
    /// The end. `code` is 0 without a close frame; `httpStatus` that of a refused upgrade.
    case closed(code: Int, httpStatus: Int?, message: String)

    /// The end of a dial that failed: its kind stands before the words, where the status finds it.
    public static func failed(_ code: Status.Reason.Code, _ message: String) -> SocketEvent {
        .closed(code: 0, httpStatus: nil, message: "\(code.rawValue): \(message)")
    }
}
