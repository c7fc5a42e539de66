import Testing

@testable import Commands

/// The types that headers declare: how they are read, and how programs see them.
@Suite struct ValueTypeTests {
    @Test(arguments: [
        "string", "int|null", "'up'|'down'|null", "[[int]]", "{}", "object", "{*: int}",
        "{a: string, b?: [track], *: any}", "{a: {b: {c: bool}}, d: any}", "string|[string]",
    ])
    func aTypeReadsAsItIsWritten(_ text: String) throws {
        let value = try DeclaredValue(header: text + " -- a text, with {")
        #expect(value.type.description == text && value.text == "a text, with {" && value.untyped == nil)
    }

    @Test(arguments: ValueType.words) func everyWordIsAType(_ word: String) throws {
        #expect(ValueType(word: word)?.description == word)
        #expect(try DeclaredValue(header: word).type == ValueType(word: word))
    }

    @Test func spacesAndLinesBetweenWordsMeanNothing() throws {
        let value = try DeclaredValue(header: "{a :string,\nb? : int | null ,\n* : [ bool ] }--text")
        #expect(value.type.description == "{a: string, b?: int|null, *: [bool]}" && value.text == "text")
        #expect(try DeclaredValue(header: "{*: any}").type.description == "object")
    }

    @Test func aMemberWithoutATypeIsAny() throws {
        let value = try DeclaredValue(header: "{a: int, b, c?}")
        #expect(value.type.description == "{a: int, b: any, c?: any}" && value.untyped == "b")
    }

    /// Mistakes, and how many lines below the tag they stand.
    @Test(arguments: [
        ("", "expected a type, e.g. {trackId: string, next: int|null, tracks: [track]}, not the end", 0),
        ("{a: int", "expected , or } behind a, not the end", 0),
        ("{a: int\nb: int}", #"expected , or } behind a, not "b:""#, 1),
        ("{a: int,\nb: int,\na: int}", "a is given twice", 2),
        (
            "{a: int, }",
            "expected the name of a member, e.g. {trackId: string, next: int|null, tracks: [track]}, not \"}\"", 0
        ),
        ("[int", "expected ] behind int, not the end", 0),
        ("{*: int, a: int}", #"expected } behind *: int, not ",""#, 0),
        ("{* int}", #"expected * and a type, e.g. {*: int}, not "int}""#, 0),
        ("'up", "a text such as 'up' stands between two quotes, and is not empty", 0),
        ("''", "a text such as 'up' stands between two quotes, and is not empty", 0),
        ("int|int", "int is given twice", 0),
        ("String", "String is no type; did you mean string?", 0),
        ("int text", #"expected the end, or -- and a text, not "text""#, 0),
        (String(repeating: "[", count: 17), "more than 16 levels of brackets", 0),
    ])
    func aWrongTypeIsToldWithItsLine(_ text: String, _ message: String, _ linesBelow: Int) {
        #expect(throws: HeaderFault(message, linesBelow: linesBelow)) { try DeclaredValue(header: text) }
    }

    private static func typed(_ name: String, _ more: String) -> ScriptFile {
        script(name, "@command \(name)\n@summary S.\n@allow user\n@readonly\n@cost O(1)\n\(more)")
    }

    @Test func aTypeGoesOnWhileABracketIsOpen() throws {
        let command = try #require(
            try catalogue(ValueTypeTests.typed("a", "@returns {a: int,\n  b: [string],\n  c: bool} -- text\nprose"))
                .command(named: "a"))
        #expect(command.returns.type.description == "{a: int, b: [string], c: bool}" && command.returns.text == "text")
        let wrong = problems(
            ValueTypeTests.typed("a", "@returns {a: int,\n  b: [strin],\n  c: }\n@weight 5\n@type x int|"))
        #expect(
            wrong == [
                "a.lua:8: @returns: expected a type, "
                    + "e.g. {trackId: string, next: int|null, tracks: [track]}, not \"}\"",
                "a.lua:10: @type: expected a type, "
                    + "e.g. {trackId: string, next: int|null, tracks: [track]}, not the end",
            ])
        #expect(
            problems(ValueTypeTests.typed("a", "@returns {a: int,\n@weight 5")) == [
                "a.lua:6: @returns: expected the name of a member, "
                    + "e.g. {trackId: string, next: int|null, tracks: [track]}, not the end"
            ])
    }

    @Test func aTypeIsKnownInTheHeadersOfItsPackAlone() throws {
        let part = script(
            "part_track", "@part track\n@summary S.\n@type track {id: string, by: user}\n@type user {id: int}")
        let using = ValueTypeTests.typed("a", "@returns {tracks: [track]}")
        #expect(try catalogue(part, using).types.map(\.name) == ["track", "user"])
        var other = ScriptFile(name: "a", path: "a.lua", bytes: using.bytes, pack: "dj")
        #expect(problems(part, other) == ["a.lua:6: @returns: there is no type track"])
        other = ScriptFile(name: "part_track", path: "p.lua", bytes: part.bytes, pack: "dj")
        #expect(try catalogue(part, using, other).types.map(\.name) == ["dj.track", "dj.user", "track", "user"])
    }

    @Test func unknownTypesAndCirclesAreTold() {
        let part = script(
            "p",
            "@part p\n@summary S.\n@type track {by: usr}\n@type user {friends: [user]}\n@type user int\n@type int int")
        let state = script("s", "@state shop\n@summary S.\n@cost O(1)\n@returns trak")
        #expect(
            problems(part, state) == [
                "p.lua:3: @type: there is no type usr; did you mean user?",
                "p.lua:4: @type: a value of this type would hold another of the same type",
                "p.lua:5: @type: user is declared on p.lua:4",
                "p.lua:6: @type: expected a name and a type, e.g. track {trackId: string}; the name is a lower-case "
                    + "letter, then at most 63 of a-z 0-9 _, and no word such as string",
                "s.lua:4: @returns: there is no type trak; did you mean track?",
            ])
    }

