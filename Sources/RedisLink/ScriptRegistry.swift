import Core

/// The scripts that a link may call, and the encoding of their calls.
public struct ScriptRegistry: Sendable {
    /// The form in which a call names its script.
    public enum Form: Equatable, Sendable {
        /// `EVALSHA`: by digest; fails with `NOSCRIPT` when the server's cache lacks the script.
        case digest
        /// `EVAL`: by source, which also loads it into the cache; never fails with `NOSCRIPT`.
        case source
    }

    /// The reason why a registry cannot be made.
    public enum RegistryError: Error, Equatable, Sendable {
        /// Two scripts have the same name.
        case duplicateName(String)
        /// The digest function did not return 20 bytes.
        case badDigest
    }

    /// The scripts; the index of each is its ``ScriptID``.
    public let scripts: [RedisScript]
    private let byName: [String: ScriptID]
    /// The scripts that a link loads ahead of its calls, in order.
    private let ahead: [Int]

    /// A registry of no scripts, for links to servers that run none.
    public static let none = ScriptRegistry()

    private init() {
        scripts = []
        byName = [:]
        ahead = []
    }

    /// Makes a registry; `sha1` returns the 20 bytes of the FIPS 180-4 SHA-1, by which Redis names scripts.
    ///
    /// Scripts named in `later` come to a server with their first call, all others when a link connects. Each script
    /// that a server keeps makes every call of any script dearer, since Lua's collector walks over all of them.
    public init(
        scripts sources: [(name: String, source: [UInt8])], later: Set<String> = [], sha1: ([UInt8]) -> [UInt8]
    ) throws(RegistryError) {
        var scripts: [RedisScript] = []
        var byName: [String: ScriptID] = [:]
        for (name, source) in sources {
            let digest = sha1(source)
            guard digest.count == 20 else { throw .badDigest }
            guard byName.updateValue(ScriptID(index: scripts.count), forKey: name) == nil else {
                throw .duplicateName(name)
            }
            scripts.append(RedisScript(name: name, source: source, digest: ScriptRegistry.hexadecimal(digest)))
        }
        self.scripts = scripts
        self.byName = byName
        ahead = scripts.indices.filter { !later.contains(scripts[$0].name) }
    }

    /// The script of a name; `nil` when there is none.
    public func script(named name: String) -> ScriptID? { byName[name] }

    /// The question which of the scripts to load a new connection's server has, see ``missing(_:)``; `nil` when there
    /// is none to load.
    public var look: RedisCall? {
        guard !ahead.isEmpty else { return nil }
        var call = RedisCall("SCRIPT", Array("EXISTS".utf8))
        for index in ahead { call.append(scripts[index].digest) }
        return call
    }

    /// The scripts to load after the reply to ``look``; all that are loaded ahead when the reply is unusable.
    public func missing(_ reply: RESPValue?) -> [Int] {
        guard let flags = reply?.elements, flags.count == ahead.count else { return ahead }
        return zip(ahead, flags).compactMap { $1.integer == 1 ? nil : $0 }
    }

    /// The call that loads the n-th script into the server's cache; its reply is the digest: see
    /// ``confirmsLoad(_:_:)``.
    public func load(_ index: Int) -> RedisCall {
        RedisCall("SCRIPT", Array("LOAD".utf8), scripts[index].source)
    }

    /// Whether the reply to the n-th ``load(_:)`` is that script's digest; otherwise the server would run another
    /// script.
    public func confirmsLoad(_ index: Int, _ reply: RESPValue) -> Bool {
        guard scripts.indices.contains(index), case .string(let digest) = reply else { return false }
        return digest == scripts[index].digest
    }

    /// The encoded call of a script: `EVALSHA digest numkeys key... arg...`, or `EVAL source ...`.
    public func encoded(_ call: ScriptCall, _ form: Form) -> RedisCall {
        var words = CallWords()
        appendHead(of: call, form, to: &words)
        words.append(call.words)
        return RedisCall(words)
    }

    /// Appends the words before the keys: `EVALSHA digest numkeys`, or `EVAL source numkeys`.
    func appendHead(of call: ScriptCall, _ form: Form, to words: inout CallWords) {
        let script = scripts[call.script.index]
        switch form {
        case .digest:
            words.append("EVALSHA")
            words.append(script.digest)
        case .source:
            words.append("EVAL")
            words.append(script.source)
        }
        words.append(decimal: call.keyCount)
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
}
