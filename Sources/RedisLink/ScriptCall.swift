/// One call of a script, kept until its reply has arrived, since after a flush of the script cache it is sent again.
public struct ScriptCall: Equatable, Sendable {
    /// The script.
    public let script: ScriptID
    /// The number of `KEYS`.
    let keyCount: Int
    /// `KEYS` and `ARGV`.
    let words: CallWords

    /// The index of the argument that is the fence of the server that runs the call; `nil` when there is none.
    ///
    /// On a cluster another server than the intended one may run the call.
    public let fenceAt: Int?

    /// Makes a call; the first `keyCount` words are `KEYS`, and the others `ARGV`.
    public init(script: ScriptID, keyCount: Int, words: CallWords, fenceAt: Int? = nil) {
        self.script = script
        self.keyCount = keyCount
        self.words = words
        self.fenceAt = fenceAt
    }

    /// Makes a call.
    public init(script: ScriptID, keys: [[UInt8]], arguments: [[UInt8]], fenceAt: Int? = nil) {
        var words = CallWords()
        for key in keys { words.append(key) }
        for argument in arguments { words.append(argument) }
        self.init(script: script, keyCount: keys.count, words: words, fenceAt: fenceAt)
    }

    /// `KEYS`.
    public var keys: [[UInt8]] { Array(words.all.prefix(keyCount)) }

    /// `ARGV`.
    public var arguments: [[UInt8]] { Array(words.all.dropFirst(keyCount)) }

    /// The key by which a cluster finds the master; `nil` without keys.
    var firstKey: ArraySlice<UInt8>? { keyCount > 0 ? words[0] : nil }

    /// The same call for a server with that fence.
    func fenced(_ fence: [UInt8]?) -> ScriptCall {
        guard let fence, let fenceAt, let given = words[keyCount + fenceAt], !given.elementsEqual(fence) else {
            return self
        }
        var arguments = arguments
        arguments[fenceAt] = fence
        return ScriptCall(script: script, keys: keys, arguments: arguments, fenceAt: fenceAt)
    }
}