    /// Each type names the one before twice, so that the last one written out has 2^25 types: it took for ever.
    @Test func aTypeThatGrowsTooLargeWrittenOutIsTold() throws {
        func part(_ count: Int, _ type: (String) -> String) -> ScriptFile {
            let types = (1...count).map { "@type t\($0) \(type("t\($0 - 1)"))\n" }.joined()
            return script("p", "@part p\n@summary S.\n@type t0 int\n" + types)
        }
        let large = "with all types that it names written out, it has more than 10000 types or 64 levels of names"
        #expect(problems(part(25) { "{a: \($0), b: \($0)}" }) == ["p.lua:16: @type: \(large)"])
        // The types of a pack may be declared in many headers.
        let chain = (0..<3).map { file in
            let types = (file * 30..<file * 30 + 30).map { "@type t\($0) \($0 == 0 ? "int" : "[t\($0 - 1)]")\n" }
            return script("p\(file)", "@part p\(file)\n@summary S.\n" + types.joined())
        }
        #expect(problems(chain[0], chain[1], chain[2]) == ["p2.lua:7: @type: \(large)"])
        let catalogue = try catalogue(part(12) { "{a: \($0), b: \($0)}" })
        #expect(catalogue.writtenOut(.named("t12")).size { _ in 0 } == 8_191)
        let using = ValueTypeTests.typed("a", "@returns {c: t12, d: t12}")
        #expect(problems(part(12) { "{a: \($0), b: \($0)}" }, using) == ["a.lua:6: @returns: \(large)"])
    }

