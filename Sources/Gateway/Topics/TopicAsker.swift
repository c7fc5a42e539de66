import Commands
import Rights

/// On whose behalf a topic is read where a script decides who may join it, and tells each caller a state of its own.
struct TopicAsker: Equatable {
    let caller: CommandCaller
    /// Whose budget pays.
    let payer: Payer
}
