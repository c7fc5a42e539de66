public import HTTPCodec

/// What a method and a path lead to.
public enum RouteMatch: Sendable {
    /// A command, its route, and the arguments that the path gives.
    case command(CommandDescriptor, HTTPRoute, [TextArgument])
    /// The path exists with these methods only.
    case methodNotAllowed([HTTPMethod])
    /// No command has this path.
    case none
}
