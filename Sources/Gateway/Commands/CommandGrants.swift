import Commands
import Core
import Rights

/// What the gateway's own tokens are worth at the door of the commands, and how a command's answer gets one.
enum CommandGrants {
    private static let cannotSign = Refusal(
        .unavailable, "This gateway cannot sign tokens; start it with --mint-secret-file.")

    /// Why a call may not be made; `nil` when nothing of tokens is in its way.
    ///
    /// A token of the gateway's own calls the commands of its topic, see ``outside(_:_:_:)``. It makes no other token, or
    /// nobody could ever be sent away.
    static func refusal(
        _ command: CommandDescriptor, _ bound: BoundArguments, _ caller: Caller, _ keys: GrantKeys
    ) -> Refusal? {
        if case .user(let identity) = caller, identity.grant != nil {
            // Where the home is resolved it is not known yet; the runner asks once it is.
            if command.homeTopic(bound) != nil || !command.isHomeResolved,
                let refusal = outside(command, bound, caller)
            {
                return refusal
            }
            guard command.mint == nil else { return Refusal(.forbidden, "This token makes no other token.") }
        }
        return command.mint != nil && keys.isEmpty ? cannotSign : nil
    }

    /// Why a token of the gateway's own does not reach what a call touches; `nil` for every other caller.
    ///
    /// The command's home must be the token's topic: the same namespace and id. A script of several ids may touch those of
    /// the bearer, too, and no others.
    static func outside(_ command: CommandDescriptor, _ bound: BoundArguments, _ caller: Caller) -> Refusal? {
        guard case .user(let identity) = caller, let grant = identity.grant else { return nil }
        let refusal = Refusal(.forbidden, "This token is for the commands of \(grant) only.")
        guard command.homeTopic(bound) == grant else { return refusal }
        guard command.span != nil else { return nil }
        let ids = (command.keys.map(\.template) + command.homeTopics).map { template in
            template.variable.flatMap { bound.value($0, command) }
        }
        let isWithin = ids.allSatisfy { id in id.map { grant.id.elementsEqual($0) || $0 == identity.user } ?? false }
        return isWithin ? nil : refusal
    }

    /// The answer with the token that its script asked for.
    static func sign(
        _ answer: CommandAnswer, _ command: CommandDescriptor, _ bound: BoundArguments, _ keys: GrantKeys
    ) -> Result<CommandAnswer, CommandFailure> {
        guard let minted = answer.minted else { return .success(answer) }
        guard let topic = command.mintTopic(bound), let grant = minted.grant(topic), let token = keys.sign(grant) else {
            return .failure(CommandFailure(cannotSign))
        }
        return .success(answer.with(token: token))
    }
}
