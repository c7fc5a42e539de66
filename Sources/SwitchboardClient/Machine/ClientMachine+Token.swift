internal import Foundation

/// A token, and its life by the machine's clock, since the device's clock may differ from the gateway's.
struct HeldToken: Sendable {
    /// The token; never logged.
    let text: String
    /// The claim `sub`, where the token is a JWT.
    let user: String?
    /// The time at four fifths of its life; `nil` when its life is unknown.
    let renewAtMs: Int64?

    /// Reads the claims of a JWT without verification; for any other text user and life are unknown.
    init(_ text: String, nowMs: Int64) {
        self.text = text
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        var claims = JSONValue.null
        if parts.count == 3 {
            var encoded = String(parts[1]).replacingOccurrences(of: "-", with: "+")
                .replacingOccurrences(of: "_", with: "/")
            encoded += String(repeating: "=", count: (4 - encoded.count % 4) % 4)
            if let bytes = Data(base64Encoded: encoded) {
                claims = JSONReader.read(String(decoding: bytes, as: UTF8.self)) ?? .null
            }
        }
        user = claims["sub"]?.string
        if let ends = claims["exp"]?.integer, let begins = claims["iat"]?.integer,
            (1...31_536_000).contains(ends.subtractingReportingOverflow(begins).partialValue)
        {
            renewAtMs = nowMs + (ends - begins) * 800
        } else {
            renewAtMs = nil
        }
    }

    /// Whether it may open another connection.
    ///
    /// A token of unknown life is requested again each time.
    func isFresh(_ nowMs: Int64) -> Bool { renewAtMs.map { nowMs < $0 } ?? false }
}

/// Tokens: requested one at a time, renewed before their end, and never refused in a loop.
extension ClientMachine {
    /// Gets a token first, then opens a socket.
    mutating func askForConnection() {
        switch credentials {
        case .none: break
        case .fixed(let text):
            if refusals > 0 {
                phase = .unauthorized
            } else {
                token = HeldToken(text, nowMs: nowMs)
                connect()
            }
        case .refreshing:
            phase = .asking
            fetchAgainAtMs = nil
            ask(refusals > 0 ? .refused : token?.renewAtMs == nil ? .first : .expiring)
        }
    }

    private mutating func ask(_ reason: TokenReason) {
        guard fetch == nil else { return }
        fetches += 1
        fetch = fetches
        fetchGeneration = generation
        outputs.append(.askToken(fetch: fetches, reason))
    }

    /// Gets a new token for the open connection.
    mutating func renewToken(_ reason: TokenReason) {
        guard phase == .ready, credentials == .refreshing else { return }
        guard let text = spare else { return ask(reason) }
        spare = nil
        take(token: text)
    }

    /// The gateway reports that the token ends soon.
    ///
    /// A source may supply tokens that end as soon: it is asked at most once in `redialMs`.
    mutating func tokenExpiring() {
        guard fetch == nil, credentials == .refreshing else { return }
        let atMs = expiringAtMs + times.redialMs
        guard nowMs >= atMs else { return fetchAgainAtMs = atMs }
        expiringAtMs = nowMs
        renewToken(.expiring)
    }

    /// The source's answer, `nil` when it threw; an answer to an earlier request is ignored.
    mutating func fetched(_ number: Int, _ text: String?) {
        guard number == fetch else { return }
        fetch = nil
        guard let text else { return fetchFailed() }
        fetchFailures = 0
        fetchAgainAtMs = nil
        switch phase {
        case .asking:
            token = HeldToken(text, nowMs: nowMs)
            connect()
        case .ready where fetchGeneration == generation: take(token: text)
        default: spare = text
        }
    }

    /// A newer token for the open connection; the token of another user opens a new connection.
    private mutating func take(token text: String) {
        let earlier = token?.user
        token = HeldToken(text, nowMs: nowMs)
        if let earlier, let user = token?.user, earlier != user {
            drop(code: 1_000)
            otherUser()
            dial()
        } else {
            show(text)
        }
    }

    /// A source that throws counts as offline, not as a logout.
    private mutating func fetchFailed() {
        fetchFailures = min(fetchFailures + 1, 20)
        if phase == .asking {
            attempt = min(attempt + 1, 30)
            reason = ConnectionStatus.Reason(.tokenSource, "The source of tokens threw.")
            phase = .waiting(untilMs: nowMs + backoff())
        } else if phase == .ready {
            fetchAgainAtMs = nowMs + min(1_000 << Int64(min(fetchFailures, 5)), 30_000)
        }
    }

    /// Sends a token on the open socket.
    mutating func show(_ text: String) {
        asks += 1
        let ref = "!a\(asks)"
        authRef = ref
        send(#"{"event":"authenticate","data":{"token":\#(JSONValue.quoted(text))},"ref":"\#(ref)"}"#)
    }

    /// The gateway accepted the token.
    mutating func authenticated(_ data: JSONValue) {
        authRef = nil
        if let user = data["userId"]?.string { knows(user: user) }
        if case .authenticating = phase { becomeReady() }
    }

    /// The gateway refused the token, and closes with 4401 next.
    ///
    /// `forbidden` means that the token belongs to another user than this connection.
    mutating func tokenRefused(_ error: SwitchboardError) {
        if error.code == .server("forbidden"), phase == .ready {
            abandon()
        } else if error.code == .server("unavailable") || error.code == .server("rate_limited") {
            reason = ConnectionStatus.Reason(.unavailable, error.message)
            redial(code: 1_000)
        } else {
            reason = ConnectionStatus.Reason(.unauthorized, "The gateway refused the token. \(error.message)")
            tokenClosed(code: 1_000)
        }
    }

    /// The connection ended because of its token.
    mutating func tokenClosed(code: Int? = nil) {
        refusals += 1
        token = nil
        spare = nil
        lastClose = ConnectionStatus.Close(code: 4_401, httpStatus: nil)
        if credentials != .refreshing || refusals > 1 { return giveUp(code: code) }
        reason = nil
        redial(code: code, afterMs: attempt == 0 ? 0 : nil)
    }

    /// The app sets other credentials; only a token of the same user keeps a ready connection.
    mutating func change(to credentials: Credentials) {
        let earlier = token?.user ?? userID
        self.credentials = credentials
        credentialsNumber += 1
        refusals = 0
        fetch = nil
        fetchAgainAtMs = nil
        spare = nil
        token = nil
        attempt = 0
        if case .fixed(let text) = credentials { token = HeldToken(text, nowMs: nowMs) }
        if let user = token?.user, user == earlier {
            if phase == .ready { return show(token?.text ?? "") }
            drop(code: 1_000)
        } else {
            drop(code: 1_000)
            otherUser()
        }
        if phase != .stopped, phase != .suspended { dial() }
    }

    /// Forgets the user's topics and calls: they say nothing about the rights of another user.
    private mutating func otherUser() {
        userID = nil
        for name in topicOrder { topics[name]?.forget() }
        callsOfOthers()
    }

    /// The user is known, from the token or from the gateway.
    mutating func knows(user: String) {
        userID = user
        bindCalls(to: user)
    }
}
