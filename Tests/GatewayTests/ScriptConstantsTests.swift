import Core
import FoundationEssentials
import Rights
import Scripts
import TestSupport
import Testing

@testable import Commands
@testable import Configuration
@testable import Gateway

/// What scripts bound by themselves fits what the gateway bounds and passes on.
///
/// A script's text is all that Redis has of it, so that some figures stand in both languages: here they are compared.
@Suite struct ScriptConstantsTests {
    private static let sources = Dictionary(
        uniqueKeysWithValues: [("prelude", Scripts.prelude)] + Scripts.commandPreludes.map { ($0.name, $0.source) }
            + Scripts.files.filter { ["core", "barbershop"].contains($0.pack) }.map { ($0.name, $0.source) })

    /// The value of `local NAME = 123` in a script.
    private func constant(_ name: String, _ script: String) throws -> Int {
        let text = String(decoding: try #require(ScriptConstantsTests.sources[script]), as: UTF8.self)
        let start = "local \(name) = "
        let transport = try #require(
            text.split(separator: "\n").first { $0.hasPrefix(start) }, "\(script).lua: \(name)")
        return try #require(Int(transport.dropFirst(start.count).prefix { $0.isNumber }))
    }

    private func most(_ limit: String) throws -> Int {
        try #require(Limits.table.first { $0.name == limit }).range.upperBound
    }

    /// A limit that could be set higher than the scripts take would fail every call that passes it on.
    @Test func scriptsTakeWhateverConfigurationAccepts() throws {
        let events = try constant("LOG_EVENTS_MAX", "prelude")
        for limit in ["recoveryEventsMax", "historyPageMax"] { #expect(try most(limit) <= events, "\(limit)") }
        #expect(NamespaceReader.logEventsMax <= events)
        let seconds = try constant("TTL_SECONDS_MAX", "prelude")
        for limit in ["idlePositionSeconds", "idempotencySeconds", "relayedSeconds"] {
            #expect(try most(limit) <= seconds, "\(limit)")
        }
        var longest = try #require(StandardTables.namespaces["shop"])
        longest.logSeconds = DurationText.secondsMax
        #expect(longest.positionSeconds <= seconds)
        #expect(try constant("KEYS_MAX", "renew") == EventLog.renewedAtOnce)
    }

    /// An answer or event that a script may give and the gateway does not pass on would be done and not told.
    @Test func theGatewayPassesOnWhateverScriptsMayAnswer() throws {
        let limits = Limits()
        #expect(try constant("ANSWER_BYTES_MAX", "command") <= limits.answerBytesMax)
        #expect(try constant("EFFECT_BYTES_MAX", "command") <= limits.answerBytesMax)
        #expect(try constant("ANSWER_BYTES_MAX", "command") < limits.redisReplyBytesMax)
        // A run of calls alone costs the most.
        let dearest = try constant("EFFECTS_MAX", "command") * constant("CALL_PRICE", "command")
        #expect(dearest <= CommandReply.priceMax)
        #expect(try constant("ANSWER_VALUES_MAX", "values") == limits.jsonElementsMax)
        #expect(try constant("VALUES_MAX", "publish_post") * 2 == limits.jsonElementsMax)
    }

    /// Whoever could follow more than the gateway joins would not hear some of them.
    @Test(arguments: ["follow", "following", "feed"])
    func nobodyFollowsMoreThanTheGatewayJoins(_ script: String) throws {
        #expect(try constant("FOLLOWS_MAX", script) == Limits().followsMax)
    }

    @Test(arguments: [
        ("SHOP_ID_BYTES_MAX", "beat_user"), ("ID_BYTES_MAX", "part_booking"), ("MEMBER_BYTES_MAX", "part_rank"),
    ])
    func idsAreThoseOfTopics(_ name: String, _ script: String) throws {
        #expect(try constant(name, script) == Topic.idBytesMax)
    }

    @Test(arguments: [("ADDER_BYTES_MAX", "part_dj"), ("USER_BYTES_MAX", "presence_refresh")])
    func usersAreThoseOfTokens(_ name: String, _ script: String) throws {
        #expect(try constant(name, script) == Identity.userBytesMax)
    }

    @Test func thePageOfLimitsSaysThem() throws {
        let here = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let page = try String(contentsOfFile: "/\(here)/docs/limits.md", encoding: .utf8)
        for (name, script) in [
            ("EFFECTS_MAX", "command"), ("EFFECT_BYTES_MAX", "command"), ("ANSWER_BYTES_MAX", "command"),
            ("CALL_PRICE", "command"),
            ("ANSWER_VALUES_MAX", "values"), ("FOLLOWS_MAX", "follow"), ("LOG_EVENTS_MAX", "prelude"),
            ("TTL_SECONDS_MAX", "prelude"),
        ] {
            let value = try constant(name, script)
            #expect(page.contains("`\(name)` = \(value)"), "\(name) = \(value)")
        }
    }
}
