import Core
import Scripts

/// The names that a body may use without declaring them: Lua's own words and the functions available to a script.
enum BodyWords {
    /// Lua's reserved words (Lua 5.1, section 2.1 of its manual).
    private static let reserved: Set<String> = [
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not",
        "or",
        "repeat", "return", "then", "true", "until", "while",
    ]

    /// The part of Lua's library that Redis provides, without the names that bodies must not reach.
    private static let library: Set<String> = [
        "assert", "bit", "cjson", "cmsgpack", "collectgarbage", "error", "getmetatable", "ipairs", "math", "next",
        "pairs",
        "pcall", "rawequal", "rawget", "select", "setmetatable", "string", "struct", "table", "tonumber", "tostring",
        "type", "unpack", "xpcall",
    ]

    /// The functions and names available to a body as docs/scripts/body.md lists them, and the constants beside them.
    private static let words: Set<String> = [
        "INTEGER_MAX", "admit", "args", "array", "call_out", "call_room", "caller", "charge", "counted",
        "courier_joined",
        "decimal", "decode", "emit", "emit_each", "encode", "expel", "fail", "homes_apart", "integer", "is_id",
        "is_utf8", "iso",
        "key", "later", "mint", "now_ms", "null", "number", "random",
        "raw",
        "read", "sha1", "shortest", "step", "stored_object", "tell_now", "topic_latest", "topic_log", "write",
    ]

    /// The candidates for an unknown name's hint, in order.
    static let meant = words.sorted()

    /// All names that need no declaration.
    static let known = reserved.union(library).union(words)

    /// The members of `caller`.
    static let callerMembers = ["guest", "name", "role", "user"]

    /// The commands of Redis that `read` accepts, in order.
    static let reads = (commands("READS") + commands("MANY_READS") + ["XINFO"]).sorted()

    /// The commands of Redis that `write` accepts, in order.
    static let writes = commands("WRITES").sorted()

    /// The names in a list of `writes.lua`, the only file that defines them: `local READS = ' HGET HMGET ...'`.
    private static func commands(_ list: String) -> [String] {
        for file in Scripts.commandPreludes {
            let tokens = LuaScanner.tokens(file.source)
            for index in tokens.indices.dropFirst() where tokens[index].text == list {
                guard tokens[index - 1].text == "local" else { continue }
                guard tokens.indices.contains(index + 2) else { return [] }
                return tokens[index + 2].text.split { $0 == " " || $0 == "\n" || $0 == "\\" }
                    .map { String($0.prefix { $0 != ":" }) }
            }
        }
        return []
    }
}
