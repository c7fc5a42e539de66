import Core
import FoundationEssentials
import Rights
import Scripts
import TestSupport
import Testing

@testable import Commands
@testable import Configuration
@testable import EventLogs

/// What scripts bound by themselves fits what the gateway bounds and passes on.
///
/// A script's text is all that Redis has of it, so that some figures stand in both languages: here they are compared.
@Suite struct ScriptConstantsTests {
    private static let sources = Dictionary(
        uniqueKeysWithValues: [("prelude", Scripts.prelude.source)]
            + Scripts.commandPreludes.map { ($0.name, $0.source) }
            + Scripts.files.filter { ["core", "barbershop"].contains($0.pack) }.map { ($0.name, $0.source) })

    /// The value of `local NAME = 123` in a script.
    private func constant(_ name: String, _ script: String) throws -> Int {
        let text = String(decoding: try #require(ScriptConstantsTests.sources[script]), as: UTF8.self)
        let start = "local \(name) = "
        let transport = try #require(
            text.split(separator: "\n").first { $0.hasPrefix(start) }, "\(script).lua: \(name)")
        return try #require(Int(transport.dropFirst(start.count).prefix { $0.isNumber }))
    }

    /// A number of the barbershop's or the core's `constants.lua`.
    private func shared(_ name: String) throws -> Int {
        var problems: [ScriptProblem] = []
        let files = Scripts.constants.map {
            ScriptFile(name: $0.name, path: $0.path, bytes: $0.source, pack: $0.pack)
        }
        let constants = ScriptConstants(files, problems: &problems)
        #expect(problems.isEmpty)
        return try #require(constants.number(name, pack: "barbershop").flatMap { Int($0) }, "\(name)")
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
    @Test func nobodyFollowsMoreThanTheGatewayJoins() throws {
        #expect(try shared("FOLLOWS_MAX") == Limits().followsMax)
    }

    @Test(arguments: [("SHOP_ID_BYTES_MAX", "beat_user"), ("ID_BYTES_MAX", "part_booking")])
    func idsAreThoseOfTopics(_ name: String, _ script: String) throws {
        #expect(try constant(name, script) == Topic.idBytesMax)
        #expect(try shared("MEMBER_BYTES_MAX") == Topic.idBytesMax)
    }

    @Test func usersAreThoseOfTokens() throws {
        #expect(try constant("ADDER_BYTES_MAX", "part_dj") == Identity.userBytesMax)
        #expect(try shared("USER_BYTES_MAX") == Identity.userBytesMax)
    }

    @Test func thePageOfLimitsSaysThem() throws {
        let page = try ProjectFiles.text("docs/limits-processes.md")
        for (name, script) in [
            ("EFFECTS_MAX", "command"), ("EFFECT_BYTES_MAX", "command"), ("ANSWER_BYTES_MAX", "command"),
            ("CALL_PRICE", "command"),
            ("ANSWER_VALUES_MAX", "values"), ("LOG_EVENTS_MAX", "prelude"), ("TTL_SECONDS_MAX", "prelude"),
        ] {
            let value = try constant(name, script)
            #expect(page.contains("`\(name)` = \(value)"), "\(name) = \(value)")
        }
        let follows = try shared("FOLLOWS_MAX")
        #expect(page.contains("`FOLLOWS_MAX` = \(follows)"))
    }
}
