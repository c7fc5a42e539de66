import Commands
import Core
import Rights

/// Limits commands to the topics of a token, and adds a token to a command's answer.
enum CommandGrants {
    private static let cannotSign = Refusal(
        .unavailable, "This gateway cannot sign tokens; start it with --mint-secret-file.")

    /// The refusal of a call that the caller's token does not cover; `nil` when the token allows it.
    ///
    /// See ``outside(_:_:_:)``. A token of the gateway's own mints no other token, or access could never be ended.
    static func refusal(
        _ command: CommandDescriptor, _ bound: BoundArguments, _ caller: Caller, _ keys: GrantKeys
    ) -> Refusal? {
        // A home that has to be resolved is not known yet; the runner checks it later.
        if !command.isHomeResolved, let refusal = outside(command, bound, caller) { return refusal }
        if case .user(let identity) = caller, identity.grant != nil, command.mint != nil {
            return Refusal(.forbidden, "This token makes no other token.")
        }
        return command.mint != nil && keys.isEmpty ? cannotSign : nil
    }

    /// The refusal of a call whose home the caller's token does not cover; `nil` for callers without such a token.
    ///
    /// A service bound to topics may call the commands whose home is one of them: the same namespace and id. A command
    /// without a home belongs to no topic, and is refused. A permitted script may do more elsewhere.
    ///
    /// For a token of the gateway's own, the home must be its topic. A script of several ids may also touch those of
    /// the bearer, and no others. As long as a home is to be resolved, only the bearer's own keys were read for it.
    static func outside(_ command: CommandDescriptor, _ bound: BoundArguments, _ caller: Caller) -> Refusal? {
        if caller.binding != nil { return caller.refusal(beyondBinding: command.homeTopic(bound)) }
        guard case .user(let identity) = caller, let grant = identity.grant else { return nil }
        if command.isHomeResolved && bound.resolved.isEmpty { return nil }
        let refusal = Refusal(.forbidden, "This token is for the commands of \(grant) only.")
        guard command.homeTopic(bound) == grant else { return refusal }
        guard command.span != nil else { return nil }
        let ids = command.spannedIDs.map { template in
            template.variable.flatMap { bound.value($0, command) }
        }
        let isWithin = ids.allSatisfy { id in id.map { grant.id.elementsEqual($0) || $0 == identity.user } ?? false }
        return isWithin ? nil : refusal
    }

    /// The answer with the token that its script asked for.
    static func sign(
        _ answer: CommandAnswer, _ command: CommandDescriptor, _ bound: BoundArguments, _ keys: GrantKeys
    ) -> Result<CommandAnswer, Refusal> {
        guard let minted = answer.minted else { return .success(answer) }
        guard let topic = command.mintTopic(bound), let grant = minted.grant(topic), let token = keys.sign(grant) else {
            return .failure(cannotSign)
        }
        return .success(answer.with(token: token))
    }
}
