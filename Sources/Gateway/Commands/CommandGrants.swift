import Commands
import Core
import Rights

/// What the gateway's own tokens are worth at the door of the commands, and how a command's answer gets one.
enum CommandGrants {
    private static let cannotSign = Refusal(
        .unavailable, "This gateway cannot sign tokens; start it with --mint-secret-file.")

    /// Why a call may not be made; `nil` when nothing of tokens is in its way.
    ///
    /// A token of the gateway's own calls the commands of its topic: those whose keys belong to the same namespace and id.
    /// It makes no other token, or nobody could ever be sent away.
    static func refusal(
        _ command: CommandDescriptor, _ bound: BoundArguments, _ caller: Caller, _ keys: GrantKeys
    ) -> Refusal? {
        if case .user(let identity) = caller, let grant = identity.grant {
            guard command.homeTopic(bound) == grant else {
                return Refusal(.forbidden, "This token is for the commands of \(grant) only.")
            }
            guard command.mint == nil else { return Refusal(.forbidden, "This token makes no other token.") }
        }
        return command.mint != nil && keys.isEmpty ? cannotSign : nil
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
