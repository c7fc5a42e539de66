import Core
import Testing

@testable import switchboard_bench

@Suite struct CrowdPartsTests {
    /// The check value of the CRC catalogue for CRC-32/ISO-HDLC, and zlib's of a brace pair and of nothing.
    @Test(arguments: [("123456789", 0xcbf4_3926), ("{}", 0xa3a6_bf43), ("", 0)] as [(String, UInt32)])
    func theSumIsThatOfZlib(_ text: String, _ sum: UInt32) {
        let bytes = Array((">" + text + "<").utf8)
        let computed = CRC32().sum(bytes.span, 1..<bytes.count - 1)
        #expect(computed == sum)
    }

    @Test func topicsAndTheirNumbers() throws {
        let topics = try #require(CrowdTopics("load:t:200"))
        for number in [0, 7, 199] {
            let name = topics.name(number)
            let read = topics.number(name.span, name.indices)
            #expect(read == number)
        }
        for text in ["load:t200", "load:t07", "load:t", "load:", "lobd:t1", "load:tx", "load:t1x"] {
            let bytes = Array(text.utf8)
            let read = topics.number(bytes.span, bytes.indices)
            #expect(read == nil, "\(text)")
        }
        for text in ["load", "load:t", "load:t:0", "load:t:x", "Load:t:3", ":3"] {
            #expect(CrowdTopics(text) == nil, "\(text)")
        }
    }

    @Test func addressesOfGateways() {
        let url = CrowdOptions.URL("wss://127.0.0.1:8443")
        #expect(url?.port == 8_443)
        #expect(url?.host == "127.0.0.1")
        #expect(url?.path == "/ws")
        #expect(url?.usesTLS == true)
        let other = CrowdOptions.URL("ws://[::1]:80/queue")
        #expect(other?.host == "::1")
        #expect(other?.authority == "[::1]:80")
        #expect(other?.path == "/queue")
        for text in [
            "127.0.0.1:1", "wss://localhost:1/ws", "wss://127.0.0.1/ws", "wss://127.0.0.1:0", "wss://127.0.0.1:65536",
        ] {
            #expect(CrowdOptions.URL(text) == nil, "\(text)")
        }
    }

    /// What recovers is followed by events, so only they move the position; otherwise the answer does.
    @Test func thePositionIsWhatWasReallyReceived() {
        var place = CrowdPlace(topic: 0)
        place.ask()
        #expect(place.asked == nil)
        place.subscribed(epoch: [1], offset: 17, recovered: false)
        place.came(18)
        place.ask()
        #expect(place.asked?.offset == 18)
        place.subscribed(epoch: [1], offset: 30, recovered: true)
        place.ask()
        #expect(place.asked?.offset == 18)
        place.came(19)
        place.came(19)
        place.came(12)
        #expect(place.offset == 19)
        place.move(epoch: [2], offset: 4)
        #expect(place.offset == 4)
        place.subscribed(epoch: [3], offset: 2, recovered: true)
        #expect(place.epoch == [3])
        #expect(place.offset == 2)
    }

    /// No percentile is below the true one, or more than a 32nd above it.
    @Test(arguments: [1, 31, 32, 33, 1_000, 65_535, 123_456_789])
    func latenciesKeepTheirSize(_ value: Int) throws {
        var histogram = LatencyHistogram()
        #expect(histogram.percentile(0.5) == nil)
        histogram.add(value)
        histogram.add(value * 100)
        histogram.add(value * 100)
        let low = try #require(histogram.percentile(0))
        #expect(low >= value && low <= value + value / 32)
        #expect(histogram.percentile(0.99) == value * 100)
        histogram.add(-5)
        #expect(histogram.percentile(0) == 0)
    }
}
