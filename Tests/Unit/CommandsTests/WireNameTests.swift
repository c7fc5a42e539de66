import Core
import HTTPCodec
import Testing

@testable import Commands

/// Names on the wire, folding, statuses of routes.
@Suite struct WireNameTests {
    private static let song = command(
        "song",
        """
        @arg songId id as id
        @arg title string 1..9 = x fold lower as song_title -- the title
        @arg mode enum up,down optional fold lower
        @arg userId user fold lower as user_id
        @arg friends ids 0..3 optional fold lower
        @http POST /v1/a/{shopId}/{songId} 201
        @http PUT /v1/a/{shopId}/{id} 204
        """)

    private func descriptor() throws -> CommandDescriptor {
        try #require(try catalogue(WireNameTests.song).command(named: "song"))
    }

    @Test func clientsUseTheWireNameAndBodiesTheOther() throws {
        let song = try descriptor()
        #expect(song.arguments.map(\.wire) == ["shopId", "id", "song_title", "mode", "user_id", "friends"])
        #expect(song.arguments.map(\.name) == ["shopId", "songId", "title", "mode", "userId", "friends"])
        let bound = try bind(
            song, #"{"shopId":1,"id":"s","song_title":"ABC","mode":"UP","user_id":"U","friends":["A",7]}"#)
        #expect(bound.values.map { text($0) } == ["1", "s", "abc", "up", "u", "a 7"])
        #expect(bound.operation == nil, "the member id is an argument")
        let unknown = try #require(try refusal(song, #"{"shopId":1,"id":"s","title":"a","user_id":"u"}"#))
        #expect(unknown.message == "'title' is no argument of song; did you mean song_title?")
        let missing = try #require(try refusal(song, #"{"shopId":1,"user_id":"u"}"#))
        #expect(missing.message.hasPrefix("'id' is missing"))
        let wrong = try #require(try refusal(song, #"{"shopId":1,"id":"s","user_id":"u","song_title":""}"#))
        #expect(wrong.message.hasPrefix("'song_title' must be"))
    }

    @Test func aRouteNamesArgumentsByEitherName() throws {
        let all = try catalogue(WireNameTests.song)
        #expect(try descriptor().routes.map(\.path.description) == ["/v1/a/{shopId}/{id}", "/v1/a/{shopId}/{id}"])
        for (method, status) in [(HTTPMethod.post, 201), (.put, 204)] {
            guard case .command(_, let route, let path) = all.route(method: method, segments: ["v1", "a", "X", "s"])
            else {
                Issue.record("no route")
                continue
            }
            #expect(route.status == status)
            let bound = try bind(try descriptor(), nil, path: path, caller: user("u"))
            #expect(bound.values.prefix(2).map { text($0) } == ["X", "s"])
        }
    }

    @Test(arguments: [
        ("bob_ann", "ann_bob"), ("ann_bob", "ann_bob"), ("a_B", "B_a"), ("x_z_y", "x_z_y"), ("b", "b"), ("b_", "b_"),
    ])
    func theTwoIdsOfAPairHaveOneOrder(_ given: String, _ folded: String) throws {
        let pair = try #require(try catalogue(command("p", "@arg pairId id fold pair")).command(named: "p"))
        for body in [#"{"shopId":1,"pairId":"\#(given)"}"#] {
            #expect(text(try bind(pair, body).values.last ?? nil) == folded)
        }
    }

    /// A value given in two places is one when it is the same after folding.
    @Test func placesAgreeAfterFolding() throws {
        let path = [TextArgument(name: "song_title", value: bytes("AbC"))]
        let song = try descriptor()
        let same = #"{"shopId":1,"id":"s","user_id":"u","song_title":"aBc"}"#
        #expect(text(try bind(song, same, path: path).values[2]) == "abc")
        let other = #"{"shopId":1,"id":"s","user_id":"u","song_title":"abd"}"#
        #expect(try refusal(song, other, path: path)?.message == "'song_title' is given twice, with different values")
    }

    /// Folding must neither keep a user with capitals from acting, nor let it act for the user without.
    @Test func aUserIsComparedAsItIsToo() throws {
        let song = try descriptor()
        func acting(_ given: String, as caller: String) throws -> String? {
            let body = #"{"shopId":1,"id":"s","user_id":"\#(given)"}"#
            do {
                return text(try bind(song, body, caller: user(caller)).actingUser)
            } catch let refusal as Refusal {
                #expect(refusal.code == .forbidden)
                return nil
            }
        }
        #expect(try acting("Ada", as: "Ada") == "Ada")
        #expect(try acting("ADA", as: "ada") == "ada")
        #expect(try acting("ada", as: "Ada") == nil, "ada is somebody else")
        #expect(try acting("bob", as: "ada") == nil)
    }

    @Test(arguments: [
        ("@arg x id as", "as needs the name"), ("@arg x id as 9x", "after as: a lower-case letter"),
        ("@arg x id as a-b", "after as: a lower-case letter"), ("@arg x id as ref", "ref names a client's message"),
        ("@arg id id", "choose another name, e.g. itemId as id"), ("@arg x id fold", "expected fold lower"),
        ("@arg x id fold upper", "expected fold lower"), ("@arg x int 1..2 fold lower", "not for int"),
        ("@arg x string 1..2 fold pair", "fold pair is for id"),
        ("@arg x enum A,b fold lower", "no choice may have a capital"),
        ("@arg x id as shopId", "another value is called shopId"),
        ("@arg x id as y\n@arg z id as y", "another argument is y on the wire"),
        ("@arg x id as y\n@arg y id", "another value is called y"),
        ("@arg x id lower as y", "unexpected \"lower\" after the type"),
        ("@http POST /v1/x/{shopId} 404", "the status of an answer is 200, 201, 202 or 204"),
        ("@http POST /v1/x/{shopId} 200 201", "expected a method, a path and perhaps a status"),
        ("@http POST /v1/x/{shop_Id}", "{shop_Id} is no @arg; did you mean shopId?"),
    ])
    func mistakesAreTold(_ more: String, _ told: String) throws {
        let found = problems(command("a", more))
        #expect(found.count == 1 && found[0].hasPrefix("a.lua:") && found[0].contains(told), "\(found)")
    }

    @Test func theDocumentSaysTheWire() throws {
        let limits = Limits()
        let document = OpenAPI(try catalogue(WireNameTests.song), version: "1", limits: limits).document()
        let paths = try #require(try json(String(decoding: document, as: UTF8.self))["paths"])
        let post = try #require(paths["/v1/a/{shopId}/{id}"]?["post"])
        #expect(post["responses"]?["201"] != nil && post["responses"]?["200"] == nil)
        let names = post["requestBody"]?["content"]?["application/json"]?["schema"]?["properties"]?.members.map(\.name)
        #expect(names == ["song_title", "mode", "user_id", "friends"])
        #expect(paths["/v1/a/{shopId}/{id}"]?["put"]?["responses"]?["204"]?["content"] == nil)
        let own = paths["/v1/commands/song"]?["post"]?["parameters"]?.members.map { $0["name"]?.string }
        #expect(own == ["Idempotency-Key"])
    }
}
