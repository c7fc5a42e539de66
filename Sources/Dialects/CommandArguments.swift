public import Core

/// The arguments of a command as they came: one JSON object, read once with the message that holds it.
public struct CommandArguments: Equatable, Sendable {
    /// The object; `nil` when the message had none.
    public let object: JSON.Value?
    /// What the client need not say on its socket, by name: taken for a required argument that it leaves out.
    public let known: [String: [UInt8]]

    /// Keeps an object that was read; `nil` for a message that had none.
    public init(object: JSON.Value?, known: [String: [UInt8]] = [:]) {
        self.object = object
        self.known = known
    }

    /// The text of the object; `{}` when the message had none.
    public var raw: [UInt8] { object.map { Array($0.raw) } ?? Array("{}".utf8) }

    /// Whether both are written alike.
    public static func == (left: CommandArguments, right: CommandArguments) -> Bool {
        left.raw == right.raw && left.known == right.known
    }
}
