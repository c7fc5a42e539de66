public import HTTPCodec

/// The result of looking up a method and a path.
public enum RouteMatch: Sendable {
    /// A command, its route, and the arguments in the path.
    case command(CommandDescriptor, HTTPRoute, [TextArgument])
    /// The path exists with these methods only.
    case methodNotAllowed([HTTPMethod])
    /// No command has this path.
    case none
}
