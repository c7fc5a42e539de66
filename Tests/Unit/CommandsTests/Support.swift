import Core
import HTTPCodec
import Rights

@testable import Commands

/// A file of header lines, without the `-- ` before them, and a body.
func script(_ name: String, _ header: String, body: String = "return {}\n") -> ScriptFile {
    let lines = header.split(separator: "\n").map { "-- " + $0 + "\n" }.joined()
    return ScriptFile(name: name, path: name + ".lua", bytes: Array((lines + body).utf8))
}

/// A shared file without a text.
let noFile = ScriptFile(name: "", path: "", bytes: [])

/// The least header of a command that writes, with more lines after it.
func command(_ name: String, _ more: String = "", allow: String = "user|service|worker") -> ScriptFile {
    script(
        name,
        """
        @command \(name)
        @summary Does something.
        @allow \(allow)
        @arg shopId id
        @key tracks dj:{shopId}#tracks
        @returns {shopId: string}
        @cost O(1)
        \(more)
        """)
}

/// A read-only command with these arguments.
func reader(_ name: String, _ arguments: String, more: String = "", allow: String = "user") -> ScriptFile {
    script(
        name,
        """
        @command \(name)
        @summary Reads something.
        @allow \(allow)
        @readonly
        @returns {}
        @cost O(1)
        \(more)
        \(arguments)
        """)
}

let namespaces: Set<String> = ["shop", "dj", "user", "booking"]

func catalogue(
    _ embedded: ScriptFile..., operators: [ScriptFile] = [], namespaces given: Set<String> = namespaces
) throws -> Catalogue {
    try Catalogue(embedded: embedded, operators: operators, namespaces: given, reservedPaths: ["/ws", "/", "/app.js"])
}

/// What is wrong with files, as printed; empty when nothing is.
func problems(
    _ embedded: ScriptFile..., operators: [ScriptFile] = [], namespaces given: Set<String> = namespaces
) -> [String] {
    do throws(CatalogueFailure) {
        _ = try Catalogue(
            embedded: embedded, operators: operators, namespaces: given, reservedPaths: ["/ws", "/", "/app.js"])
        return []
    } catch {
        return error.problems.map(\.description)
    }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

func json(_ text: String) throws -> JSON.Value {
    try JSON(parsing: bytes(text), limits: JSON.Limits(depthMax: 64, elementsMax: 100_000)).root
}

/// A user's caller.
func user(_ name: String) throws -> CommandCaller {
    guard let identity = Identity(user: bytes(name), role: .user, topics: [], expiresAt: 0) else { throw NoUser() }
    return CommandCaller(.user(identity))
}

struct NoUser: Error {}

let service = CommandCaller(.service("backend"))
let anonymous = CommandCaller(.anonymous)

/// Binds a JSON text; the message of the refusal when it is refused.
func bind(
    _ descriptor: CommandDescriptor, _ body: String?, path: [TextArgument] = [], query: [TextArgument] = [],
    caller: CommandCaller = service
) throws -> BoundArguments {
    try ArgumentBinder.bind(
        descriptor, body: try body.map { try json($0) }, path: path, query: query, caller: caller)
}

/// Why arguments are refused; `nil` when they are taken.
func refusal(
    _ descriptor: CommandDescriptor, _ body: String?, path: [TextArgument] = [], query: [TextArgument] = [],
    caller: CommandCaller = service
) throws -> Refusal? {
    do {
        _ = try bind(descriptor, body, path: path, query: query, caller: caller)
        return nil
    } catch let refusal as Refusal {
        return refusal
    }
}

/// The namespaces that scripts of built-in packs name.
let everyNamespace = [
    "shop", "dj", "user", "booking", "challenge", "feed", "conversation", "barber", "order", "session",
]

/// All built-in packs, read and checked once.
let everyPack = Result {
    try ScriptLibrary(
        packs: ScriptLibrary.packs.keys.sorted(), directory: nil,
        namespaces: everyNamespace,
        reservedPaths: [])
}
