import Scripts
import Testing

@testable import Commands

/// Statements of packs about data that stay after an erasure.
@Suite struct KeptTests {
    private func reader(_ text: String) -> KeptReader { KeptReader(bytes(text), path: "p/pack.json") }

    @Test func rowsAreReadAndTold() {
        let reader = reader(#"{"keeps": [{"keys": "a:*#b c:*", "what": "w \"x\"", "until": "a day"}]}"#)
        #expect(reader.problems == [] && reader.rows == [Kept(keys: "a:*#b c:*", what: "w \"x\"", until: "a day")])
        let text = String(decoding: reader.rows.first?.json ?? [], as: UTF8.self)
        #expect(text == #"{"keys":["a:*#b","c:*"],"what":"w \"x\"","until":"a day"}"#)
        #expect(self.reader("{}").rows == [])
    }

    @Test func mistakesNameTheirPlace() {
        func problem(_ text: String) -> String { reader(text).problems.map(\.description).joined(separator: "; ") }
        #expect(problem(#"{"keeps": {}}"#).contains("keeps: expected an array"))
        #expect(problem(#"{"keeps": ["x"]}"#).contains("keeps[0]: expected an object"))
        #expect(problem("{\n\"keeps\": [{\"keys\": \"a\", \"waht\": \"b\"}]}").contains("p/pack.json:2"))
        let empty = #"{"keeps": [{"keys": "", "what": "b", "until": "c"}]}"#
        #expect(problem(empty).contains("expected keys, what and until"))
    }

    @Test func everyBuiltInPackIsRead() {
        for (name, text) in Scripts.packs {
            #expect(KeptReader(text, path: name).problems == [], "\(name)")
        }
    }
}
