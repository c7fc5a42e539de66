import Core

/// The values that an answer must repeat, packed into the request's ``Reference``; so nothing is stored for a request.
struct PhoenixAnswer: Equatable {
    /// The kind of request, which decides the form of the answer.
    enum Kind: UInt8 {
        /// No answer is sent; the message only counts against the budget.
        case nothing
        /// `heartbeat`: a reply.
        case heartbeat
        /// The token of a join: the join continues, or is refused.
        case joinToken
        /// `phx_join`: a reply.
        case join
        /// `phx_leave`: a reply, and `phx_close`.
        case leave
        /// `access_token`: no answer, or the end of the channel.
        case accessToken
        /// `broadcast`: no answer, or a notice that it was refused.
        case broadcast
        /// `broadcast` of a channel that wants acknowledgements: a reply.
        case acknowledged
        /// `presence`: a reply.
        case presence
        /// Any message that is refused by itself: a reply whose reason is the refusal's text.
        case refused
    }

    var kind: Kind
    /// JSON text; empty for `null`.
    var joinRef: [UInt8] = []
    /// JSON text; empty for `null`.
    var ref: [UInt8] = []
    /// The channel's full name.
    var topic: [UInt8] = []
    /// The hash of the token that was presented; 0 for none.
    var token: Int = 0

    init(_ kind: Kind, _ frame: PhoenixFrame) {
        self.kind = kind
        joinRef = frame.joinRef
        ref = frame.ref
        topic = frame.topic
    }

    init(_ kind: Kind) {
        self.kind = kind
    }

    /// The fields as bytes: the kind, eight of the token, then three texts of at most 255, each after its length.
    var reference: Reference? {
        var bytes = [kind.rawValue]
        var token = UInt64(bitPattern: Int64(token))
        for _ in 0..<8 {
            bytes.append(UInt8(truncatingIfNeeded: token))
            token >>= 8
        }
        for text in [joinRef, ref, topic] {
            guard let count = UInt8(exactly: text.count) else { return nil }
            bytes.append(count)
            bytes.append(contentsOf: text)
        }
        return Reference(bytes)
    }

    /// Unpacks a reference; `nil` for bytes that ``reference`` has not made.
    init?(_ reference: Reference) {
        let bytes = reference.bytes
        guard let first = bytes.first, let kind = Kind(rawValue: first), bytes.count >= 9 else { return nil }
        self.kind = kind
        var token: UInt64 = 0
        for byte in bytes[1..<9].reversed() { token = token << 8 | UInt64(byte) }
        self.token = Int(Int64(bitPattern: token))
        var index = 9
        var texts: [[UInt8]] = []
        while texts.count < 3 {
            guard index < bytes.count, index + 1 + Int(bytes[index]) <= bytes.count else { return nil }
            let end = index + 1 + Int(bytes[index])
            texts.append(Array(bytes[(index + 1)..<end]))
            index = end
        }
        (joinRef, ref, topic) = (texts[0], texts[1], texts[2])
    }
}
