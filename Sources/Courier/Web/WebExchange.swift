import CCurl
import Core

/// One request in progress: libcurl's handle, and the part of the answer received so far.
///
/// Thread: the engine's.
@safe final class WebExchange {
    /// The handle of libcurl.
    let easy: UnsafeMutableRawPointer
    /// The receiver of the result.
    let completion: WebEngine.Completion
    private let limits: WebLimits
    private var list: UnsafeMutablePointer<curl_slist>?
    private var headers: [(name: String, value: [UInt8])] = []
    private var headBytes = 0
    private var body: [UInt8] = []
    private var isTooLarge = false

    /// Header fields of one answer; more than any service sends.
    private static let fieldsMax = 200

    /// Prepares a request; `nil` when libcurl refuses something or has no memory.
    init?(_ request: WebRequest, _ limits: WebLimits, nowMs: Int, _ completion: @escaping WebEngine.Completion) {
        guard let easy = unsafe curl_easy_init() else { return nil }
        unsafe self.easy = unsafe easy
        self.completion = completion
        self.limits = limits
        unsafe list = nil
        guard prepare(request, nowMs) else { return nil }
    }

    deinit {
        // Ends the transfer's open parts; the connection stays with the engine.
        unsafe curl_easy_cleanup(easy)
        unsafe curl_slist_free_all(list)
    }

    // MARK: The request

    private func prepare(_ request: WebRequest, _ nowMs: Int) -> Bool {
        let isPlain = request.url.hasPrefix("http://")
        let texts: [(CURLoption, String?)] = [
            (CURLOPT_URL, request.url), (CURLOPT_PROTOCOLS_STR, isPlain ? "http" : "https"),
            // An empty text also disables the proxy of the environment.
            (CURLOPT_PROXY, limits.proxy ?? ""), (CURLOPT_CAINFO, limits.authorities),
            (CURLOPT_USERAGENT, "switchboard-courier/" + ProductVersion.text),
        ]
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_SSL_VERIFYPEER, 1),
            (CURLOPT_SSL_VERIFYHOST, 2), (CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2),
            (CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS), (CURLOPT_PIPEWAIT, 1),
            (CURLOPT_MAXAGE_CONN, 3_600), (CURLOPT_TCP_KEEPALIVE, 1), (CURLOPT_TCP_KEEPIDLE, 60),
            (CURLOPT_CONNECTTIMEOUT_MS, limits.connectMs),
            (CURLOPT_TIMEOUT_MS, min(max(request.deadlineMs - nowMs, 1), 3_600_000)),
        ]
        for (option, text) in texts {
            guard let text else { continue }
            guard unsafe switchboard_curl_set_text(easy, option, text) == CURLE_OK else { return false }
        }
        for (option, number) in numbers {
            guard unsafe switchboard_curl_set_number(easy, option, number) == CURLE_OK else { return false }
        }
        // libcurl would wait for `100 Continue` before a body otherwise.
        for field in [("expect", "")] + request.headers {
            let line = field.1.isEmpty ? field.0 + ":" : field.0 + ": " + field.1
            guard let longer = unsafe curl_slist_append(list, line) else { return false }
            unsafe list = unsafe longer
        }
        guard unsafe switchboard_curl_set_headers(easy, list) == CURLE_OK else { return false }
        if case .post(let body) = request.method {
            let code = unsafe body.withUnsafeBytes { unsafe switchboard_curl_set_body(easy, $0.baseAddress, $0.count) }
            guard code == CURLE_OK else { return false }
        }
        return unsafe switchboard_curl_set_answer(
            easy, WebExchange.takeHead, WebExchange.takeBody, Unmanaged.passUnretained(self).toOpaque()) == CURLE_OK
    }

    // MARK: The answer

    private static let takeHead: switchboard_curl_bytes = { bytes, size, count, context in
        guard let exchange = unsafe WebExchange.known(context) else { return 0 }
        return unsafe exchange.head(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }

    private static let takeBody: switchboard_curl_bytes = { bytes, size, count, context in
        guard let exchange = unsafe WebExchange.known(context) else { return 0 }
        return unsafe exchange.more(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }

    /// The exchange of a libcurl callback; the engine keeps it until it is removed from libcurl.
    static func known(_ context: UnsafeMutableRawPointer?) -> WebExchange? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<WebExchange>.fromOpaque(context).takeUnretainedValue()
    }

    /// Takes one line of the head; returns the bytes taken, any other number ends the transfer.
    private func head(_ line: UnsafeRawBufferPointer) -> Int {
        headBytes += line.count
        guard headBytes <= limits.headBytesMax else {
            isTooLarge = true
            return -1
        }
        // Interim answers and trailers are passed here, too; the last head counts.
        if unsafe line.starts(with: Array("HTTP/".utf8)) { headers = [] }
        if let colon = unsafe line.firstIndex(of: UInt8(ascii: ":")), headers.count < WebExchange.fieldsMax {
            let name = unsafe line[..<colon].map { ASCII.lowercased($0) }
            var value = unsafe Array(line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 })
            while let last = value.last, last <= 0x20 { value.removeLast() }
            headers.append((String(decoding: name, as: UTF8.self), value))
        }
        return line.count
    }

    private func more(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard body.count + bytes.count <= limits.bodyBytesMax else {
            isTooLarge = true
            return -1
        }
        unsafe body.append(contentsOf: bytes)
        return bytes.count
    }

    /// The result, once libcurl has ended the transfer.
    func result(_ code: CURLcode) -> Result<WebReply, WebFailure> {
        if isTooLarge { return .failure(.tooLarge) }
        guard code == CURLE_OK else { return .failure(WebExchange.failure(code)) }
        let status = unsafe switchboard_curl_fact(easy, CURLINFO_RESPONSE_CODE)
        let version = unsafe switchboard_curl_fact(easy, CURLINFO_HTTP_VERSION)
        return .success(
            WebReply(
                status: status, version: version == CURL_HTTP_VERSION_2_0 ? 2 : 1, headers: headers,
                body: body))
    }

    private static func failure(_ code: CURLcode) -> WebFailure {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_URL_MALFORMAT,
            CURLE_UNSUPPORTED_PROTOCOL:
            .unreachable
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CERTPROBLEM:
            .untrusted
        case CURLE_OPERATION_TIMEDOUT: .late
        default: .cut
        }
    }
}

@available(*, unavailable)
extension WebExchange: Sendable {}
