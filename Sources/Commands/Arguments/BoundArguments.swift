public import Core

/// The arguments of one call, checked and written in the form that scripts read.
public struct BoundArguments: Equatable, Sendable {
    /// One value for each declaration, in order: the text for `ARGV`, or `nil` when the body reads `nil`.
    public let values: [[UInt8]?]
    /// One for each derived value, in order.
    public let derived: [[UInt8]]
    /// One value for each `@resolve`, in order; empty until the gateway has read them.
    public var resolved: [[UInt8]] = []
    /// Whether the rates for marked calls have a call left.
    ///
    /// The body receives this when the header has such a rate.
    public var mayBeMarked = true
    /// The user the call acts for, when an argument or the caller's token names one.
    public let actingUser: [UInt8]?
    /// The member `id`: the caller's own name for this operation.
    public let operation: MessageID?

    /// The value that a template's variable stands for; `nil` when there is none.
    public func value(_ name: String, _ descriptor: CommandDescriptor) -> [UInt8]? {
        func at(_ index: Int?, _ list: [[UInt8]]) -> [UInt8]? {
            index.flatMap { list.indices.contains($0) ? list[$0] : nil }
        }
        if let index = descriptor.arguments.firstIndex(where: { $0.name == name }) {
            return values.indices.contains(index) ? values[index] : nil
        }
        return at(descriptor.derived.firstIndex { $0.name == name }, derived)
            ?? at(descriptor.resolved.firstIndex { $0.name == name }, resolved)
    }
}
