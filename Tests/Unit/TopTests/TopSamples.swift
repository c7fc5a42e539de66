import Core

@testable import Top

/// Answers of a fleet as they come: three gateways, one of another version, a worker, and names of attackers.
enum TopSamples {
    /// The second of two rounds, and the first when `second` is 0; rates follow from both.
    static func answers(second: Int) -> TopAnswers {
        var answers = TopAnswers()
        answers.wallMs = 1_795_000_000_000 + second * 1_000
        answers.announced = 4
        answers.nodes = Array(
            "[\(gateway("Jw8_kQ2z", "web-1", second)),\(gateway("p0Lm-3xY", "web-2", second, isReady: false)),\(old),\(worker)]"
                .utf8)
        answers.missing = [("aB3dE6gH", "not_listening")]
        answers.gone = [("zZ9yX8wV", 40), ("old", 4_000)]
        answers.lists[.topics] = (Array(topics.utf8), 950)
        answers.lists[.slow] = (Array(slow.utf8), 2)
        answers.lists[.talkers] = (Array(talkers.utf8), 3)
        answers.outbox = Array(
            #"{"entries":12,"oldestSeconds":3,"dead":2,"lastError":{"at":"x","reason":"NOSCRIPT"}}"#.utf8)
        answers.webhooks = Array(#"[{"receiver":"kitchen","topicsWaiting":1,"oldestSeconds":7,"lastError":null}]"#.utf8)
        answers.webhooksDead = ["kitchen": 5]
        answers.redis = TopRedis(latencyUs: 420, usedBytes: 1_288_490_188, boundBytes: 4_294_967_296)
        return answers
    }

    /// The report after both rounds.
    static var report: TopReport {
        var report = TopReport()
        report.take(answers(second: 0))
        report.take(answers(second: 2))
        return report
    }

    private static func gateway(_ id: String, _ name: String, _ second: Int, isReady: Bool = true) -> String {
        let (more, uptime) = (second * 1_000, 86_400 + second)
        let state = isReady ? #""ready":true,"reasons":[]"# : #""ready":false,"reasons":["redis_subscriber","clock"]"#
        return #"{"name":"\#(name)","id":"\#(id)","role":"gateway","version":"0.1.0","format":1,"#
            + #""uptimeSeconds":\#(uptime),\#(state),"warnings":[],"draining":false,"connections":4100,"#
            + #""memoryBytes":91000000,"traffic":{"uptimeMs":\#(uptime * 1_000),"messagesIn":\#(5_000 + more / 100),"#
            + #""messagesOut":\#(9_000_000 + 600 * second),"bytesIn":\#(more * 2),"bytesOut":\#(more * 40),"#
            + #""publishes":\#(22 * second),"refusals":\#(second / 2),"slowCloses":3,"cpuMs":\#(more / 4),"#
            + #""loopBoundsUs":[64,1024,16384],"loopTicks":[\#(1_000 + 97 * second),\#(3 * second),0,0]},"#
            + #""services":[{"service":"music","waiting":4,"oldestSeconds":1,"dead":1}]}"#
    }

    private static let old =
        #"{"name":"evil\u001b[2Jhost\r\n\u009b31m","id":"\u202Eidcba","role":"gateway","version":"0.0.9\u0007","#
        + #""ready":true,"reasons":[],"connections":-5,"memoryBytes":9223372036854775807}"#
    private static let worker =
        #"{"name":"wrk","id":"wrk","role":"worker","version":"0.1.0","format":1,"clockOffsetMs":1}"#
    private static let topics =
        #"[{"topic":"shop:42","members":4000,"eventsPerMinute":1200,"bytesPerMinute":2400000,"nodes":3},"#
        + #"{"topic":"order:\u001b]0;title\u0007-김서연","members":2,"eventsPerMinute":90000,"bytesPerMinute":1,"nodes":1},"#
        + #"{"topic":"a-very-long-namespace:\#(String(repeating: "x", count: 150))","members":1,"nodes":1}]"#
    private static let slow =
        #"[{"id":"Jw8_kQ2z.0.7","user":"ann","key":null,"address":"192.0.2.7","dialect":"native","topicCount":3,"why":null,"#
        + #""queuedBytes":70000,"waitingMs":1500},{"id":"Jw8_kQ2z.0.9","user":null,"key":"back\tend","address":null,"#
        + #""dialect":"phoenix","topicCount":1,"why":"slow_consumer","queuedBytes":0,"waitingMs":0}]"#
    private static let talkers =
        #"[{"user":"ann","events":1200,"bytes":9000,"refusals":0,"redisUs":52000},"#
        + #"{"user":"\u200bbob","events":70,"bytes":512,"refusals":12,"redisUs":900},7,{"user":"\#(String(repeating: "é", count: 80))","#
        + #""events":1,"bytes":1,"refusals":0,"redisUs":0}]"#
}
