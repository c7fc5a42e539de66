/// One call of a script, kept until its reply has come, since a flushed script cache makes it be sent again.
public struct ScriptCall: Equatable, Sendable {
    /// Which script.
    public let script: ScriptID
    /// `KEYS`.
    public let keys: [[UInt8]]
    /// `ARGV`.
    public let arguments: [[UInt8]]

    /// Which argument is the fence of the server that runs it; `nil` when none is.
    ///
    /// On a cluster a call may end at another server than it was made for.
    public let fenceAt: Int?

    /// Makes a call.
    public init(script: ScriptID, keys: [[UInt8]], arguments: [[UInt8]], fenceAt: Int? = nil) {
        self.script = script
        self.keys = keys
        self.arguments = arguments
        self.fenceAt = fenceAt
    }

    /// The same for a server of that fence.
    func fenced(_ fence: [UInt8]?) -> ScriptCall {
        guard let fence, let fenceAt, arguments.indices.contains(fenceAt), arguments[fenceAt] != fence else {
            return self
        }
        var arguments = arguments
        arguments[fenceAt] = fence
        return ScriptCall(script: script, keys: keys, arguments: arguments, fenceAt: fenceAt)
    }
}
