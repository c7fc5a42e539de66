public import Core

/// Everything the header of a command or a refresh says, checked.
///
/// Immutable and thread-safe. Made by ``Catalogue`` only.
public struct CommandDescriptor: Sendable {
    /// What makes the worker run a refresh.
    public struct Refresh: Equatable, Sendable {
        /// The keys whose change concerns it; their variable is its one argument.
        public internal(set) var triggers: [Template] = []
        /// How long changes are gathered, and the least time between two runs for one id.
        public internal(set) var coalesceMs = 20
    }

    /// The namespace and the argument of the id that all its keys and home topics share.
    public struct Home: Equatable, Sendable {
        /// The namespace of the first key, or else of the first home topic.
        public let namespace: String
        /// The argument.
        public let variable: String

        /// The topic whose facets remember operations and fences; `nil` when the value is missing or no id.
        public func topic(_ value: (String) -> [UInt8]?) -> Topic? {
            value(variable).flatMap { Topic(namespace: Array(namespace.utf8), id: $0) }
        }
    }

    /// The name: of a command by `@command`, of a refresh that of its file.
    public internal(set) var name: String
    /// The file it was read from.
    public let file: ScriptFile
    /// One sentence about what it does.
    public internal(set) var summary = ""
    /// Who may call it.
    public internal(set) var rights = CommandRights([.worker])
    /// The arguments, in the order of `ARGV`.
    public internal(set) var arguments: [ArgumentDeclaration] = []
    /// What is made of the arguments; it follows them in `ARGV`.
    public internal(set) var derived: [DerivedValue] = []
    /// What is read before the script runs; it follows all others in `ARGV`, and its keys follow those of the header.
    public internal(set) var resolved: [ResolvedValue] = []
    /// Why it has keys and home topics of several ids; `nil`: it has not.
    public internal(set) var span: String?
    /// Whether its keys are those of several ids, which lie in several slots of a Redis Cluster.
    public var spansSlots: Bool { span != nil || resolved.contains { $0.key.variable != home?.variable } }
    /// Why, for the operator.
    public var spanReason: String { span == nil ? "@resolve" : "@span" }
    /// The keys, in the order of `KEYS`.
    public internal(set) var keys: [KeyDeclaration] = []
    /// The topics it may emit on.
    public internal(set) var topics: [Template] = []
    /// Its own routes.
    public internal(set) var routes: [HTTPRoute] = []
    /// The commands it may call through the outbox.
    public internal(set) var calls: [String] = []
    /// The services outside that it may have called, with the commands that get the answers.
    public internal(set) var callsOut: [OutsideCall] = []
    /// The service outside that answers what the script asks; `nil`: the script answers itself.
    public internal(set) var via: OutsideAnswer?
    /// The names of the services in ``callsOut``, in the order of `KEYS`.
    public var services: [String] { Set(callsOut.map(\.service)).sorted() }
    /// The names of the parts it includes.
    public internal(set) var includes: [String] = []
    /// The parts it includes, in their order; they are put before its body.
    public internal(set) var parts: [ScriptFile] = []
    /// The events it may emit.
    public internal(set) var emits: [EmittedEvent] = []
    /// The shape of its answer.
    public internal(set) var returns = ""
    /// What it may fail with, `bad_request` not listed.
    public internal(set) var errors: [DeclaredError] = []
    /// Its complexity.
    public internal(set) var cost = ""
    /// How long Redis takes for a call at the script's limits, microseconds.
    public internal(set) var weightMicroseconds = ScriptWeight.assumed
    /// The weight, and what reading resolved values and asking a service outside take, microseconds: what a caller pays for.
    public var priceMicroseconds: Int {
        weightMicroseconds + (resolved.isEmpty ? 0 : 20 + 4 * resolved.count) + (via == nil ? 0 : 300)
    }
    /// Whether the header says the weight.
    public internal(set) var isWeightDeclared = false
    /// How often one payer may call it; a call must keep each of them.
    public internal(set) var rates: [CallRate] = []
    /// Whether it writes and emits nothing; such a command has no idempotency.
    public internal(set) var isReadOnly = false
    /// Whether running it again changes nothing; like a read-only command, it has no memory of operations.
    public internal(set) var isIdempotent = false
    /// Whether a call carries fresh randomness.
    public internal(set) var usesRandom = false
    /// Whether it changes who the members of its topics are.
    public internal(set) var changesMembers = false
    /// Whether it erases what belongs to a user, its one required argument.
    public internal(set) var erases = false
    /// Whether it tells what belongs to a user, its one required argument.
    public internal(set) var exports = false
    /// The token that it may have the gateway sign.
    public internal(set) var mint: MintDeclaration?
    /// How often gateways run it for each user with a live connection, in seconds; `nil`: never.
    public internal(set) var heartbeatSeconds: Int?
    /// What makes the worker run it; `nil` for a command.
    public internal(set) var refresh: Refresh?
    /// What its keys and home topics share, or with ``span`` the first of them has; `nil` for a read-only command without keys.
    public internal(set) var home: Home?
    /// The topics it emits on within its own script, in the order of `KEYS`: those of the home's id; with ``span`` those of
    /// any argument.
    public internal(set) var homeTopics: [Template] = []
    /// The namespaces it emits on through the outbox, in order.
    public internal(set) var foreignNamespaces: [String] = []

    init(name: String, file: ScriptFile) {
        self.name = name
        self.file = file
    }

    /// What its part of a user's exported data is called: the folder of the file, and the command's name where there is none.
    public var exportName: String {
        let parts = file.path.split(separator: "/")
        return parts.count > 1 ? String(parts[parts.count - 2]) : name
    }

    /// The topic of the home of a call: the namespace and the id that its keys share.
    public func homeTopic(_ bound: BoundArguments) -> Topic? { home?.topic { bound.value($0, self) } }

    /// Whether the id of its home is known only once it is resolved.
    public var isHomeResolved: Bool { resolved.contains { $0.name == home?.variable } }

    /// The topic of the token that a call may have signed.
    public func mintTopic(_ bound: BoundArguments) -> Topic? { mint?.topic.topic { bound.value($0, self) } }

    /// The argument that is the user acted for; `nil` when there is none.
    public var userArgument: ArgumentDeclaration? { arguments.first { $0.type == .user } }

    /// Whether an argument is `id` on the wire; the operation's name then comes in another way.
    public var takesID: Bool { arguments.contains { $0.wire == "id" } }

    /// The script's name in the registry: `command/NAME` or `refresh/NAME`.
    public var scriptName: String { (refresh == nil ? "command/" : "refresh/") + name }

    /// The error a script told by its code; `nil` for a code it may not fail with.
    public func error(_ code: String) -> DeclaredError? {
        errors.first { $0.code == code } ?? ErrorCode(rawValue: code).map { DeclaredError($0) }
    }
}
