import Core
import Testing

@testable import Commands

/// The description of the HTTP interface says what the headers say.
@Suite struct OpenAPITests {
    private static func document() throws -> JSON.Value {
        let catalogue = try catalogue(
            script(
                "vote",
                """
                @command vote
                @summary Cast a "vote".
                @http POST /v1/shops/{shopId}/tracks/{trackId}/vote
                @allow user|service
                @arg userId user
                @arg shopId id -- the shop
                @arg trackId string 1..128
                @arg vote enum up,down = up
                @arg weight number -1..2.5 optional
                @arg friends ids 0..3 optional
                @arg at time optional
                @arg data json 100 2 = {"a": [1]}
                @key tracks dj:{shopId}#tracks
                @topic dj:{shopId}
                @type standing {trackId: string, next: int|null, how?: 'up'|'down'}
                @emits queue:update standing -- when it changed
                @returns {score: number, standings: [standing], votes: {*: int}} -- of the track
                @errors not_present 403, gone 410, not_found
                @cost O(1)
                """),
            reader(
                "queue", "@arg shop id\n@arg top int 1..100 = 10\n@arg filter json 50 2 optional\n@arg ids ids 1..2",
                more: "@http GET /v1/shops/{shop}/queue\n@http PUT /v1/shops/{shop}/queue", allow: "anonymous|user"),
            command("same", "@http POST /v1/shops/{shopId}/queue"),
            command("hidden", allow: "worker"))
        let bytes = OpenAPI(catalogue, version: "1.2.3", limits: Limits()).document()
        return try JSON(parsing: bytes, limits: JSON.Limits(depthMax: 32, elementsMax: 100_000)).root
    }

    /// What a script tells and erases, and what it has signed, are described where such scripts are.
    @Test func aUsersDataAndTokensAreDescribed() throws {
        let user = "@arg userId user\n@key notes user:{userId}#notes\n@summary S.\n@allow worker\n@cost O(1)"
        let catalogue = try catalogue(
            script("e", "@command e\n\(user)\n@erases\n@returns {}\n@weight 300"),
            script(
                "t",
                "@command t\n\(user)\n@exports\n@readonly\n@returns {notes: [note]}\n@type note {text: string}\n@weight 200"
            ),
            command("guest", "@mint dj:{shopId} 6 h"))
        let bytes = OpenAPI(catalogue, version: "1", limits: Limits()).document()
        let root = try JSON(parsing: bytes, limits: JSON.Limits(depthMax: 32, elementsMax: 100_000)).root
        let route = try at(root, "paths", "/v1/users/{userId}/data")
        #expect(route.members.map(\.name) == ["get", "delete"])
        #expect(raw(route["get"]?["x-weight"]) == "200" && raw(route["delete"]?["x-weight"]) == "300")
        let told = raw(route["get"]?["responses"]?["200"])
        #expect(told.contains(#""notes":{"type":"array","items":{"type":"object","properties":{"text""#))
        let token = raw(try at(root, "components", "schemas", "guest.answer", "allOf"))
        #expect(token.contains("for dj:{shopId} and nothing else. It ends after 21600 seconds."))
        let others = raw(try OpenAPITests.document()["paths"])
        #expect(!others.contains("token of the gateway's own"))
    }

