import Testing

@testable import switchboard_bench

@Suite struct BenchOptionsTests {
    private func options(_ line: String) throws -> BenchOptions {
        try BenchOptions(line.split(separator: " ").map(String.init))
    }

    @Test func aWholeCommandLine() throws {
        let read = try options(
            "unicast --url wss://127.0.0.1:4433 --url wss://[::1]:4434 --target nchan --pid 12,13 --pid 14 --topics 7 "
                + "--rate 5000 --sources 3 --processes 2 --api-key secret --publish http --json out.json")
        #expect(read.scenario == .unicast)
        #expect(read.urls == ["wss://127.0.0.1:4433", "wss://[::1]:4434"])
        #expect(read.pids == [12, 13, 14])
        #expect((read.topics, read.rate, read.sources, read.processes) == (7, 5_000, 3, 2))
        #expect(read.settings["rate"] == "5000")
        #expect(!read.settings.values.contains("secret"))
        #expect(read.topicName(3) == "shop:bench3")
    }

    @Test(arguments: [
        ("", "usage"), ("fanuot --url wss://127.0.0.1:1", "no scenario fanuot"), ("fanout", "--url is needed"),
        ("fanout --url https://127.0.0.1:1", "--url must be"), ("fanout --url wss://localhost:1", "numeric"),
        ("fanout --url wss://127.0.0.1:1 --rate 0", "--rate must be 1 to"),
        ("fanout --url wss://127.0.0.1:1 --rate x", "--rate must be 1 to"),
        ("fanout --url wss://127.0.0.1:1 --rate", "--rate needs a value"),
        ("fanout --url wss://127.0.0.1:1 --bytes 41", "--bytes must be 42 to"),
        ("fanout --url wss://127.0.0.1:1 --pid 1,,2", "--pid must be"),
        ("fanout --url wss://127.0.0.1:1 --pid 0", "--pid must be"),
        ("fanout --url wss://127.0.0.1:1 --target nginx", "--target must be switchboard, floor"),
        ("fanout --url wss://127.0.0.1:1 --publish redis", "--redis URL"),
        ("fanout --url wss://127.0.0.1:1 --publish clients --target ws", "switchboard only"),
        ("fanout --url wss://127.0.0.1:1 --publish clients", "--secret-file"),
        ("fanout --url wss://127.0.0.1:1 --topic bench", "--topic must be"),
        ("fanout --url wss://127.0.0.1:1 --speed 9", "unknown flag --speed"),
        ("idle --url wss://127.0.0.1:1", "idle needs --pid"),
        ("fanout --url wss://127.0.0.1:1 --connections 2 --processes 3", "--processes must not exceed"),
    ])
    func whatIsWrongIsSaid(_ line: String, _ words: String) {
        let failure = #expect(throws: BenchFailure.self) { try options(line) }
        #expect(failure?.description.contains(words) == true, "\(failure?.description ?? "")")
    }

    @Test func whatTargetsAreTold() {
        let data = Array("{\"m\":\"1\"}".utf8)
        let ours = String(
            decoding: Target.switchboard.request(topic: "shop:1", data: data, apiKey: "k"), as: UTF8.self)
        #expect(ours.hasPrefix("POST /v1/broadcast HTTP/1.1\r\n"))
        #expect(ours.contains("\r\napikey: k\r\n"))
        let body = "{\"topic\":\"shop:1\",\"event\":\"e\",\"data\":{\"m\":\"1\"}}"
        #expect(ours.hasSuffix("Content-Length: \(body.utf8.count)\r\n\r\n" + body))
        let theirs = String(decoding: Target.nchan.request(topic: "shop:1", data: data, apiKey: ""), as: UTF8.self)
        #expect(theirs.hasPrefix("POST /pub/shop:1 HTTP/1.1\r\n"))
        #expect(theirs.hasSuffix("Content-Length: 9\r\n\r\n{\"m\":\"1\"}"))
    }

    /// The way of a client of Socket.IO to being live.
    @Test func socketIOTakesFourSteps() {
        func answer(_ text: String) -> Target.Step {
            let bytes = Array(text.utf8)
            return Target.socketio.answered(bytes.span, topic: "shop:1", .native)
        }
        #expect(Target.socketio.upgraded(topic: "shop:1", .native) == .wait)
        #expect(answer("0{\"sid\":\"x\"}") == .say("40"))
        #expect(answer("40{\"sid\":\"y\"}") == .say("42[\"subscribe\",\"shop:1\"]"))
        #expect(answer("42[\"subscribed\"]") == .live)
        #expect(answer("44{\"message\":\"no\"}") == .refused)
        let ping = Array("2".utf8)
        let isPing = Target.socketio.isPing(ping.span, .native)
        #expect(isPing)
    }

    @Test func answersOfHTTPServers() {
        func take(_ pieces: [String]) -> [HTTPAnswer.Step] {
            var answer = HTTPAnswer()
            return pieces.map { piece in
                let bytes = Array(piece.utf8)
                return answer.take(bytes.span)
            }
        }
        let good = "HTTP/1.1 201 Created\r\ncontent-length: 5\r\nX: y\r\n\r\nhello"
        #expect(take([good, good]) == Array(repeating: .whole(status: 201, body: Array("hello".utf8)), count: 2))
        #expect(take([String(good.prefix(20)), String(good.dropFirst(20))]).first == .more)
        #expect(take(["HTTP/1.1 204 No Content\r\n\r\n"]) == [.whole(status: 204, body: [])])
        #expect(take(["HTTP/1.0 200 OK\r\n\r\n"]) == [.failed])
        #expect(take(["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"]) == [.failed])
        #expect(take([good + "more"]) == [.failed])
    }
}
