import Core
import HTTPCodec
import Testing

@Suite struct ResponseTests {
    private func text(_ response: HTTPResponse, _ method: HTTPMethod? = .get) -> String {
        String(decoding: response.encoded(for: method), as: UTF8.self)
    }

    @Test func json() {
        let response = HTTPResponse.json(status: 200, body: Array("{}".utf8), keepAlive: true)
        #expect(
            text(response)
                == "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n"
                + "Content-Length: 2\r\n\r\n{}")
    }

    @Test func closeIsSaid() {
        let response = HTTPResponse(status: 202, body: [], keepAlive: false)
        #expect(text(response) == "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    }

    @Test func headHasTheLengthWithoutTheBody() {
        let response = HTTPResponse(status: 200, body: Array("hello".utf8), keepAlive: true)
        #expect(text(response, .head) == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
    }

    @Test(arguments: [204, 304])
    func statusWithoutContent(_ status: Int) {
        let encoded = text(HTTPResponse(status: status, body: Array("x".utf8), keepAlive: true))
        #expect(!encoded.contains("Content-Length"))
        #expect(encoded.hasSuffix("\r\n\r\n"))
    }

    @Test(arguments: [-1, 0, 99, 100, 101, 199, 600, 1_000, Int.max, Int.min])
    func impossibleStatusIsOurFault(_ status: Int) {
        #expect(text(HTTPResponse(status: status, body: [], keepAlive: true)).hasPrefix("HTTP/1.1 500 Internal"))
    }

    @Test func unknownStatusHasAPhrase() {
        #expect(text(HTTPResponse(status: 299, body: [], keepAlive: true)).hasPrefix("HTTP/1.1 299 Unknown\r\n"))
    }

    @Test func refusalBody() {
        let response = HTTPResponse.refusal(Refusal(.notFound, "No \"such\"\nroute"), keepAlive: true)
        #expect(response.status == 404)
        #expect(
            String(decoding: response.body, as: UTF8.self)
                == #"{"error":{"code":"not_found","message":"No \"such\"\nroute"}}"#)
        #expect(response.keepAlive)
    }

    @Test(arguments: ErrorCode.allCases)
    func everyErrorCodeHasItsStatus(_ code: ErrorCode) {
        #expect(HTTPResponse.refusal(Refusal(code, "x"), keepAlive: true).status == code.httpStatus)
    }

    @Test func failuresCloseTheConnection() throws {
        for refused in RefusedRequests.all {
            let failure = try #require(Transcript(refused.input).failure)
            let encoded = text(.refusal(failure), nil)
            #expect(encoded.hasPrefix("HTTP/1.1 \(refused.status) "), "\(refused.name)")
            #expect(encoded.contains("\r\nConnection: close"), "\(refused.name)")
            #expect(!encoded.contains("Unknown"), "\(refused.name)")
        }
    }

    @Test func upgradeRequiredNamesWhatIsRequired() throws {
        let failure = try #require(Transcript(webSocket(version: nil)).failure)
        let encoded = text(.refusal(failure))
        #expect(encoded.contains("\r\nUpgrade: websocket\r\n"))
        #expect(encoded.contains("\r\nSec-WebSocket-Version: 13\r\n"))
        #expect(encoded.contains("\r\nConnection: close, Upgrade\r\n"))
    }

    @Test func statusesThatDemandAField() {
        #expect(text(.refusal(Refusal(.unauthorized, "x"), keepAlive: true)).contains("WWW-Authenticate: Bearer\r\n"))
        #expect(text(.methodNotAllowed([.get, .head], keepAlive: true)).contains("\r\nAllow: GET, HEAD\r\n"))
        let coding = HTTPResponse.refusal(Refusal(.badRequest, "x"), status: 415, keepAlive: false)
        #expect(text(coding).contains("\r\nAccept-Encoding: identity\r\n"))
    }

    @Test func switchingProtocols() throws {
        let accept = try #require(HTTPHeaderValue("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".utf8))
        let response = HTTPResponse.switchingProtocols(accept: accept, subprotocol: "chat", extensions: nil)
        #expect(
            text(response)
                == "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: chat\r\n"
                + "Connection: Upgrade\r\n\r\n")
    }

    @Test func continue100() {
        #expect(HTTPResponse.continue100 == Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }

    @Test func retryAfter() {
        var response = HTTPResponse(status: 503, body: [], keepAlive: true)
        response.setRetryAfter(seconds: -3)
        response.setRetryAfter(seconds: 2)
        #expect(text(response).contains("503 Service Unavailable\r\nRetry-After: 2\r\n"))
        #expect(response.fields.count == 1)
        for (waitMs, seconds) in [
            (-1, 1), (0, 1), (1, 1), (1_000, 1), (1_001, 2), (Int.max, Int.max / 1_000 + 1), (Int.min, 1),
        ] {
            response.setRetryAfter(ms: waitMs)
            #expect(text(response).contains("Retry-After: \(seconds)\r\n"))
        }
        let refusal = HTTPResponse.refusal(Refusal(.rateLimited, "Wait.", retryAfterMs: 1_500), keepAlive: true)
        #expect(text(refusal).contains("429 Too Many Requests\r\n") && text(refusal).contains("Retry-After: 2\r\n"))
    }

    @Test func setReplacesAndAddDoesNot() {
        var response = HTTPResponse(status: 200, body: [], keepAlive: true)
        response.add(.setCookie, "a=1")
        response.add(.setCookie, "b=2")
        #expect(response.fields.count == 2)
        response.set(.setCookie, "c=3")
        #expect(response.fields.map(\.value) == ["c=3"])
    }

    /// No byte that ends a line is ever taken; CVE-2022-3215 and CVE-2026-28970 were reflected values that did.
    @Test func noByteThatEndsALineIsTaken() {
        for byte in UInt8.min...UInt8.max {
            let value = HTTPHeaderValue([0x61, byte, 0x62])
            #expect((value != nil) == (byte >= 0x20 && byte <= 0x7e), "byte \(byte)")
        }
        #expect(HTTPHeaderValue("chat\r\nSet-Cookie: a=b".utf8) == nil)
        #expect(HTTPHeaderValue("\r\n".utf8) == nil)
        #expect(HTTPHeaderValue(" a".utf8) == nil)
        #expect(HTTPHeaderValue("a ".utf8) == nil)
        #expect(HTTPHeaderValue("a b".utf8)?.bytes == Array("a b".utf8))
        #expect(("a\r\nb: c" as HTTPHeaderValue).bytes == Array("ab: c".utf8))
    }

    @Test func namesAreTokensAndNoneIsTheEncoders() {
        let reserved = ["content-length", "transfer-encoding", "connection"]
        for name in HTTPHeaderName.allCases {
            let isToken = name.rawValue.utf8.allSatisfy {
                ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-")
            }
            #expect(isToken && !reserved.contains(name.rawValue.lowercased()))
        }
    }

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        (Int.max, "Fri, 31 Dec 9999 23:59:59 GMT"), (Int.min, "Thu, 01 Jan 1970 00:00:00 GMT"),
    ])
    func dates(_ seconds: Int, _ expected: String) {
        #expect(String(decoding: HTTPDate.value(unixSeconds: seconds).bytes, as: UTF8.self) == expected)
    }
}