    /// The one schema took the place of the other.
    @Test func aTypeIsNotNamedAsTheAnswerOfACommand() {
        let type = ScriptFile(
            name: "p", path: "p.lua", bytes: script("p", "@part p\n@summary S.\n@type answer {id: int}").bytes,
            pack: "a")
        #expect(
            problems(type, ValueTypeTests.typed("a", "@returns {b: int}")) == [
                "p.lua:3: @type: the answer of the command a has the same name in OpenAPI, a.answer; choose another name"
            ])
    }

    @Test func anOperatorsMemberWithoutATypeIsAHint() throws {
        let typed = ValueTypeTests.typed("a", "@returns {b: int}\n@weight 5")
        let untyped = ValueTypeTests.typed("c", "@returns {d: int, e}\n@emits f {g}\n@weight 5")
        #expect(try catalogue(untyped).hints.isEmpty, "of the operator's scripts alone")
        #expect(
            try catalogue(operators: [typed, untyped]).hints.map(\.description) == [
                "c.lua:6: @returns: e has no type; write one, e.g. e: string (docs/scripts/types.md)",
                "c.lua:7: @emits f: g has no type; write one, e.g. g: string (docs/scripts/types.md)",
            ])
    }

    @Test func everyBuiltInHeaderHasTypes() throws {
        let catalogue = try everyPack.get().catalogue
        for script in catalogue.commands + catalogue.refreshes {
            #expect(script.returns.untyped == nil && script.returns.type != .any, "\(script.file.path)")
            for event in script.emits { #expect(event.data.untyped == nil, "\(script.file.path) \(event.name)") }
        }
        for state in catalogue.states.values where state.namespace != "session" {
            #expect(state.value.untyped == nil && state.value.type != .any, "\(state.file.path)")
        }
    }

    // MARK: Schemas and programs

    private static func shown() throws -> Catalogue {
        try catalogue(
            script(
                "play",
                """
                @command play
                @summary Play a track.
                @allow user
                @arg userId user
                @arg trackId id -- the track
                @arg how enum now,later = now
                @arg default int 1..2 optional
                @key tracks dj:{userId}#tracks
                @topic dj:{userId}
                @type track {id: string, artists: [{name: string}], by?: string|null, more: object}
                @emits track:played track -- at once
                @emits track:ended {id: string, how: 'played'|'skipped'}
                @returns {track: track|null, votes: {*: int}, at: number, value: string|[string], is: bool}
                @cost O(1)
                """),
            script(
                "ended",
                "@command ended\n@summary S.\n@allow worker\n@arg shopId id\n@topic dj:{shopId}\n"
                    + "@emits track:ended {id: string, at: int}\n@returns {}\n@cost O(1)"),
            script("state_dj", "@state dj\n@summary S.\n@cost O(1)\n@returns {track: track}"))
    }

    @Test func programsInTypeScriptSeeTheTypes() throws {
        #expect(
            TypeScriptTypes(try ValueTypeTests.shown()).text == """
                // Written by `switchboard types typescript`; a change here is lost when it is written again.

                export type Track = {
                  readonly id: string;
                  readonly artists: readonly {
                    readonly name: string;
                  }[];
                  readonly by?: string | null;
                  readonly more: {
                    readonly [name: string]: unknown;
                  };
                };

                /** The commands by name: what a call takes, and what it answers. */
                export type Commands = {
                  /** Play a track. */
                  readonly play: {
                    readonly args: {
                      readonly userId?: string | number | null;
                      /** the track */
                      readonly trackId: string | number;
                      readonly how?: 'now' | 'later' | null;
                      readonly default?: number | null;
                    };
                    readonly answer: {
                      readonly track: Track | null;
                      readonly votes: {
                        readonly [name: string]: number;
                      };
                      readonly at: number;
                      readonly value: string | readonly string[];
                      readonly is: boolean;
                    };
                  };
                };

                /** The events by name, with their data. */
                export type Events = {
                  readonly 'track:ended': {
                    readonly id: string;
                    readonly at: number;
                  } | {
                    readonly id: string;
                    readonly how: 'played' | 'skipped';
                  };
                  readonly 'track:played': Track;
                };

                /** The states by namespace. */
                export type States = {
                  readonly dj: {
                    readonly track: Track;
                  };
                };

                """)
    }

    @Test func programsInSwiftSeeTheTypes() throws {
        #expect(
            SwiftTypes(try ValueTypeTests.shown()).text == """
                // Written by `switchboard types swift`; a change here is lost when it is written again.

                import SwitchboardClient

                /// The types that several commands, events and states share.
                public enum Shared {
                    public struct Track: Decodable, Sendable, Hashable {
                        public var id: String
                        public struct Artists: Decodable, Sendable, Hashable {
                            public var name: String
                        }
                        public var artists: [Artists]
                        public var by: String?
                        public var more: JSONValue
                    }
                }

                /// The commands: a value of each is a call.
                public enum Commands {
                    /// Play a track.
                    public struct Play: SwitchboardCommand {
                        public static let commandName = "play"
                        public var userId: String?
                        /// the track
                        public var trackId: String
                        public enum How: String, Encodable, Sendable {
                            case now = "now"
                            case later = "later"
                        }
                        public var how: How?
                        public var `default`: Int?
                        public init(userId: String? = nil, trackId: String, how: How? = nil, `default`: Int? = nil) {
                            self.userId = userId
                            self.trackId = trackId
                            self.how = how
                            self.`default` = `default`
                        }
                        public struct Answer: Decodable, Sendable, Hashable {
                            public var track: Shared.Track?
                            public var votes: [String: Int]
                            public var at: Double
                            public var value: JSONValue
                            public var `is`: Bool
                        }
                    }
                }

                /// The data of events.
                public enum Events {
                    public struct TrackEnded: Decodable, Sendable, Hashable {
                        public var id: String
                        public var at: Int?
                        public var how: String?
                    }

                    public typealias TrackPlayed = Shared.Track
                }

                /// The states of topics, by namespace.
                public enum States {
                    public struct Dj: Decodable, Sendable, Hashable {
                        public var track: Shared.Track
                    }
                }

                """)
    }
}
