import Core
import Dialects
import Testing

/// A publish is read the same way at every door.
@Suite struct PublishReaderTests {
    /// A door: its form, what its clients call the data, and how a refusal quotes a member.
    private struct SessionID {
        let form: PublishReader.Form
        let data: String
        let quoted: (String) -> String

        static var all: [SessionID] {
            [
                SessionID(form: .message, data: "data") { "\"data.\($0)\"" },
                SessionID(form: .broadcast, data: "data") { "'\($0)'" },
                SessionID(form: .supabase, data: "payload") { "'\($0)'" },
            ]
        }

        /// Reads a text in which DATA stands for the name of the member that holds the data.
        func read(_ text: String) throws -> Result<PublishRequest, Refusal> {
            let text = text.replacing("DATA", with: data)
            let json = try JSON(parsing: Array(text.utf8), limits: JSON.Limits(depthMax: 8, elementsMax: 200))
            do throws(Refusal) {
                return .success(try PublishReader(form, bytesMax: 40).request(json.root))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Each door had checks and words of its own: two clients read different sentences about the same fault.
    @Test(arguments: [
        ("{\"topic\":1,\"event\":\"e\",\"DATA\":{}}", "A topic must be"),
        ("{\"event\":\"e\",\"DATA\":{}}", "A topic must be"),
        ("{\"topic\":\"session\",\"event\":\"e\",\"DATA\":{}}", "A topic must be"),
        ("{\"topic\":\"session:7\",\"DATA\":{}}", "EVENT must be a string of 1 to 64"),
        ("{\"topic\":\"session:7\",\"event\":null,\"DATA\":{}}", "EVENT must be a string of 1 to 64"),
        ("{\"topic\":\"session:7\",\"event\":\"a b\",\"DATA\":{}}", "EVENT must be a string of 1 to 64"),
        ("{\"topic\":\"session:7\",\"event\":\"gap\",\"DATA\":{}}", "EVENT is 'gap', a name the gateway keeps"),
        ("{\"topic\":\"session:7\",\"event\":\"e\",\"DATA\":[]}", "DATA must be an object"),
        ("{\"topic\":\"session:7\",\"event\":\"e\",\"DATA\":\"x\"}", "DATA must be an object"),
        ("{\"topic\":\"session:7\",\"event\":\"e\",\"DATA\":{},\"id\":7}", "ID must be a string of 1 to 128"),
        ("{\"topic\":\"session:7\",\"event\":\"e\",\"DATA\":{},\"id\":\"-\"}", "ID must be a string of 1 to 128"),
    ])
    func aFaultReadsAlikeAtEveryDoor(_ text: String, _ words: String) throws {
        for sessionID in SessionID.all {
            guard case .failure(let refusal) = try sessionID.read(text) else {
                return #expect(Bool(false), "read: \(text)")
            }
            #expect(refusal.code == .badRequest)
            let expected = words.replacing("EVENT", with: sessionID.quoted("event"))
                .replacing("DATA", with: sessionID.quoted(sessionID.data)).replacing("ID", with: sessionID.quoted("id"))
            #expect(refusal.message.hasPrefix(expected), "\(refusal.message)")
        }
    }

    @Test func everyDoorReadsTheSameRequest() throws {
        let text = "{\"topic\":\"session:7\",\"event\":\"typing\",\"DATA\":{ \"a\" : 1.0 },\"id\":\"op-1\"}"
        let expected = PublishRequest(
            topic: try Native.topic("session:7"), event: try #require(EventName("typing")),
            data: Array("{ \"a\" : 1.0 }".utf8), id: MessageID(Array("op-1".utf8)))
        for sessionID in SessionID.all { #expect(try sessionID.read(text) == .success(expected)) }
    }

    @Test func everyDoorBoundsTheData() throws {
        func text(_ count: Int) -> String {
            "{\"topic\":\"a:1\",\"event\":\"e\",\"DATA\":{\"a\":\"\(String(repeating: "x", count: count - 8))\"}}"
        }
        for sessionID in SessionID.all {
            #expect(try sessionID.read(text(40)).get().data.count == 40)
            guard case .failure(let refusal) = try sessionID.read(text(41)) else { return #expect(Bool(false)) }
            #expect(refusal.code == .tooLarge)
            #expect(refusal.message == "\(sessionID.quoted(sessionID.data)) has 41 bytes; at most 40 are published.")
        }
    }

    /// Backends name what they send; typed clients write `null` for what they leave out.
    @Test func onlyMessagesMayLeaveOutTheirData() throws {
        for text in [
            "{\"topic\":\"a:1\",\"event\":\"e\"}", "{\"topic\":\"a:1\",\"event\":\"e\",\"DATA\":null,\"id\":null}",
        ] {
            for sessionID in SessionID.all {
                let request = try? sessionID.read(text).get()
                #expect((request != nil) == (sessionID.quoted("id") == "\"data.id\""))
                if let request { #expect(request.data == Array("{}".utf8) && request.id == nil) }
            }
        }
    }
}
