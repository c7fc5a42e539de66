/// One request to an outside service.
public struct WebRequest: Sendable, Equatable {
    /// The method and its body.
    public enum Method: Sendable, Equatable {
        /// GET, without a body.
        case get
        /// POST of these bytes.
        case post([UInt8])
    }

    /// `https://` and the rest, or `http://` of this machine; printable ASCII without spaces.
    public let url: String
    /// The method.
    public let method: Method
    /// Header fields beside those that every request has; names in lower case, values without control bytes.
    public var headers: [(name: String, value: String)]
    /// The deadline of the answer, monotonic milliseconds; waiting in the engine counts.
    public let deadlineMs: Int

    /// Makes a request.
    public init(_ method: Method, _ url: String, headers: [(name: String, value: String)] = [], deadlineMs: Int) {
        self.url = url
        self.method = method
        self.headers = headers
        self.deadlineMs = deadlineMs
    }

    /// Whether all the fields are equal.
    public static func == (left: WebRequest, right: WebRequest) -> Bool {
        left.url == right.url && left.method == right.method && left.deadlineMs == right.deadlineMs
            && left.headers.elementsEqual(right.headers) { $0.name == $1.name && $0.value == $1.value }
    }

    /// Whether it can be sent: its URL and header fields contain only allowed bytes.
    var isSound: Bool {
        let isURL = url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f } && url.utf8.count <= WebRequest.urlBytesMax
        return isURL
            && headers.allSatisfy { field in
                !field.name.isEmpty && field.name.utf8.allSatisfy(WebRequest.isNameByte)
                    && field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
            }
    }

    /// The most bytes of a URL; services refuse longer ones.
    public static let urlBytesMax = 8_192

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2d
    }
}
