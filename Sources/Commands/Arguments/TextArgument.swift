/// An argument given as text: a part of a path, or an item of a query; escapes are decoded.
public struct TextArgument: Equatable, Sendable {
    /// The argument's name.
    public let name: String
    /// The given bytes.
    public let value: [UInt8]

    /// Makes an argument.
    public init(name: String, value: [UInt8]) {
        self.name = name
        self.value = value
    }
}
