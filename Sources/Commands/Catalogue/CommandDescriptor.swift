public import Core

/// The checked contents of the header of a command or a refresh.
///
/// Immutable and thread-safe. Made by ``Catalogue`` only.
public struct CommandDescriptor: Sendable {
    /// The keys and times that decide when the worker runs a refresh.
    public struct Refresh: Equatable, Sendable {
        /// The keys whose change triggers the refresh; their variable is the refresh's one argument.
        public internal(set) var triggers: [Template] = []
        /// The time for which changes are gathered, in milliseconds; also the least time between two runs for one id.
        public internal(set) var coalesceMs = 20
    }

    /// The namespace and the argument of the id that all its keys and home topics share: the entity that owns the call.
    public struct Home: Equatable, Sendable {
        /// The namespace of the first key, or else of the first home topic.
        public let namespace: String
        /// The argument.
        public let variable: String

        /// The topic whose facets store operations and fences; `nil` when the value is missing or no id.
        public func topic(_ value: (String) -> [UInt8]?) -> Topic? {
            value(variable).flatMap { Topic(namespace: Array(namespace.utf8), id: $0) }
        }
    }

    /// The name: the word of `@command`, or the file's name for a refresh.
    public internal(set) var name: String
    /// The file it was read from.
    public let file: ScriptFile
    /// One sentence that describes the script.
    public internal(set) var summary = ""
    /// The roles that may call it.
    public internal(set) var rights = CommandRights([.worker])
    /// The arguments, in the order of `ARGV`.
    public internal(set) var arguments: [ArgumentDeclaration] = []
    /// The values that the gateway derives from arguments; they follow the arguments in `ARGV`.
    public internal(set) var derived: [DerivedValue] = []
    /// The values that the gateway reads before the script runs.
    ///
    /// They are last in `ARGV`, and their keys follow those of the header.
    public internal(set) var resolved: [ResolvedValue] = []
    /// The declaration of keys and home topics of several ids; `nil` when the script needs one id only.
    public internal(set) var span: Span?
    /// The keys, in the order of `KEYS`.
    public internal(set) var keys: [KeyDeclaration] = []
    /// Whether this is the script's form on a Redis Cluster.
    var isOnCluster = false
    /// With ``span`` on a cluster: the id in whose slot the script runs.
    var place: Home?
    /// With ``span`` on a cluster: the keys of another id that the script reads as they were a moment before.
    var looked: [KeyDeclaration] = []
    /// With ``span`` on a cluster: the keys that only the script's steps reach.
    var beyond: [KeyDeclaration] = []
    /// The topics it may emit on.
    public internal(set) var topics: [Template] = []
    /// Its own routes.
    public internal(set) var routes: [HTTPRoute] = []
    /// The commands that it may call through the outbox.
    public internal(set) var calls: [String] = []
    /// The commands that do on a cluster, at other ids, the rest of what the script began.
    public internal(set) var steps: [String] = []
    /// The outside services that it may call, with the commands that receive the answers.
    public internal(set) var callsOut: [OutsideCall] = []
    /// The outside service that answers in the script's place; `nil`: the script answers itself.
    public internal(set) var via: OutsideAnswer?
    /// The names of the services in ``callsOut``, in the order of `KEYS`.
    public var services: [String] { Set(callsOut.map(\.service)).sorted() }
    /// The names of the parts it includes.
    public internal(set) var includes: [String] = []
    /// The parts that it includes, in order; they stand before its body.
    public internal(set) var parts: [ScriptFile] = []
    /// The events it may emit.
    public internal(set) var emits: [EmittedEvent] = []
    /// The type of its answer.
    public internal(set) var returns = DeclaredValue.unknown
    /// The errors it may fail with, `bad_request` not listed.
    public internal(set) var errors: [DeclaredError] = []
    /// Its complexity.
    public internal(set) var cost = ""
    /// The time that Redis needs for a call at the script's limits, in microseconds.
    public internal(set) var weightMicroseconds = ScriptWeight.assumed
    /// The charge for a call, in microseconds: the weight, and the cost of reading resolved values and asking an
    /// outside service.
    public var priceMicroseconds: Int {
        weightMicroseconds + (resolved.isEmpty ? 0 : 20 + 4 * resolved.count)
            + (looked.isEmpty ? 0 : 20 + 4 * looked.count) + (via == nil ? 0 : 300)
    }
    /// Whether the header declares the weight.
    public internal(set) var isWeightDeclared = false
    /// The rates at which one payer may call it; a call must keep each of them.
    public internal(set) var rates: [CallRate] = []
    /// Whether it writes and emits nothing; such a command stores no operations for retries.
    public internal(set) var isReadOnly = false
    /// Whether running it again changes nothing; like a read-only command, it stores no operations for retries.
    public internal(set) var isIdempotent = false
    /// Whether a call carries fresh randomness.
    public internal(set) var usesRandom = false
    /// Whether it changes the members of its topics.
    public internal(set) var changesMembers = false
    /// Whether it erases the data of a user, its one required argument.
    public internal(set) var erases = false
    /// Whether it exports the data of a user, its one required argument.
    public internal(set) var exports = false
    /// The token that the gateway may sign for it; `nil`: none.
    public internal(set) var mint: MintDeclaration?
    /// The interval at which gateways run it for each user with a live connection, in seconds; `nil`: never.
    public internal(set) var heartbeatSeconds: Int?
    /// Whether its heartbeats also say which shard makes them, and when a user's last connection there was closed.
    public var takesDepartures: Bool {
        heartbeatSeconds != nil && ["by", "gone"].allSatisfy { name in arguments.contains { $0.wire == name } }
    }
    /// The triggers that make the worker run it; `nil` for a command.
    public internal(set) var refresh: Refresh?
    /// The id that its keys and home topics share, or with ``span`` the first one's; `nil` for a read-only command
    /// without keys.
    public internal(set) var home: Home?
    /// The topics on which its own script emits, in the order of `KEYS`.
    ///
    /// They have the home's id, or with ``span`` any argument's.
    public internal(set) var homeTopics: [Template] = []
    /// The namespaces on which it emits through the outbox, in order.
    public internal(set) var foreignNamespaces: [String] = []

