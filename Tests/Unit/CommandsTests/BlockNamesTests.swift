import Core
import Testing

@testable import Commands

/// The names by which packs say how they keep blocks between users.
@Suite struct BlockNamesTests {
    private func names(_ text: String) -> (BlockNames, [ScriptProblem]) {
        var (names, problems) = (BlockNames(), [ScriptProblem]())
        names.add(Array(text.utf8), path: "p/pack.json", &problems)
        return (names, problems)
    }

    /// The keys of one pack stood in the gateway's own code.
    @Test func packsNameTheirOwnKeysAndEvents() throws {
        let text = #"""
            {"blocks": {"blocks": "a:{user}#x", "blockers": "b:{user}#y", "pair": "c:{user}_{other}#z", "standIns": ["e"]}}
            """#
        let (names, problems) = names(text)
        #expect(problems == [] && names.standIns == ["e"])
        let ann = Array("ann".utf8)
        #expect(names.blocks?.home(of: ann) == Topic("a:ann") && names.blocks?.facet == "x")
        #expect(names.blockers?.home(of: ann) == Topic("b:ann") && names.blockers?.facet == "y")
        let chat = try #require(Topic("chat:ann_bob"))
        let pair = try #require(names.pair?.home(of: ann, on: chat))
        #expect(pair.home == Topic("c:ann_bob") && pair.other == Array("bob".utf8))
        for topic in ["chat:eve_bob", "chat:ann", "chat:ann_ann", "chat:ann_bob_eve"] {
            let other = try #require(Topic(topic))
            #expect(names.pair?.home(of: ann, on: other) == nil)
        }
    }

    @Test func mistakesAreNamed() {
        for text in [
            #"{"blocks": 1}"#, #"{"blocks": {"blocks": "a:x#y"}}"#, #"{"blocks": {"blocks": "a:{user}"}}"#,
            #"{"blocks": {"pair": "a:{user}#y"}}"#, #"{"blocks": {"standIns": "e"}}"#,
            #"{"blocks": {"standIns": ["e", 1]}}"#, #"{"blocks": {"more": 1}}"#,
        ] {
            #expect(names(text).1.count == 1, "\(text)")
        }
        #expect(names("{}").1 == [] && names("{}").0 == BlockNames())
    }
}
