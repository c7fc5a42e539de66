import Core

/// The agreement of client and server on `permessage-deflate` (RFC 7692 section 7.1).
///
/// Neither end keeps its window from one message to the next. So a server needs no memory for each connection, and
/// deflates a message to many clients once.
public struct DeflateAgreement: Hashable, Sendable {
    /// The distance of the server's back references; two sizes, so that a message is deflated twice at most.
    public enum Window: Int, CaseIterable, Sendable {
        /// 512 bytes, for a client that asks for less than all.
        case narrow = 9
        /// 32,768 bytes.
        case wide = 15
    }

    /// The window that the server uses.
    public let window: Window
    private let isWindowAsked: Bool

    /// The first acceptable offer; `nil` when there is none.
    ///
    /// - Parameter lines: The values of all lines of `Sec-WebSocket-Extensions`, in order.
    public init?(offered lines: [[UInt8]]) {
        for line in lines {
            for element in FieldText.split(line[...], at: UInt8(ascii: ",")) {
                guard let offer = DeflateOffer(element), let accepted = DeflateAgreement(offer) else { continue }
                self = accepted
                return
            }
        }
        return nil
    }

    /// The value of `Sec-WebSocket-Extensions` in the answer.
    public var answer: String {
        let answer = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
        return isWindowAsked ? answer + "; server_max_window_bits=\(window.rawValue)" : answer
    }

    /// Accepts one offer whose parameters are all known, each with a proper value (section 7.1.2).
    private init?(_ offer: DeflateOffer) {
        guard offer.name == Name.extension, let parameters = offer.byName else { return nil }
        // Starscream offers this and then deflates its control frames, which section 5.1 forbids.
        if parameters.count == 2, parameters[Name.serverWindow]?.value == FieldText.bytes("15"),
            parameters[Name.clientWindow] != nil, parameters[Name.clientWindow]?.value == nil
        {
            return nil
        }
        var window: Int?
        for parameter in offer.parameters {
            switch (parameter.name, parameter.value) {
            case (Name.serverForgets, nil), (Name.clientForgets, nil), (Name.clientWindow, nil):
                break
            case (Name.clientWindow, let value?):
                // Any window of the client can be inflated.
                guard DeflateAgreement.bits(value) != nil else { return nil }
            case (Name.serverWindow, let value?):
                // zlib cannot deflate with a window of 256 bytes.
                guard let bits = DeflateAgreement.bits(value), bits >= Window.narrow.rawValue else { return nil }
                window = bits
            default:
                return nil
            }
        }
        isWindowAsked = window != nil
        self.window = (window ?? Window.wide.rawValue) < Window.wide.rawValue ? .narrow : .wide
    }

    /// 8...15 without leading zeros.
    private static func bits(_ value: [UInt8]) -> Int? {
        ASCII.decimal(value).flatMap { (8...15).contains($0) ? $0 : nil }
    }

    private enum Name {
        static let `extension` = FieldText.bytes("permessage-deflate")
        static let serverForgets = FieldText.bytes("server_no_context_takeover")
        static let clientForgets = FieldText.bytes("client_no_context_takeover")
        static let serverWindow = FieldText.bytes("server_max_window_bits")
        static let clientWindow = FieldText.bytes("client_max_window_bits")
    }
}
