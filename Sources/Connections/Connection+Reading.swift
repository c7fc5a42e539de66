internal import Core
internal import Glibc
internal import Reactors

/// The inbound side: connect, PROXY header, handshake, data.
extension Connection {
    /// The ``failureText`` of a peer that left before TLS was established, as the health checks of balancers do.
    public static let endedHandshakeText = "the peer ended the TLS handshake"

    func finishConnecting() {
        if let failure = Sockets.pendingError(raw) {
            failureText = failure.description
            return abort(.peerGone)
        }
        guard !needsTLS || tls != nil else {
            failureText = "TLS could not be set up"
            return abort(.tlsFailed)
        }
        updateInterestToRead()
        phase = .handshaking
        if needsTLS { advanceHandshake() } else { establish() }
    }

    func readProxyHeader(_ header: ProxyHeader) {
        var header = header
        let raw = raw
        let buffer = unsafe context.receiveBuffer
        // Peeking leaves the bytes after the header in the socket, so that TLS finds its first byte there.
        guard let count = try? retrying({ unsafe recv(raw, buffer.baseAddress, 1_024, Int32(MSG_PEEK)) })
        else { return }
        guard count > 0 else { return abort(.peerGone) }
        let offered = unsafe Span<UInt8>(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        let step = header.feed(offered)
        let consumed: Int
        switch step {
        case .more: consumed = count
        case .done(let length, _): consumed = length
        case .malformed: return abort(.proxyHeader)
        }
        _ = unsafe recv(raw, buffer.baseAddress, consumed, 0)
        if case .done(_, let source) = step {
            if let source { address = source }
            admit()
            if case .handshaking = phase, let token { context.reactor.markReadable(token) }
        } else {
            phase = .proxyHeader(header)
        }
    }

    /// Takes the handshake's next step; the answer to a hello is signed, so it comes behind the flushes.
    func takeHandshakeStep() {
        if let token, tls?.awaitsHello == true { context.reactor.markLate(token) } else { advanceHandshake() }
    }

    /// Answers the hello.
    public func late() {
        if case .handshaking = phase { advanceHandshake() }
    }

    func advanceHandshake() {
        guard let token else { return }
        if context.suspectsProxyHeaders, isClient, beginsWithProxyHeader() { return abort(.strayProxyHeader) }
        guard context.mayHandshake(isWaiting: &isWaitingForTurn) else { return context.reactor.markReadable(token) }
        let startUs = Clock.monotonicUs()
        guard let outcome = tls?.handshake() else { return }
        context.spentOnHandshake(us: Clock.monotonicUs() - startUs)
        switch outcome {
        case .moved:
            context.statistics.handshakes.add(1)
            if tls?.wasResumed == true { context.statistics.handshakesResumed.add(1) }
            updateInterestToRead()
            establish()
            // TLS may already hold bytes of the peer, which epoll does not report.
            if isOpen, !isReadPaused, tls?.holdsInput == true { readAvailable() }
        case .wantsRead:
            context.reactor.setInterest(token, .read)
        case .wantsWrite:
            context.reactor.setInterest(token, [.read, .write])
        case .ended, .truncated:
            failureText = Connection.endedHandshakeText
            abort(.tlsFailed)
        case .failed(let reason):
            failureText = reason
            // The bytes that caused the failure are lost; the first bytes of later connections are checked.
            if isClient { context.suspectsProxyHeaders = true }
            abort(.tlsFailed)
        }
    }

    /// Whether the socket's bytes begin with a PROXY header instead of TLS.
    private func beginsWithProxyHeader() -> Bool {
        let (raw, buffer) = unsafe (raw, context.receiveBuffer)
        guard let count = try? retrying({ unsafe recv(raw, buffer.baseAddress, 16, Int32(MSG_PEEK)) }), count > 0 else {
            return false
        }
        return unsafe ProxyHeader.begins(
            Span<UInt8>(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[..<count])))
    }

    func readAvailable() {
        let buffer = unsafe context.receiveBuffer
        for _ in 0..<Connection.readsPerTick {
            let outcome = unsafe tls?.read(into: buffer) ?? plainRead(into: buffer)
            switch outcome {
            case .moved(let count):
                context.statistics.bytesIn.add(count)
                bytesIn += count
                unsafe handler?.received(Span(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[..<count])))
                guard isOpen, !isReadPaused else { return }
                // A plain read that did not fill the buffer has emptied the socket. With TLS, epoll reports the bytes
                // that the socket may still hold: mostly there are none, and checking costs a system call.
                if tls?.holdsInput ?? (count == buffer.count) { continue }
                return
            case .wantsRead:
                return
            case .wantsWrite:
                return updateInterest(alsoWrite: true)
            case .ended, .truncated:
                return abort(.peerGone)
            case .failed(let reason):
                failureText = reason
                return abort(.tlsFailed)
            }
        }
        if let token { context.reactor.markReadable(token) }
    }

    func discardInput() {
        let (raw, buffer) = unsafe (raw, context.receiveBuffer)
        for _ in 0..<Connection.readsPerTick {
            let count = unsafe recv(raw, buffer.baseAddress, buffer.count, 0)
            if count > 0 { continue }
            if count < 0 && Errno.current == .wouldBlock { return }
            return abort(.normal)
        }
    }

    func plainRead(into buffer: UnsafeMutableRawBufferPointer) -> TLSSession.Outcome {
        let raw = raw
        do {
            let count = try retrying { unsafe recv(raw, buffer.baseAddress, buffer.count, 0) }
            return count > 0 ? .moved(count) : .ended
        } catch {
            return error == .wouldBlock ? .wantsRead : .truncated
        }
    }
}
