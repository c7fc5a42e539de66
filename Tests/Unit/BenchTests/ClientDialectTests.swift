import Testing

@testable import switchboard_bench

@Suite struct ClientDialectTests {
    private func answers(_ dialect: ClientDialect, _ texts: [String]) -> [Target.Step] {
        texts.map { text in
            let bytes = Array(text.utf8)
            return Target.switchboard.answered(bytes.span, topic: "shop:1", dialect)
        }
    }

    @Test func listsOfDialects() {
        #expect(ClientDialect.list("native") == [.native])
        #expect(ClientDialect.list("phoenix-v2,stream,phoenix-v2") == [.phoenixV2, .stream, .phoenixV2])
        for text in ["", "native,", "Native", "phoenix", "native, stream"] {
            #expect(ClientDialect.list(text) == nil, "\(text)")
        }
        #expect(Set(ClientDialect.allCases.map(\.number)) == Set(0..<ClientDialect.allCases.count))
    }

    @Test func phoenixClientsAreLiveWhenTheirJoinIsGranted() {
        let v1 = "{\"topic\":\"realtime:shop:1\",\"event\":\"phx_reply\",\"payload\":{\"status\":\"ok\"},\"ref\":\"1\"}"
        #expect(answers(.phoenixV1, [v1]) == [.live])
        let v2 = "[\"1\",\"1\",\"realtime:shop:1\",\"phx_reply\",{\"status\":\"error\",\"response\":{}}]"
        let other = "[null,null,\"realtime:shop:1\",\"broadcast\",{}]"
        #expect(answers(.phoenixV2, [other, v2]) == [.wait, .refused])
    }

    @Test func socketIOClientsEnterANamespaceAndSubscribe() {
        let texts = ["0{\"sid\":\"x\"}", "40{\"sid\":\"y\"}", "42[\"e\",{}]", "430[{\"topic\":\"shop:1\"}]"]
        #expect(
            answers(.socketio, texts) == [
                .say("40"), .say("420[\"subscribe\",{\"topic\":\"shop:1\"}]"), .wait, .live,
            ])
        #expect(answers(.socketio, ["44{\"message\":\"no\"}", "430[{\"error\":{}}]"]) == [.refused, .refused])
    }

    @Test func streamsAreLiveWithTheirTopic() {
        let texts = ["retry: 2000", "id: k:7\nevent: subscribed\ndata: {}", "event: refused\ndata: {}"]
        #expect(answers(.stream, texts) == [.wait, .live, .refused])
    }

    @Test func otherScenariosSpeakNative() {
        for line in [
            "fanout --target ws --dialect stream", "fanout --dialect stream --publish clients --secret-file s",
            "fanout --dialect stream --deflate on", "fanout --dialect phoenix-v1", "fanout --dialect english",
            "vote --secret-file s --dialect socketio",
        ] {
            let words = (line + " --url wss://127.0.0.1:1").split(separator: " ").map(String.init)
            #expect(throws: BenchFailure.self, "\(line)") { try BenchOptions(words) }
        }
    }
}

@Suite struct MetricsReaderTests {
    @Test func labelsAreAdded() {
        let page = Array("# HELP a_total A.\na_total 7\nb_total{door=\"x\"} 2\nb_total{door=\"y\"} 3\nb 9\n".utf8)
        #expect(MetricsReader.value("a_total", in: page) == 7)
        #expect(MetricsReader.value("b_total", in: page) == 5)
        #expect(MetricsReader.value("b", in: page) == 9)
        #expect(MetricsReader.value("c_total", in: page) == nil)
    }
}

@Suite struct RecordWalkerTests {
    /// Walks over a stream given in chunks; the last record may be left over.
    private func walk(_ chunks: [[UInt8]]) -> [String] {
        var walker = RecordWalker()
        var records: [String] = []
        for chunk in chunks {
            var position = 0
            walking: while true {
                switch walker.next(chunk.span, at: &position) {
                case .record(let range, let isCarried):
                    records.append(String(decoding: (isCarried ? walker.carried : chunk)[range], as: UTF8.self))
                case .more: break walking
                case .failed:
                    records.append("failed")
                    break walking
                }
            }
        }
        return records
    }

    private var sample: (text: [UInt8], records: [String]) {
        let long = String(repeating: "x", count: 100)
        let records = ["retry: 1", ":", "id: a:1\nevent: e\ndata: \(long)", "event: e\ndata: 12345678", "a\nb\nc"]
        return (Array(records.map { $0 + "\n\n" }.joined().utf8), records)
    }

    @Test func severalRecordsInOneChunk() {
        #expect(walk([sample.text]) == sample.records)
    }

    @Test func cutAtEveryOffset() {
        let (text, records) = sample
        for cut in 0...text.count { #expect(walk([Array(text[..<cut]), Array(text[cut...])]) == records, "at \(cut)") }
    }

    @Test(arguments: [1, 2, 3, 8, 9]) func inSmallPieces(_ size: Int) {
        let (text, records) = sample
        let chunks = stride(from: 0, to: text.count, by: size).map { Array(text[$0..<min($0 + size, text.count)]) }
        #expect(walk(chunks) == records)
    }

    @Test func whatHasNoEndIsKept() {
        #expect(walk([Array("event: e\ndata: 1\n".utf8)]) == [])
    }
}
