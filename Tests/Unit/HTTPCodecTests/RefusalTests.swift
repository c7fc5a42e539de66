import Core
import HTTPCodec
import Testing

@Suite struct RefusalTests {
    @Test(arguments: RefusedRequests.all)
    func refused(_ refused: Refused) throws {
        let transcript = Transcript(refused.input)
        let failure = try #require(transcript.failure, "accepted: \(transcript.events)")
        #expect(failure.status == refused.status)
        #expect(failure.refusal.message.contains(refused.says), "\(failure.refusal.message)")
        #expect(transcript.heads.count == refused.headsBefore)
        #expect(transcript.remainder.isEmpty)
    }

    @Test func everyAttackHasOneName() {
        let names = RefusedRequests.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.count >= 120)
    }

    /// Nothing behind a refusal is read, or a refused request could carry an accepted one.
    @Test(arguments: RefusedRequests.all)
    func nothingFollowsARefusal(_ refused: Refused) {
        var parser = HTTPRequestParser(limits: standardLimits)
        var position = 0
        while parser.next(refused.input.span, at: &position) != nil {}
        let more = get()
        position = 0
        let event = parser.next(more.span, at: &position)
        #expect(event == nil)
        #expect(position == more.count)
        #expect(!parser.isInsideRequest)
    }

    /// A message is for logs and clients alike: it must not carry bytes of the input.
    @Test func messagesDoNotEchoInput() throws {
        let needle = "Zq9xNeedle"
        let inputs = [
            request("\(needle) / HTTP/1.1", "Host: a"), get("\(needle) : x"), get("X: \(needle)\0"),
            request("GET / \(needle)"), request("GET / HTTP/1.1", "Host: \(needle)@"),
            post("Content-Length: \(needle)", body: ""), post("Transfer-Encoding: \(needle)", body: ""),
            post("Content-Encoding: \(needle)", body: ""), post("Expect: \(needle)", body: ""),
            webSocket(key: "Sec-WebSocket-Key: \(needle)"), webSocket(version: "Sec-WebSocket-Version: \(needle)"),
        ]
        for input in inputs {
            let failure = try #require(Transcript(input).failure)
            #expect(!failure.refusal.message.contains(needle))
        }
    }

    @Test func refusalCodesFollowTheStatus() throws {
        for refused in RefusedRequests.all {
            let failure = try #require(Transcript(refused.input).failure)
            let isSize = [413, 414, 431].contains(failure.status)
            #expect(failure.refusal.code == (isSize ? .tooLarge : .badRequest), "\(refused.name)")
        }
    }
}
