public import Rights

/// The target of an operation of the HTTP interface.
public enum Endpoint: Sendable {
    /// A route of the gateway's own.
    case gateway(GatewayRoute)
    /// A command, by its name or by a route of its own.
    case command(CommandDescriptor)
}

extension CallRights {
    /// Whether a caller could use the endpoint with some arguments.
    public func reaches(_ endpoint: Endpoint, _ caller: Caller) -> Bool {
        switch endpoint {
        case .gateway(let route): reaches(route, caller)
        case .command(let command): reaches(command, caller)
        }
    }
}
