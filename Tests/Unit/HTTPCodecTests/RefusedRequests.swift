/// Every request that must be refused, by attack list; used by the table tests and by the cut tests.
enum RefusedRequests {
    static let all = length + coding + chunks + requestLine + fields + host + upgrade + content

    static let length: [Refused] = [
        Refused(
            "CL and TE", 400, "together",
            post("Content-Length: 5", "Transfer-Encoding: chunked", body: "0\r\n\r\n")),
        Refused(
            "TE and CL", 400, "together",
            post("Transfer-Encoding: chunked", "Content-Length: 5", body: "0\r\n\r\n")),
        Refused(
            "CL twice, equal", 400, "content-length", post("Content-Length: 5", "Content-Length: 5", body: "hello")),
        Refused(
            "CL twice, different", 400, "content-length", post("Content-Length: 5", "content-length: 6", body: "hello!")
        ),
        Refused("CL with plus", 400, "decimal", post("Content-Length: +5", body: "hello")),
        Refused("CL with minus", 400, "decimal", post("Content-Length: -5", body: "hello")),
        Refused("CL list", 400, "decimal", post("Content-Length: 5,5", body: "hello")),
        Refused("CL with inner space", 400, "decimal", post("Content-Length: 5 5", body: "hello")),
        Refused("CL with leading zero", 400, "decimal", post("Content-Length: 05", body: "hello")),
        Refused("CL hexadecimal", 400, "decimal", post("Content-Length: 0x5", body: "hello")),
        Refused("CL fraction", 400, "decimal", post("Content-Length: 5.0", body: "hello")),
        Refused("CL empty", 400, "decimal", post("Content-Length:", body: "hello")),
        Refused("CL with tab", 400, "tab", post("Content-Length:\t5", body: "hello")),
        Refused("CL non-ASCII digits", 400, "ASCII", post("Content-Length: \u{0665}", body: "hello")),
        Refused("CL 2^63", 413, "1048576", post("Content-Length: 9223372036854775808", body: "x")),
        Refused("CL 2^64+5", 413, "1048576", post("Content-Length: 18446744073709551621", body: "hello")),
        Refused(
            "CL of 40 digits", 413, "1048576", post("Content-Length: " + String(repeating: "9", count: 40), body: "x")),
        Refused("CL at the largest Int", 413, "1048576", post("Content-Length: 9223372036854775807", body: "x")),
        Refused(
            "trailer after a CL body", 400, "HTTP/1.1",
            post("Content-Length: 5", "Trailer: X", body: "helloX: y\r\n\r\n"), headsBefore: 1),
    ]