    init(name: String, file: ScriptFile) {
        self.name = name
        self.file = file
    }

    /// The name of its member in a user's exported data: the pack's folder, or the command's name when there is none.
    public var exportName: String { file.folder.isEmpty ? name : file.folder }

    /// The topic of a call's home: the namespace and the id that its keys share.
    public func homeTopic(_ bound: BoundArguments) -> Topic? { home?.topic { bound.value($0, self) } }

    /// Whether the home's id is known only after resolving.
    public var isHomeResolved: Bool { resolved.contains { $0.name == home?.variable } }

    /// The topic of the token that the gateway may sign for a call.
    public func mintTopic(_ bound: BoundArguments) -> Topic? { mint?.topic.topic { bound.value($0, self) } }

    /// The argument for the user that the call acts for; `nil` when there is none.
    public var userArgument: ArgumentDeclaration? { arguments.first { $0.type == .user } }

    /// Whether every caller must give an argument: a user's own token stands for the user.
    func needs(_ argument: ArgumentDeclaration) -> Bool {
        argument.isRequired && !(argument.type == .user && rights.roles.contains(.user))
    }

    /// Whether an argument is named `id` on the wire; then a caller names the operation in another way.
    public var takesID: Bool { arguments.contains { $0.wire == "id" } }

    /// The script's name in the registry: `command/NAME` or `refresh/NAME`.
    public var scriptName: String { (refresh == nil ? "command/" : "refresh/") + name }

    /// The error of a code that a script failed with; `nil` for a code that the header does not allow.
    public func error(_ code: String) -> DeclaredError? {
        errors.first { $0.code == code } ?? ErrorCode(rawValue: code).map { DeclaredError($0) }
    }
}
