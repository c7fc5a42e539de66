/// One call of a script, kept until its reply has arrived, since after a flush of the script cache it is sent again.
public struct ScriptCall: Equatable, Sendable {
    /// The script.
    public let script: ScriptID
    /// `KEYS`.
    public let keys: [[UInt8]]
    /// `ARGV`.
    public let arguments: [[UInt8]]

    /// The index of the argument that is the fence of the server that runs the call; `nil` when there is none.
    ///
    /// On a cluster another server than the intended one may run the call.
    public let fenceAt: Int?

    /// Makes a call.
    public init(script: ScriptID, keys: [[UInt8]], arguments: [[UInt8]], fenceAt: Int? = nil) {
        self.script = script
        self.keys = keys
        self.arguments = arguments
        self.fenceAt = fenceAt
    }

    /// The same call for a server with that fence.
    func fenced(_ fence: [UInt8]?) -> ScriptCall {
        guard let fence, let fenceAt, arguments.indices.contains(fenceAt), arguments[fenceAt] != fence else {
            return self
        }
        var arguments = arguments
        arguments[fenceAt] = fence
        return ScriptCall(script: script, keys: keys, arguments: arguments, fenceAt: fenceAt)
    }
}