    static let coding: [Refused] = [
        Refused("TE chunked, identity", 400, "once", post("Transfer-Encoding: chunked, identity", body: "0\r\n\r\n")),
        Refused("TE identity", 400, "once", post("Transfer-Encoding: identity", body: "x")),
        Refused("TE xchunked", 400, "once", post("Transfer-Encoding: xchunked", body: "0\r\n\r\n")),
        Refused("TE chunkedx", 400, "once", post("Transfer-Encoding: chunkedx", body: "0\r\n\r\n")),
        Refused(
            "TE chunked twice in a list", 400, "once", post("Transfer-Encoding: chunked, chunked", body: "0\r\n\r\n")),
        Refused(
            "TE twice", 400, "transfer-encoding",
            post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body: "0\r\n\r\n")),
        Refused(
            "TE twice, the second identity", 400, "transfer-encoding",
            post("Transfer-Encoding: chunked", "Transfer-encoding: identity", body: "0\r\n\r\n")),
        Refused("TE gzip, chunked", 501, "codings", post("Transfer-Encoding: gzip, chunked", body: "0\r\n\r\n")),
        Refused("TE with tab", 400, "tab", post("Transfer-Encoding:\tchunked", body: "0\r\n\r\n")),
        Refused("TE with tab behind", 400, "tab", post("Transfer-Encoding: chunked\t", body: "0\r\n\r\n")),
        Refused("TE with vertical tab", 400, "control", post("Transfer-Encoding: \u{0b}chunked", body: "0\r\n\r\n")),
        Refused("TE quoted", 400, "once", post("Transfer-Encoding: \"chunked\"", body: "0\r\n\r\n")),
        Refused("TE with parameter", 400, "once", post("Transfer-Encoding: chunked;q=1", body: "0\r\n\r\n")),
        Refused("TE with leading comma", 400, "once", post("Transfer-Encoding: ,chunked", body: "0\r\n\r\n")),
        Refused("TE empty", 400, "once", post("Transfer-Encoding:", body: "0\r\n\r\n")),
        Refused(
            "TE space before colon", 400, "before the colon", post("Transfer-Encoding : chunked", body: "0\r\n\r\n")),
        Refused("TE folded", 400, "folded", post("Transfer-Encoding:", " chunked", body: "0\r\n\r\n")),
        Refused(
            "TE in HTTP/1.0", 400, "HTTP/1.1",
            request("POST / HTTP/1.0", "Host: a", "Transfer-Encoding: chunked", body: "0\r\n\r\n")),
    ]

    static func chunked(_ name: String, _ status: Int, _ says: String, _ body: String) -> Refused {
        Refused(name, status, says, post("Transfer-Encoding: chunked", body: body), headsBefore: 1)
    }

    static let chunks: [Refused] = [
        chunked("chunk size over the limit", 413, "1048576", "100001\r\n"),
        chunked("chunk size of 16 f", 413, "1048576", "ffffffffffffffff\r\nx"),
        chunked("chunk size overflow by 17 digits", 400, "hexadecimal", "10000000000000005\r\nhello"),
        chunked("chunk size negative", 400, "hexadecimal", "-5\r\nhello\r\n0\r\n\r\n"),
        chunked("chunk size with plus", 400, "hexadecimal", "+5\r\nhello\r\n0\r\n\r\n"),
        chunked("chunk size with 0x", 400, "hexadecimal", "0x5\r\nhello\r\n0\r\n\r\n"),
        chunked("chunk size empty", 400, "hexadecimal", "\r\nhello\r\n0\r\n\r\n"),
        chunked("chunk size with space before", 400, "hexadecimal", " 5\r\nhello\r\n0\r\n\r\n"),
        chunked("chunk size with space behind", 400, "hexadecimal", "5 \r\nhello\r\n0\r\n\r\n"),
        chunked("chunk size with space before extension", 400, "hexadecimal", "5 ;a\r\nhello\r\n0\r\n\r\n"),
        chunked("chunk size with underscore", 400, "hexadecimal", "0_5\r\nhello\r\n0\r\n\r\n"),
        chunked("chunk size line ends with LF", 400, "LF", "5\nhello\r\n0\r\n\r\n"),
        chunked("chunk size line ends with CR", 400, "CR", "5\rXhello\r\n0\r\n\r\n"),
        chunked("chunk extension with LF", 400, "LF", "5;a\nhello\r\n0\r\n\r\n"),
        chunked("chunk extension with NUL", 400, "control", "5;a\0\r\nhello\r\n0\r\n\r\n"),
        chunked("chunk extension too long", 400, "too long", "5;" + String(repeating: "a", count: 300) + "\r\nhello"),
        chunked(
            "chunk extensions too long together", 431, "extensions",
            String(repeating: "1;" + String(repeating: "a", count: 200) + "\r\nx\r\n", count: 100)),
        chunked("chunk longer than its size", 400, "longer", "4\r\nhello\r\n0\r\n\r\n"),
        chunked("chunk shorter than its size", 400, "longer", "6\r\nhello\r\n0\r\n\r\n"),
        chunked("chunk ends with LF", 400, "longer", "5\r\nhello\n0\r\n\r\n"),
        chunked("chunk ends with CR CR", 400, "longer", "5\r\nhello\r\r0\r\n\r\n"),
        chunked("chunks together over the limit", 413, "1048576", "1\r\nx\r\n100000\r\n"),
        chunked("last chunk then LF", 400, "LF", "0\n\n"),
        chunked("trailer without colon", 400, "no colon", "0\r\nfoo\r\n\r\n"),
        chunked("trailer folded", 400, "folded", "0\r\na: b\r\n c\r\n\r\n"),
        chunked("trailer with space before colon", 400, "before the colon", "0\r\na : b\r\n\r\n"),
        chunked("trailer Content-Length", 400, "trailer", "0\r\nContent-Length: 5\r\n\r\n"),
        chunked("trailer Transfer-Encoding", 400, "trailer", "0\r\ntransfer-encoding: chunked\r\n\r\n"),
        chunked("trailers over the byte limit", 431, "trailers", "0\r\na: " + String(repeating: "b", count: 17_000)),
        chunked("trailers over the field limit", 431, "100", "0\r\n" + String(repeating: "a: b\r\n", count: 101)),
    ]

    static let requestLine: [Refused] = [
        Refused("HTTP/0.9", 400, "METHOD", raw: "GET /\r\n"),
        Refused("HTTP/2 preface", 505, "HTTP/2", raw: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        Refused("HTTP/1.2", 505, "HTTP/1.1", request("GET / HTTP/1.2", "Host: a")),
        Refused("HTTP/3.0", 505, "HTTP/1.1", request("GET / HTTP/3.0", "Host: a")),
        Refused("version in lower case", 400, "end with", request("GET / http/1.1", "Host: a")),
        Refused("version HTTP/1", 400, "end with", request("GET / HTTP/1", "Host: a")),
        Refused("version HTTP/11.1", 400, "end with", request("GET / HTTP/11.1", "Host: a")),
        Refused("version HTTP/1.10", 400, "end with", request("GET / HTTP/1.10", "Host: a")),
        Refused("version HTTP/1x1", 400, "end with", request("GET / HTTP/1x1", "Host: a")),
        Refused("version of another protocol", 400, "end with", request("GET / RTSP/1.0", "Host: a")),
        Refused("method in lower case", 501, "upper case", request("get / HTTP/1.1", "Host: a")),
        Refused("method in mixed case", 501, "upper case", request("Get / HTTP/1.1", "Host: a")),
        Refused("method unknown", 501, "method", request("BREW / HTTP/1.1", "Host: a")),
        Refused("method TRACK", 501, "method", request("TRACK / HTTP/1.1", "Host: a")),
        Refused("method CONNECT", 501, "method", request("CONNECT a:443 HTTP/1.1", "Host: a:443")),
        Refused("method with brackets", 400, "method", request("G(T / HTTP/1.1", "Host: a")),
        Refused("no method", 400, "begin", request(" / HTTP/1.1", "Host: a")),
        Refused("double space", 400, "METHOD", request("GET  / HTTP/1.1", "Host: a")),
        Refused("space behind", 400, "METHOD", request("GET / HTTP/1.1 ", "Host: a")),
        Refused("tab between", 400, "METHOD", request("GET\t/\tHTTP/1.1", "Host: a")),
        Refused("space in the target", 400, "METHOD", request("GET /a b HTTP/1.1", "Host: a")),
        Refused("no target", 400, "METHOD", request("GET HTTP/1.1", "Host: a")),
        Refused("line ends with LF", 400, "LF", raw: "GET / HTTP/1.1\nHost: a\n\n"),
        Refused("line ends with CR", 400, "CR", raw: "GET / HTTP/1.1\rHost: a\r\r"),
        Refused("line with NUL", 400, "control", raw: "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("two empty lines first", 400, "empty lines", raw: "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("empty line of LF first", 400, "LF", raw: "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("path not ASCII", 400, "percent-encoded", request("GET /caf\u{e9} HTTP/1.1", "Host: a")),
        Refused("path with a backslash", 400, "backslash", request("GET /a\\..\\b HTTP/1.1", "Host: a")),
        Refused("path with a fragment", 400, "percent-encoded", request("GET /a#b HTTP/1.1", "Host: a")),
        Refused("path without slash", 400, "begins with /", request("GET a HTTP/1.1", "Host: a")),
        Refused("asterisk with GET", 400, "OPTIONS", request("GET * HTTP/1.1", "Host: a")),
        Refused("absolute form of another host", 400, "differ", request("GET http://b/ HTTP/1.1", "Host: a")),
        Refused("absolute form of another port", 400, "differ", request("GET http://a:81/ HTTP/1.1", "Host: a")),
        Refused("absolute form with user", 400, "host", request("GET http://a@b/ HTTP/1.1", "Host: b")),
        Refused("absolute form without host", 400, "host", request("GET http:///x HTTP/1.1", "Host: b")),
        Refused("absolute form of another scheme", 400, "begins with /", request("GET ftp://a/ HTTP/1.1", "Host: a")),
        Refused("TLS client hello", 400, "TLS", [0x16, 0x03, 0x01, 0x02, 0x00, 0x01]),
        Refused("binary first byte", 400, "begin", [0x80, 0x0d, 0x0a]),
        Refused("request line over the limit", 414, "8192", get(path: "/" + String(repeating: "a", count: 8_200))),
        Refused("a path of 1 MB", 414, "8192", get(path: "/" + String(repeating: "a", count: 1_000_000))),
    ]

    static let fields: [Refused] = [
        Refused("space before colon", 400, "line 2 has a space before the colon", get("X : y")),
        Refused("tab before colon", 400, "before the colon", get("X\t: y")),
        Refused("empty header name", 400, "no name", get(": y")),
        Refused("header without colon", 400, "no colon", get("X")),
        Refused("header name with space", 400, "name", get("X Y: z")),
        Refused("header name not ASCII", 400, "name", get("X\u{e9}: z")),
        Refused("header name with quote", 400, "name", get("X\"Y: z")),
        Refused("obs-fold with space", 400, "folded", get("X: y", " z")),
        Refused("obs-fold with tab", 400, "folded", get("X: y", "\tz")),
        Refused("fold of the first header", 400, "folded", request("GET / HTTP/1.1", " Host: a")),
        Refused("header line ends with LF", 400, "LF", raw: "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n"),
        Refused("header with a lone CR", 400, "CR", get("X: y\rz")),
        Refused("header with CR CR LF", 400, "CR", get("X: y\r")),
        Refused("header with NUL", 400, "control", get("X: y\0z")),
        Refused("header with DEL", 400, "control", get("X: y\u{7f}z")),
        Refused("header with escape", 400, "control", get("X: \u{1b}[31m")),
        Refused("head ends with LF", 400, "LF", raw: "GET / HTTP/1.1\r\nHost: a\r\n\n"),
        Refused(
            "101 headers", 431, "100",
            Array(("GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "a: b\r\n", count: 100) + "\r\n").utf8)),
        Refused("head over the limit", 431, "16384", get("X: " + String(repeating: "a", count: 16_384))),
        Refused("Origin twice", 400, "origin", get("Origin: https://a", "Origin: https://b")),
        Refused("Origin not ASCII", 400, "origin must be ASCII", get("Origin: https://\u{e9}")),
        Refused("Authorization twice", 400, "authorization", get("Authorization: Bearer a", "Authorization: Bearer b")),
        Refused("apikey twice", 400, "apikey", get("apikey: a", "APIKEY: b")),
        Refused("Content-Type twice", 400, "content-type", get("Content-Type: text/plain", "Content-Type: text/html")),
    ]

    static let host: [Refused] = [
        Refused("Host missing", 400, "Host is missing", request("GET / HTTP/1.1", "X: y")),
        Refused("Host missing, no headers at all", 400, "Host is missing", request("GET / HTTP/1.1")),
        Refused("Host twice, equal", 400, "host", request("GET / HTTP/1.1", "Host: a", "Host: a")),
        Refused("Host twice, different", 400, "host", request("GET / HTTP/1.1", "Host: a", "host: b")),
        Refused("Host empty", 400, "Host", request("GET / HTTP/1.1", "Host:")),
        Refused("Host with path", 400, "Host", request("GET / HTTP/1.1", "Host: a/b")),
        Refused("Host with user", 400, "Host", request("GET / HTTP/1.1", "Host: a@b")),
        Refused("Host list", 400, "Host", request("GET / HTTP/1.1", "Host: a, b")),
        Refused("Host with space", 400, "Host", request("GET / HTTP/1.1", "Host: a b")),
        Refused("Host not ASCII", 400, "host must be ASCII", request("GET / HTTP/1.1", "Host: \u{e9}")),
        Refused("Host with empty port", 400, "Host", request("GET / HTTP/1.1", "Host: a:")),
        Refused("Host with port 65536", 400, "Host", request("GET / HTTP/1.1", "Host: a:65536")),
        Refused("Host with port +80", 400, "Host", request("GET / HTTP/1.1", "Host: a:+80")),
        Refused("Host with an open bracket", 400, "Host", request("GET / HTTP/1.1", "Host: [::1")),
        Refused("Host with text behind the bracket", 400, "Host", request("GET / HTTP/1.1", "Host: [::1]a")),
        Refused("Host twice in HTTP/1.0", 400, "host", request("GET / HTTP/1.0", "Host: a", "Host: a")),
    ]

    static let upgrade: [Refused] = [
        Refused("key missing", 400, "16 bytes", webSocket(key: nil)),
        Refused(
            "key twice", 400, "sec-websocket-key",
            webSocket(more: "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")),
        Refused("key empty", 400, "16 bytes", webSocket(key: "Sec-WebSocket-Key:")),
        Refused("key of 15 bytes", 400, "16 bytes", webSocket(key: "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j")),
        Refused("key of 17 bytes", 400, "16 bytes", webSocket(key: "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZWU=")),
        Refused("key without padding", 400, "16 bytes", webSocket(key: "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ")),
        Refused(
            "key of another alphabet", 400, "16 bytes", webSocket(key: "Sec-WebSocket-Key: -_hlIHNhbXBsZSBub25jZQ==")),
        Refused(
            "key with set bits behind", 400, "16 bytes", webSocket(key: "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZR==")),
        Refused("key with space", 400, "16 bytes", webSocket(key: "Sec-WebSocket-Key: dGhlIHNh XBsZSBub25jZQ==")),
        Refused("version missing", 426, "13", webSocket(version: nil)),
        Refused("version 12", 426, "13", webSocket(version: "Sec-WebSocket-Version: 12")),
        Refused("version 8", 426, "13", webSocket(version: "Sec-WebSocket-Version: 8")),
        Refused("version list", 426, "13", webSocket(version: "Sec-WebSocket-Version: 13, 8")),
        Refused("version with zero", 426, "13", webSocket(version: "Sec-WebSocket-Version: 013")),
        Refused("version twice", 400, "sec-websocket-version", webSocket(more: "Sec-WebSocket-Version: 13")),
        Refused("upgrade with body", 400, "body", webSocket(more: "Content-Length: 5", rest: "hello")),
        Refused(
            "upgrade with chunked body", 400, "body", webSocket(more: "Transfer-Encoding: chunked", rest: "0\r\n\r\n")),
        Refused("upgrade over POST", 400, "GET", webSocket(line: "POST / HTTP/1.1")),
        Refused("upgrade over HEAD", 400, "GET", webSocket(line: "HEAD / HTTP/1.1")),
        Refused("upgrade over HTTP/1.0", 400, "HTTP/1.1", webSocket(line: "GET / HTTP/1.0")),
        Refused("upgrade without Connection", 400, "Connection", webSocket(connection: nil)),
        Refused("upgrade with Connection: close", 400, "Connection", webSocket(connection: "Connection: close")),
        Refused(
            "request smuggled after a failed upgrade", 426, "13",
            webSocket(version: nil, rest: "GET /admin HTTP/1.1\r\nHost: a\r\n\r\n")),
        Refused("subprotocol not ASCII", 400, "ASCII", webSocket(more: "Sec-WebSocket-Protocol: caf\u{e9}")),
        Refused("subprotocol with space", 400, "tokens", webSocket(more: "Sec-WebSocket-Protocol: a b")),
        Refused("subprotocol with CR", 400, "CR", webSocket(more: "Sec-WebSocket-Protocol: a\rX: y")),
        Refused(
            "subprotocol twice", 400, "twice",
            webSocket(more: "Sec-WebSocket-Protocol: a, b", "Sec-WebSocket-Protocol: a")),
        Refused("extensions not ASCII", 400, "ASCII", webSocket(more: "Sec-WebSocket-Extensions: \u{1f600}")),
    ]

    static let content: [Refused] = [
        Refused("gzip body", 415, "as it is", post("Content-Encoding: gzip", "Content-Length: 5", body: "hello")),
        Refused("br body", 415, "as it is", post("Content-Encoding: br", "Content-Length: 5", body: "hello")),
        Refused(
            "identity, gzip body", 415, "as it is",
            post("Content-Encoding: identity, gzip", "Content-Length: 1", body: "x")),
        Refused(
            "Expect of something else", 417, "100-continue",
            post("Expect: 200-ok", "Content-Length: 5", body: "hello")),
        Refused("Expect twice", 400, "expect", post("Expect: 100-continue", "Expect: 100-continue", body: "")),
        Refused("body over the limit", 413, "1048576", post("Content-Length: 1048577", body: "")),
    ]
}
