public import Foundation

/// The way by which a client reaches its gateway.
///
/// Apps use the transport of their system; tests supply their own.
public protocol SwitchboardTransport: Sendable {
    /// Opens a WebSocket, and reports its events in order, from any thread.
    ///
    /// `opened` is reported at most once, then texts, then exactly one `closed`, also after `close`. `events` is
    /// released after `closed`.
    func open(_ request: SocketRequest, events: @escaping @Sendable (SocketEvent) -> Void) -> any SwitchboardSocket
}

/// A WebSocket of a transport.
public protocol SwitchboardSocket: Sendable {
    /// Sends a text frame after the earlier ones; never waits, and does nothing on a closed socket.
    func send(_ text: String)
    /// Ends the socket with a close code.
    func close(code: Int)
}

/// The address and the subprotocols of a WebSocket to open.
public struct SocketRequest: Sendable, Hashable {
    /// `ws://` or `wss://`.
    public var url: URL
    /// The subprotocols to offer.
    ///
    /// One of them may hold a token: never log them.
    public var protocols: [String]
}

/// One event of a WebSocket.
public enum SocketEvent: Sendable, Hashable {
    /// The upgrade was accepted.
    case opened
    /// A text frame.
    case text(String)
    /// The end.
    ///
    /// `code` is 0 without a close frame; `httpStatus` is that of a refused upgrade.
    case closed(code: Int, httpStatus: Int?, message: String)

    /// The end of a dial that failed: the reason's code precedes the text, where the status finds it.
    public static func failed(_ code: ConnectionStatus.Reason.Code, _ message: String) -> SocketEvent {
        .closed(code: 0, httpStatus: nil, message: "\(code.rawValue): \(message)")
    }
}
