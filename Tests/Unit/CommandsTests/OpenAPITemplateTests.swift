import APIDescription
import Core
import TestSupport
import Testing

@testable import Commands

/// The texts of `api/` are read strictly: what is wrong in them is found by a test, and never served.
@Suite struct OpenAPITemplateTests {
    private static func problemOfRoutes(_ routes: String, _ parts: String) throws -> String? {
        do {
            _ = try OpenAPIGateway(
                Limits(), try catalogue(), hasOperations: true, routes: Array(routes.utf8), parts: Array(parts.utf8))
            return nil
        } catch let problem as OpenAPITemplate.Problem { return problem.text }
    }

    private static let routes = String(decoding: APIDescription.routes, as: UTF8.self)
    private static let parts = String(decoding: APIDescription.parts, as: UTF8.self)

    @Test func eachRouteIsDescribedAndNothingElse() throws {
        let (routes, parts) = (OpenAPITemplateTests.routes, OpenAPITemplateTests.parts)
        #expect(try OpenAPITemplateTests.problemOfRoutes(routes, parts) == nil)
        let less = routes.replacing("\"revoke\": {", with: "\"revok\": {")
        #expect(try OpenAPITemplateTests.problemOfRoutes(less, parts) == "there is no route revok")
        let more = "{\"command\": {}," + routes.dropFirst()
        #expect(try OpenAPITemplateTests.problemOfRoutes(more, parts) == "there is no route command")
        #expect(try OpenAPITemplateTests.problemOfRoutes("{}", parts) == "the route addMember is not described")
    }

    @Test func limitsArePutInByName() throws {
        var limits = Limits()
        (limits.publishBytesMax, limits.presencePageMax) = (4_321, 7)
        let document = OpenAPI(try catalogue(), version: "1", limits: limits).document()
        let text = String(decoding: document, as: UTF8.self)
        #expect(text.contains("At most 4321 bytes of JSON.") && text.contains("\"maximum\":7,\"default\":7"))
        let wrong = OpenAPITemplateTests.parts.replacing("${publishBytesMax}", with: "${publishBytesMost}")
        let problem = try OpenAPITemplateTests.problemOfRoutes(OpenAPITemplateTests.routes, wrong)
        #expect(problem?.hasSuffix("there is no value publishBytesMost") == true)
    }

    @Test func eachPartIsUsed() throws {
        let template = try JSON(
            parsing: APIDescription.parts, limits: JSON.Limits(depthMax: 64, elementsMax: 100_000))
        for part in template.root.members {
            let use = "{\"$value\": \"\(part.name)\"}"
            #expect((OpenAPITemplateTests.routes + OpenAPITemplateTests.parts).contains(use), "\(part.name)")
        }
    }

    private static func made(_ text: String, parts: String = "{}") -> String {
        do {
            let values: [String: JSONNode] = ["most": 5, "word": "w"]
            let members = try OpenAPITemplate(values, parts: Array(parts.utf8)).members(of: Array(text.utf8))
            return String(decoding: JSONNode.object(members).bytes, as: UTF8.self)
        } catch { return error.text }
    }

    @Test func namesBecomeWhatTheyStandFor() {
        #expect(
            OpenAPITemplateTests.made(
                #"{"z": {"$value": "p"}, "a": ["${most}-${most}$", 1.50, true, null, {}]}"#,
                parts: #"{"o": "at most ${most}", "p": {"q": {"$value": "o"}}}"#)
                == #"{"z":{"q":"at most 5"},"a":["5-5$",1.50,true,null,{}]}"#)
        #expect(
            OpenAPITemplateTests.made(#"{"a": {"$json": {"type": "object"}}}"#)
                == #"{"a":{"content":{"application/json":{"schema":{"type":"object"}}}}}"#)
    }

    @Test func errorsAreTheSharedOnesButTheOwn() {
        let own = OpenAPIErrors.everywhere.dropFirst().map { #""\#($0)":1"# }.joined(separator: ",")
        let described = OpenAPITemplateTests.made("{\"a\": {\"200\": 1, \"$errors\": [404], \(own)}}")
        let shared = { (status: Int) in "\"\(status)\":{\"$ref\":\"#/components/responses/Error\(status)\"}" }
        #expect(described == "{\"a\":{\"200\":1,\(shared(400)),\(shared(404)),\(own)}}")
    }

    @Test(arguments: [
        (#"{"a": {"$value": "none"}}"#, "line 1: there is no value none"),
        ("{\n\"a\": \"${none}\"}", "line 2: there is no value none"),
        (#"{"a": "${word}"}"#, "line 1: ${word} is no number"),
        (#"{"a": "${most"}"#, "line 1: ${most has no end"),
        (#"{"a": {"$value": "most", "b": 1}}"#, "line 1: $value has no neighbours"),
        (#"{"a": {"$limit": "most"}}"#, "line 1: $limit has no meaning"),
        (#"{"a": {"$errors": ["404"]}}"#, "line 1: $errors is a list of statuses"),
        (#"{"a": {"$errors": 404}}"#, "line 1: $errors is a list of statuses"),
        ("{\n\"a\": 1,\n\"a\": 2}", "line 3: a member name occurs twice in one object"),
        ("{\n\"a\"}", "line 2: not valid JSON"),
    ])
    func whatIsWrongIsFound(_ text: String, _ problem: String) {
        #expect(OpenAPITemplateTests.made(text) == problem)
    }

    @Test func aPartHasANameOfItsOwn() {
        #expect(
            OpenAPITemplateTests.made("{}", parts: #"{"most": 1}"#) == "line 1: most is a value of the gateway's own")
        #expect(
            OpenAPITemplateTests.made("{}", parts: #"{"a": {"$value": "b"}, "b": 1}"#) == "line 1: there is no value b")
    }
}
