/// One call of a script, kept until its reply has come, since a flushed script cache makes it be sent again.
public struct ScriptCall: Equatable, Sendable {
    /// Which script.
    public let script: ScriptID
    /// `KEYS`.
    public let keys: [[UInt8]]
    /// `ARGV`.
    public let arguments: [[UInt8]]

    /// Makes a call.
    public init(script: ScriptID, keys: [[UInt8]], arguments: [[UInt8]]) {
        self.script = script
        self.keys = keys
        self.arguments = arguments
    }
}