    private func at(_ value: JSON.Value, _ path: String...) throws -> JSON.Value {
        var value = value
        for name in path { value = try #require(value[name], "\(name)") }
        return value
    }

    private func raw(_ value: JSON.Value?) -> String { value.map { String(decoding: $0.raw, as: UTF8.self) } ?? "none" }

    @Test func everyRouteOfClientsIsDescribedAndNoOther() throws {
        let paths = try at(try OpenAPITests.document(), "paths")
        let routes = paths.members.flatMap { path in path.members.map { $0.name + " " + path.name } }
        #expect(
            routes.sorted() == [
                "delete /v1/dead-letters", "delete /v1/sessions/{id}/tap", "delete /v1/topics/{topic}/members/{user}",
                "get /livez", "get /metrics",
                "get /readyz",
                "get /v1/couriers", "get /v1/dead-letters", "get /v1/health", "get /v1/nodes",
                "get /v1/openapi.json", "get /v1/outbox", "get /v1/sessions", "get /v1/sessions/{id}/tap",
                "get /v1/shops/{shop}/queue",
                "get /v1/slow", "get /v1/talkers", "get /v1/topics",
                "get /v1/topics/{topic}", "get /v1/topics/{topic}/audit", "get /v1/topics/{topic}/events",
                "get /v1/topics/{topic}/presence", "get /v1/topics/{topic}/trace", "get /v1/webhooks", "get /v1/why",
                "get /v1/workers",
                "post /realtime/v1/api/broadcast",
                "post /realtime/v1/api/broadcast/{topic}/events/{event}",
                "post /v1/broadcast",
                "post /v1/commands/queue", "post /v1/commands/same", "post /v1/commands/vote",
                "post /v1/dead-letters/retry", "post /v1/revocations", "post /v1/sessions/{id}/close",
                "post /v1/sessions/{id}/tap",
                "post /v1/shops/{shopId}/tracks/{trackId}/vote",
                "post /v1/shops/{shop}/queue", "put /v1/shops/{shop}/queue",
                "put /v1/topics/{topic}/members/{user}",
            ])
        let ids = paths.members.flatMap { path in path.members.compactMap { $0["operationId"]?.string } }
        #expect(ids.count == routes.count && Set(ids).count == ids.count)
    }

