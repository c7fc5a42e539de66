// `URLSession` has WebSockets on Apple's systems only. The condition's second half lets Linux check the types
// (scripts/client-package.sh).
#if canImport(Darwin) || SWITCHBOARD_TYPES
    public import Foundation
    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    /// WebSockets of `URLSession`, with the system's proxies, VPNs and trust.
    ///
    /// Each socket has its own session, which ends with it: a session that is not invalidated retains its delegate for
    /// ever.
    public struct URLSessionTransport: SwitchboardTransport {
        /// The system's WebSockets.
        public init() {}

        /// Starts opening a socket.
        public func open(_ request: SocketRequest, events: @escaping @Sendable (SocketEvent) -> Void)
            -> any SwitchboardSocket
        {
            let configuration = URLSessionConfiguration.ephemeral
            // The client has its own deadlines. Waiting for a network would hide its absence.
            #if canImport(Darwin)
                configuration.waitsForConnectivity = false
            #endif
            configuration.timeoutIntervalForRequest = 120
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let socket = URLSessionSocket(events)
            let session = URLSession(configuration: configuration, delegate: socket, delegateQueue: queue)
            let task = session.webSocketTask(with: request.url, protocols: request.protocols)
            task.maximumMessageSize = URLSessionSocket.messageBytesMax
            socket.begin(task, session)
            return socket
        }
    }

    /// One socket, and the delegate of its session.
    final class URLSessionSocket: NSObject, SwitchboardSocket, URLSessionWebSocketDelegate {
        /// The most bytes of one message, more than the gateway ever sends: 16 MiB.
        static let messageBytesMax = 16 << 20

        private struct State: Sendable {
            var task: URLSessionWebSocketTask?
            var session: URLSession?
            /// The receiver of events; `nil` once the end was reported.
            var events: (@Sendable (SocketEvent) -> Void)?
            var closeCode: Int?
        }

        private let state: Locked<State>

        /// A socket without a task yet.
        init(_ events: @escaping @Sendable (SocketEvent) -> Void) { state = Locked(State(events: events)) }

        /// Starts the task, and reads until it ends.
        func begin(_ task: URLSessionWebSocketTask, _ session: URLSession) {
            state.with { state in
                state.task = task
                state.session = session
            }
            task.resume()
            receive(task)
        }

        /// Sends messages in their order; a task for each would reorder them.
        func send(_ text: String) {
            state.with { $0.task }?.send(.string(text)) { [weak self] error in
                if let error { self?.failed(error) }
            }
        }

        /// Ends the socket, and reports its end at once.
        func close(code: Int) {
            let task = state.with { state in
                state.closeCode = code
                return state.task
            }
            task?.cancel(with: URLSessionWebSocketTask.CloseCode(rawValue: code) ?? .normalClosure, reason: nil)
            over(code: code, nil, "closed")
        }

        /// Receives again after each message only: a failed task would loop.
        private func receive(_ task: URLSessionWebSocketTask) {
            task.receive { [weak self] result in
                switch result {
                case .success(.string(let text)):
                    self?.tell(.text(text))
                    self?.receive(task)
                case .success(.data(let bytes)):
                    self?.tell(.text(String(decoding: bytes, as: UTF8.self)))
                    self?.receive(task)
                case .success: self?.receive(task)
                case .failure(let error): self?.failed(error)
                }
            }
        }

        private func tell(_ event: SocketEvent) { state.with { $0.events }?(event) }

        /// A failure precedes the close code; the delegate has a second to report the code.
        private func failed(_ error: any Error) {
            let text = URLSessionSocket.words(error)
            Task { [weak self] in
                try? await Task.sleep(for: .seconds(1))  // lint:allow It waits for the delegate, at most.
                guard let self else { return }
                let task = self.state.with { $0.task }
                self.over(code: task?.closeCode.rawValue ?? 0, task?.response, text)
            }
        }

        /// Reports the end, once, and releases the session.
        private func over(code: Int, _ response: URLResponse?, _ message: String) {
            let (events, session) = state.with { state in
                defer {
                    state.events = nil
                    state.session = nil
                }
                return (state.events, state.session)
            }
            let status = (response as? HTTPURLResponse)?.statusCode
            events?(.closed(code: code, httpStatus: status == 101 ? nil : status, message: message))
            session?.finishTasksAndInvalidate()
        }

        /// The upgrade was accepted.
        func urlSession(_: URLSession, webSocketTask _: URLSessionWebSocketTask, didOpenWithProtocol _: String?) {
            tell(.opened)
        }

        /// The gateway sent a close frame.
        func urlSession(
            _: URLSession, webSocketTask _: URLSessionWebSocketTask,
            didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason _: Data?
        ) {
            over(code: closeCode.rawValue, nil, "closed")
        }

        /// The task ended, also by a refused upgrade.
        func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            over(code: state.with { $0.closeCode } ?? 0, task.response, error.map(URLSessionSocket.words) ?? "ended")
        }

        /// The system's description of a failed dial, with its code before the text.
        private static func words(_ error: any Error) -> String {
            guard let code = (error as? URLError)?.code, let kind = kinds[code] else { return "\(error)" }
            return "\(kind.rawValue): \(error.localizedDescription)"
        }

        private static let kinds: [URLError.Code: ConnectionStatus.Reason.Code] = [
            .serverCertificateUntrusted: .untrusted, .serverCertificateHasBadDate: .untrusted,
            .serverCertificateHasUnknownRoot: .untrusted, .serverCertificateNotYetValid: .untrusted,
            .secureConnectionFailed: .notTLS, .cannotFindHost: .unresolved, .dnsLookupFailed: .unresolved,
            .badURL: .badAddress, .unsupportedURL: .badAddress,
            .appTransportSecurityRequiresSecureConnection: .badAddress, .cannotConnectToHost: .unreachable,
            .notConnectedToInternet: .unreachable, .timedOut: .noAnswer,
        ]
    }

    extension SwitchboardClient {
        /// A client of the gateway at `url`, such as `wss://gateway.example/ws`.
        public convenience init(url: URL, token: TokenSource = .none, options: Options = Options()) {
            self.init(url: url, token: token, options: options, transport: URLSessionTransport())
        }
    }
#endif
