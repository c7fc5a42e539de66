public import Core

/// The arguments of a command as they came: one JSON object, read once with the message that holds it.
public struct CommandArguments: Equatable, Sendable {
    /// The object; `nil` when the message had none.
    public let object: JSON.Value?

    /// Keeps an object that was read; `nil` for a message that had none.
    public init(object: JSON.Value?) {
        self.object = object
    }

    /// The text of the object; `{}` when the message had none.
    public var raw: [UInt8] { object.map { Array($0.raw) } ?? Array("{}".utf8) }

    /// Whether both are written alike.
    public static func == (left: CommandArguments, right: CommandArguments) -> Bool { left.raw == right.raw }
}