    @Test func aBodyHasTheArgumentsOfItsHeader() throws {
        let vote = try at(try OpenAPITests.document(), "paths", "/v1/commands/vote", "post")
        #expect(vote["summary"]?.string == "Cast a \"vote\".")
        #expect(raw(vote["security"]) == "[{\"apikey\":[]},{\"bearer\":[]}]")
        #expect(raw(vote["tags"]) == "[\"vote\"]")
        let body = try at(vote, "requestBody", "content", "application/json", "schema")
        #expect(raw(body["additionalProperties"]) == "false")
        #expect(raw(body["required"]) == "[\"shopId\",\"trackId\"]", "a user's token stands for userId")
        let properties = try at(body, "properties")
        #expect(
            properties.members.map(\.name) == [
                "userId", "shopId", "trackId", "vote", "weight", "friends", "at", "data", "id",
            ])
        #expect(
            raw(properties["shopId"])
                == "{\"type\":[\"string\",\"integer\"],\"pattern\":\"^[A-Za-z0-9._~:-]{1,200}$\","
                + "\"minimum\":-9007199254740991,\"maximum\":9007199254740991,\"description\":\"the shop\"}"
        )
        #expect(
            raw(properties["vote"])
                == "{\"anyOf\":[{\"type\":\"string\",\"enum\":[\"up\",\"down\"]},{\"type\":\"null\"}],\"default\":\"up\"}"
        )
        #expect(
            raw(properties["weight"])
                == "{\"anyOf\":[{\"type\":\"number\",\"minimum\":-1.0,\"maximum\":2.5},{\"type\":\"null\"}]}")
        #expect(raw(properties["data"]?["default"]) == "{\"a\": [1]}")
        let inRoute = try at(
            try OpenAPITests.document(), "paths", "/v1/shops/{shopId}/tracks/{trackId}/vote", "post")
        #expect(
            inRoute["parameters"]?.members.compactMap { $0["name"]?.string } == [
                "shopId", "trackId", "Idempotency-Key",
            ])
        let rest = try at(inRoute, "requestBody", "content", "application/json", "schema", "properties")
        #expect(rest.members.map(\.name) == ["userId", "vote", "weight", "friends", "at", "data", "id"])
    }

    @Test func aGetHasItsArgumentsInPathAndQuery() throws {
        let get = try at(try OpenAPITests.document(), "paths", "/v1/shops/{shop}/queue", "get")
        #expect(get["requestBody"] == nil)
        let parameters = Array(try at(get, "parameters").members)
        #expect(parameters.compactMap { $0["name"]?.string } == ["shop", "top", "filter", "ids"])
        #expect(parameters.compactMap { $0["in"]?.string } == ["path", "query", "query", "query"])
        #expect(parameters.compactMap { $0["required"]?.bool } == [true, false, false, true])
        #expect(raw(parameters[1]["schema"]) == "{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,\"default\":10}")
        #expect(raw(get["security"]) == "[{\"apikey\":[]},{\"bearer\":[]},{}]")
    }

    @Test func anAnswerAndEventsHaveTheTypesOfTheHeader() throws {
        let document = try OpenAPITests.document()
        for path in ["/v1/commands/vote", "/v1/shops/{shopId}/tracks/{trackId}/vote"] {
            let vote = try at(document, "paths", path, "post")
            #expect(vote["responses"]?["200"]?["description"]?.string == "of the track")
            let schema = try at(vote, "responses", "200", "content", "application/json", "schema")
            #expect(raw(schema) == ##"{"$ref":"#/components/schemas/vote.answer"}"##)
            #expect(raw(vote["x-emits"]) == ##"{"queue:update":{"$ref":"#/components/schemas/standing"}}"##)
        }
        let schemas = try at(document, "components", "schemas")
        #expect(
            raw(schemas["vote.answer"])
                == ##"{"type":"object","properties":{"score":{"type":"number"},"standings":{"type":"array","items":"##
                + ##"{"$ref":"#/components/schemas/standing"}},"votes":{"type":"object","additionalProperties":"##
                + ##"{"type":"integer"}}},"required":["score","standings","votes"],"description":"of the track"}"##)
        #expect(
            raw(schemas["standing"])
                == ##"{"type":"object","properties":{"trackId":{"type":"string"},"next":{"type":["integer","null"]},"##
                + ##""how":{"enum":["up","down"]}},"required":["trackId","next"]}"##)
        #expect(schemas["hidden.answer"] == nil, "nobody but the worker calls it")
    }

    @Test func errorsStandUnderTheirStatus() throws {
        let document = try OpenAPITests.document()
        let vote = try at(document, "paths", "/v1/commands/vote", "post", "responses")
        let statuses = vote.members.map(\.name)
        for status in ["200", "400", "401", "403", "404", "409", "410", "413", "429", "500", "503"] {
            #expect(statuses.contains(status), "\(status)")
        }
        #expect(vote["410"]?["description"]?.string == "Codes: gone.")
        #expect(vote["403"]?["description"]?.string?.hasSuffix("Codes: not_present.") == true)
        let queue = try at(document, "paths", "/v1/commands/queue", "post", "responses")
        #expect(queue["409"] == nil, "reading conflicts with nothing")
    }

    /// Each `$ref` leads somewhere, and each parameter of a path is declared once.
    @Test func referencesAndParametersAreWhole() throws {
        let document = try OpenAPITests.document()
        var references = 0
        func check(_ value: JSON.Value) throws {
            if value.name == "$ref", let target = value.string {
                references += 1
                var found: JSON.Value? = document
                for part in target.split(separator: "/").dropFirst() { found = found?[String(part)] }
                #expect(found != nil, "\(target)")
            }
            for member in value.members { try check(member) }
        }
        try check(document)
        #expect(references > 50)
        for path in try at(document, "paths").members {
            let named = path.name.split(separator: "/").filter { $0.hasPrefix("{") }.map { $0.dropFirst().dropLast() }
            for operation in path.members {
                let given = (operation["parameters"]?.members.filter { $0["in"]?.string == "path" } ?? [])
                    .compactMap { $0["name"]?.string }
                #expect(given == named.map { String($0) }, "\(operation.name) \(path.name)")
            }
        }
    }
}
