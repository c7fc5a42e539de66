public import Core
public import Rights

/// The id of a publish together with its owner, the publisher that chose it.
///
/// An id belongs to its publisher: when two publishers choose the same id on the same topic, both publish.
public struct PublishID: Hashable, Sendable {
    /// The id as it was given.
    public let id: MessageID
    /// The publisher: `user:u1`, `token:billing`, `key:backend`, `connection:<hex>`, `worker` or
    /// `bridge`; without `#`.
    public let owner: [UInt8]

    private init(_ id: MessageID, owner kind: StaticString, _ name: [UInt8]) {
        var owner: [UInt8] = []
        owner.append(text: kind)
        self.id = id
        self.owner = owner + name
    }

    /// The id that a caller chose.
    ///
    /// Callers without a token cannot be distinguished, so their ids belong to their `connection`, which is random
    /// bytes.
    public init(_ id: MessageID, of caller: Caller, connection: @autoclosure () -> [UInt8]) {
        switch caller {
        case .anonymous, .publishable: self.init(id, owner: "connection:", Hexadecimal.text(connection()))
        case .user(let identity) where identity.role == .service: self.init(id, owner: "token:", identity.user)
        case .user(let identity): self.init(id, owner: "user:", identity.user)
        case .service(let holder): self.init(id, owner: "key:", Array(holder.name.utf8))
        }
    }

    /// The id of an event of an emitter.
    public static func bridge(_ id: MessageID) -> PublishID { PublishID(id, owner: "bridge", []) }

    /// The id of an entry of the outbox.
    public static func outbox(_ id: MessageID) -> PublishID { PublishID(id, owner: "worker", []) }
}
