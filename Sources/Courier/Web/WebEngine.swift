import CCurl
import Core
public import Reactors

/// Makes requests over HTTP/2 and HTTP/1.1 by libcurl, on a reactor.
///
/// Connections are kept and shared; certificates are verified; redirects are answers like others. Requests in flight,
/// waiting requests and the size of answers are bounded. Nothing is repeated. Thread: the reactor's.
@safe public final class WebEngine {
    /// The receiver of a result; called once, and never before ``send(_:_:)`` has returned.
    public typealias Completion = (Result<WebReply, WebFailure>) -> Void

    private let reactor: Reactor
    private let limits: WebLimits
    private let multi: UnsafeMutableRawPointer
    private var timer: ReactorTimer?
    private var teller: ReactorTimer?
    private var sockets: [Int32: CurlSocket] = [:]
    private var exchanges: [ObjectIdentifier: WebExchange] = [:]
    private var waiting = Ring<(request: WebRequest, completion: Completion)>()
    private var ended: [() -> Void] = []

    /// The most streams of one connection, as far as the peer allows.
    ///
    /// libcurl's own limit of 100 would open a connection for each request beyond.
    private static let streamsMax = 1_000
    /// The most idle connections that are kept.
    private static let idleMax = 16
    /// Whether the library is ready, once for the process.
    private static let isStarted = switchboard_curl_start() == 1

    /// Makes an engine on the reactor's thread.
    public init(_ reactor: Reactor, _ limits: WebLimits) throws(Errno) {
        guard WebEngine.isStarted, let multi = unsafe curl_multi_init() else { throw Errno.noMemory }
        self.reactor = reactor
        self.limits = limits
        unsafe self.multi = unsafe multi
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard unsafe switchboard_curl_watch(multi, WebEngine.socketChanged, WebEngine.timerChanged, me) == 1 else {
            throw Errno.noMemory
        }
        for (option, number) in [
            (CURLMOPT_MAX_HOST_CONNECTIONS, limits.hostConnectionsMax),
            (CURLMOPT_MAX_CONCURRENT_STREAMS, WebEngine.streamsMax), (CURLMOPT_MAXCONNECTS, WebEngine.idleMax),
        ] {
            _ = unsafe switchboard_curl_set_multi(multi, option, number)
        }
        timer = try ReactorTimer(reactor) { [unowned self] in work(-1, 0) }
        teller = try ReactorTimer(reactor) { [unowned self] in tell() }
    }

    deinit {
        // The handle is empty after stop().
        unsafe curl_multi_cleanup(multi)
    }

    /// Requests that were begun and have no answer.
    public var inFlightCount: Int { exchanges.count }
    /// Requests that wait to be begun.
    public var waitingCount: Int { waiting.count }

    /// Makes a request, at once or when others have ended.
    public func send(_ request: WebRequest, _ completion: @escaping Completion) {
        guard request.isSound else { return end(completion, .failure(.unsound)) }
        guard waiting.count < limits.waitingMax else { return end(completion, .failure(.full)) }
        waiting.append((request, completion))
        begin()
    }

    /// Ends everything; requests in flight or waiting fail as `stopped`.
    public func stop() {
        let open = Array(exchanges.values)
        for exchange in open { forget(exchange, .failure(.stopped)) }
        while let next = waiting.popFirst() { end(next.completion, .failure(.stopped)) }
        for socket in sockets.values { socket.end() }
        sockets = [:]
        tell()
        timer?.invalidate()
        teller?.invalidate()
        (timer, teller) = (nil, nil)
        // libcurl may close sockets until `deinit`; from now on it does not report them.
        _ = unsafe switchboard_curl_watch(multi, nil, nil, nil)
    }

    private func begin() {
        while inFlightCount < limits.inFlightMax, let next = waiting.popFirst() {
            guard next.request.deadlineMs > reactor.nowMs else {
                end(next.completion, .failure(.late))
                continue
            }
            guard let exchange = WebExchange(next.request, limits, nowMs: reactor.nowMs, next.completion) else {
                end(next.completion, .failure(.unsound))
                continue
            }
            exchanges[ObjectIdentifier(exchange)] = exchange
            if unsafe curl_multi_add_handle(multi, exchange.easy) != CURLM_OK {
                exchanges[ObjectIdentifier(exchange)] = nil
                end(next.completion, .failure(.unreachable))
            }
        }
    }

    // MARK: Ends

    private func end(_ completion: @escaping Completion, _ result: Result<WebReply, WebFailure>) {
        ended.append { completion(result) }
        teller?.set(atMs: reactor.nowMs)
    }

    private func forget(_ exchange: WebExchange, _ result: Result<WebReply, WebFailure>) {
        _ = unsafe curl_multi_remove_handle(multi, exchange.easy)
        exchanges[ObjectIdentifier(exchange)] = nil
        ended.append { exchange.completion(result) }
    }

    private func tell() {
        let actions = ended
        ended = []
        for action in actions { action() }
    }

    /// Lets libcurl work, then reports the results.
    private func work(_ socket: Int32, _ events: Int32) {
        unsafe switchboard_curl_work(multi, socket, events)
        var code = CURLE_OK
        while let easy = unsafe switchboard_curl_ended(multi, &code) {
            guard let exchange = unsafe WebExchange.known(switchboard_curl_context(easy)) else { continue }
            forget(exchange, exchange.result(code))
        }
        begin()
        tell()
    }

    // MARK: What libcurl asks for

    private static func known(_ context: UnsafeMutableRawPointer?) -> WebEngine? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<WebEngine>.fromOpaque(context).takeUnretainedValue()
    }

    /// CURLMOPT_SOCKETFUNCTION(3): called within libcurl, which must not be called from here.
    private static let socketChanged: curl_socket_callback = { _, descriptor, wish, context, _ in
        unsafe WebEngine.known(context)?.watch(descriptor, wish)
        return 0
    }

    /// CURLMOPT_TIMERFUNCTION(3): one deadline, in milliseconds from now; -1 for none.
    private static let timerChanged: curl_multi_timer_callback = { _, pauseMs, context in
        guard let engine = unsafe WebEngine.known(context) else { return 0 }
        if pauseMs < 0 {
            engine.timer?.clear()
        } else {
            engine.timer?.set(atMs: engine.reactor.nowMs + min(pauseMs, 3_600_000))
        }
        return 0
    }

    private func watch(_ descriptor: Int32, _ wish: Int32) {
        guard wish != CURL_POLL_REMOVE else {
            sockets.removeValue(forKey: descriptor)?.end()
            return
        }
        var interest: Readiness = []
        if wish & CURL_POLL_IN != 0 { interest.insert(.read) }
        if wish & CURL_POLL_OUT != 0 { interest.insert(.write) }
        if let known = sockets[descriptor] { return known.set(interest) }
        // Without a watch the transfer ends at its deadline.
        sockets[descriptor] = try? CurlSocket(reactor, descriptor, interest) { [unowned self] readiness in
            var events: Int32 = 0
            if readiness.contains(.read) { events |= CURL_CSELECT_IN }
            if readiness.contains(.write) { events |= CURL_CSELECT_OUT }
            if readiness.contains(.failed) { events |= CURL_CSELECT_ERR }
            work(descriptor, events)
        }
    }
}

@available(*, unavailable)
extension WebEngine: Sendable {}
