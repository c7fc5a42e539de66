public import Foundation
public import SwitchboardClient

/// WebSockets on Linux, where `URLSession` has none: POSIX sockets and OpenSSL, one thread for each connection.
public struct LinuxTransport: SwitchboardTransport {
    private let trustedFile: String?

    /// Trusts the system's certificates, or those in a PEM file.
    public init(trusting file: String? = nil) { trustedFile = file }

    /// Dials on a thread of the socket's own.
    public func open(_ request: SocketRequest, events: @escaping @Sendable (SocketEvent) -> Void)
        -> any SwitchboardSocket
    {
        let socket = LinuxSocket()
        let file = trustedFile
        let thread = Thread {
            events(LinuxConversation(socket, request, events).run(trusting: file))
            socket.end()
        }
        thread.name = "switchboard-client"
        thread.start()
        return socket
    }
}

extension SwitchboardClient {
    /// A client of the gateway at `url`, such as `wss://gateway.example/ws`.
    ///
    /// - Parameter trusting: a PEM file of certificates to trust, instead of the system's.
    public convenience init(
        url: URL, token: TokenSource = .none, options: Options = Options(), trusting file: String? = nil
    ) {
        self.init(url: url, token: token, options: options, transport: LinuxTransport(trusting: file))
    }
}
