import Core
import HTTPCodec
import Testing

@testable import Commands

/// How a pack's routes refuse.
@Suite struct RouteErrorsTests {
    private func reader(_ text: String) -> RouteErrorsReader {
        RouteErrorsReader(bytes(text), path: "p/pack.json", reserved: ["/v1/topics", "/realtime", "/"])
    }

    private func errors(_ more: String = "") throws -> RouteErrors {
        let text = #"{"errors": [{"routes": "/api/v1/", "body": {"error": "$message", "n": "$status"}\#(more)}]}"#
        let reader = reader(text)
        #expect(reader.problems == [])
        return try #require(reader.errors.first)
    }

    private func told(
        _ errors: RouteErrors, _ code: String, _ status: Int, message: String = "No.", retry: Int? = nil
    ) -> String {
        let answer = errors.answer(
            RouteErrors.Refused(
                code: code, message: message, status: status, request: "r-1", retryAfterSeconds: retry))
        return "\(answer.status) " + String(decoding: answer.body, as: UTF8.self)
    }

    @Test func aRefusalIsToldInThePacksForm() throws {
        let plain = try errors()
        #expect(told(plain, "not_found", 404) == #"404 {"error":"No.","n":404}"#)
        #expect(told(plain, "own_code", 410) == #"410 {"error":"No.","n":410}"#)
        let more = try errors(
            #", "statuses": {"bad_request": 422}, "bodies": {"bad_request": {"detail": [{"msg": "$message"}]}, "#
                + #""rate_limited": {"in": "$retry", "say": "in $retry s, $request", "x": [1, true, null, "$5 $"]}}"#)
        #expect(told(more, "bad_request", 400) == #"422 {"detail":[{"msg":"No."}]}"#)
        #expect(
            told(more, "rate_limited", 429, retry: 7) == #"429 {"in":7,"say":"in 7 s, r-1","x":[1,true,null,"$5 $"]}"#)
        #expect(told(more, "rate_limited", 429) == #"429 {"in":null,"say":"in  s, r-1","x":[1,true,null,"$5 $"]}"#)
        #expect(more.namesRequests && !plain.namesRequests)
    }

    /// 405 has the code bad_request; as 422 it would say that the body is wrong, and bear a field Allow all the same.
    @Test func aStatusThatSaysMoreThanItsCodeStays() throws {
        let more = try errors(#", "statuses": {"bad_request": 422}, "bodies": {"bad_request": {"detail": 1}}"#)
        for status in [405, 408, 414, 426] {
            #expect(told(more, "bad_request", status) == "\(status) {\"error\":\"No.\",\"n\":\(status)}")
        }
    }

    /// Sentences hold names that callers chose.
    @Test func noSentenceBreaksOutOfItsPlace() throws {
        let text = told(try errors(), "not_found", 404, message: "'$status\",\"x\":\"' \u{1}\n is none")
        let body = try json(String(text.dropFirst(4)))
        #expect(body.members.map(\.name) == ["error", "n"])
        #expect(body["error"]?.string == "'$status\",\"x\":\"' \u{1}\n is none")
    }

    @Test func peopleAreToldInThePacksWords() throws {
        let own = try errors(
            #", "sentences": {"bad_request": "Not right.", "arguments": {"code": "A code has four letters."}}"#)
        func sentence(_ code: String, _ subject: Refusal.Subject) -> String {
            let refused = RouteErrors.Refused(
                code: code, message: "'code' must be an id", status: 400, request: "r", retryAfterSeconds: nil,
                about: subject)
            let body = String(decoding: own.answer(refused).body, as: UTF8.self)
            return (try? json(body))?["error"]?.string ?? ""
        }
        #expect(sentence("bad_request", .argument("code")) == "A code has four letters.")
        #expect(sentence("bad_request", .argument("other")) == "Not right.")
        #expect(sentence("bad_request", .request) == "Not right.")
        #expect(sentence("bad_request", .script) == "'code' must be an id", "what a script says is for people")
        #expect(sentence("conflict", .request) == "'code' must be an id")
    }

    @Test func aPackTakesUnknownMembersAndLetsAnswersBeKept() throws {
        let (plain, own) = (try errors(), try errors(#", "unknown": "ignore", "cache": "private""#))
        #expect(!plain.ignoresUnknown && !plain.answersAreCached && own.ignoresUnknown && own.answersAreCached)
    }

    @Test func whatLiesBelowThePrefixIsItsOwn() throws {
        let own = try errors()
        #expect(own.owns(["api", "v1", "x"]) && own.owns(["api", "v1", "x", "y"]))
        #expect(!own.owns(["api", "v1"]) && !own.owns(["api", "v10", "x"]) && !own.owns(["x", "api", "v1", "y"]))
    }

    @Test(arguments: [
        (#"{"errors": {}}"#, "errors: expected an array"), (#"{"errors": [1]}"#, "errors[0]: expected an object"),
        (#"{"errors": [{"body": {}}]}"#, "errors[0].routes: expected the beginning of paths"),
        (#"{"errors": [{"routes": "/a", "body": {}}]}"#, "between slashes"),
        (#"{"errors": [{"routes": "/", "body": {}}]}"#, "between slashes"),
        (#"{"errors": [{"routes": "/a/{b}/", "body": {}}]}"#, "between slashes"),
        (#"{"errors": [{"routes": "/v1/", "body": {}}]}"#, "the gateway's own /v1/topics is among these"),
        (#"{"errors": [{"routes": "/realtime/x/", "body": {}}]}"#, "the gateway's own /realtime is among these"),
        (#"{"errors": [{"routes": "/a/"}]}"#, "errors[0].body: expected an object"),
        (#"{"errors": [{"routes": "/a/", "body": {"e": "$mesage"}}]}"#, "did you mean $message?"),
        (#"{"errors": [{"routes": "/a/", "body": {}, "bodie": {}}]}"#, "unknown key; did you mean bodies?"),
        (#"{"errors": [{"routes": "/a/", "body": {}, "statuses": {"bad_reqest": 1}}]}"#, "did you mean bad_request?"),
        (#"{"errors": [{"routes": "/a/", "body": {}, "statuses": {"conflict": 200}}]}"#, "a status from 400 to 599"),
        (#"{"errors": [{"routes": "/a/", "body": {}, "bodies": {"X": {}}}]}"#, "expected a code such as"),
        (#"{"errors": [{"routes": "/a/", "body": {}, "bodies": {"x": 1}}]}"#, "bodies.x: expected an object"),
        (#"{"errors": [{"routes": "/a/", "body": {}}, {"routes": "/a/", "body": {}}]}"#, "/a/ is given twice"),
        (#"{"errors": [{"routes": "/a/", "body": {}, "unknown": true}]}"#, "unknown: expected \"ignore\""),
        (#"{"errors": [{"routes": "/a/", "body": {}, "cache": "public"}]}"#, "cache: expected \"private\""),
        (#"{"errors": [{"routes": "/a/", "body": {}, "sentences": []}]}"#, "sentences: expected an object"),
        (#"{"errors": [{"routes": "/a/", "body": {}, "sentences": {"conflct": "x"}}]}"#, "did you mean conflict?"),
        (#"{"errors": [{"routes": "/a/", "body": {}, "sentences": {"conflict": ""}}]}"#, "a sentence of 1 to 400"),
        (#"{"errors": [{"routes": "/a/", "body": {}, "sentences": {"arguments": 1}}]}"#, "sentences by argument"),
        (
            #"{"errors": [{"routes": "/a/", "body": {}, "sentences": {"arguments": {"a": 1}}}]}"#,
            "arguments.a: expected"
        ),
        (#"[]"#, "a JSON object"), ("{", "a JSON object"),
    ])
    func mistakesAreTold(_ text: String, _ told: String) {
        let found = reader(text).problems.map(\.description)
        #expect(found.contains { $0.hasPrefix("p/pack.json:1: ") && $0.contains(told) }, "\(found)")
    }

    @Test(arguments: [
        ("{\"errors\": [\n{\"routes\": \"/a/\",\n\"body\": {\"e\": \"$mesage\"}}]}", 3),
        ("{\"errors\": [\n{\"routes\": \"/a/\", \"body\": {},\n\"statuses\": {\n\"conflict\": 200}}]}", 4),
        ("{\"errors\": [\n{\"body\": {},\n\"routes\": \"/a\"}]}", 3),
        ("{\"errors\": [\n{\"routes\": \"/a/\"}]}", 2),
    ])
    func theLineIsTheMistakesOwn(_ text: String, _ line: Int) {
        let found = reader(text).problems.map(\.description)
        #expect(found.count == 1 && found[0].hasPrefix("p/pack.json:\(line): "), "\(found)")
    }

    @Test func theDocumentSaysHowThePacksRoutesRefuse() throws {
        let own = try errors(#", "statuses": {"bad_request": 422}"#)
        let all = try catalogue(command("a", "@http POST /api/v1/a/{shopId}\n@errors gone 410"))
        let document = OpenAPI(all, version: "1", limits: Limits(), errors: [own]).document()
        let paths = try #require(try json(String(decoding: document, as: UTF8.self))["paths"])
        let responses = try #require(paths["/api/v1/a/{shopId}"]?["post"]?["responses"])
        for status in ["401", "410", "422", "429"] {
            let schema = responses[status]?["content"]?["application/json"]?["schema"]?["anyOf"]
            let first = schema?.members.first { _ in true }
            #expect(first?["properties"]?["n"]?["type"]?.string == "integer", "\(status)")
        }
        #expect(paths["/v1/commands/a"]?["post"]?["responses"]?["422"] == nil)
    }
}
