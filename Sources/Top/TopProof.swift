/// A round that waits for the return of its mark on the program's own channel.
struct TopProof {
    /// The message; another one for each round.
    let mark: [UInt8]
    /// The time at which the round is given up, monotonic milliseconds.
    let untilMs: Int
    let round: TopRound
    /// Asks the nodes.
    let proceed: () -> Void

    /// Takes the parts.
    init(mark: [UInt8], untilMs: Int, _ round: TopRound, _ proceed: @escaping () -> Void) {
        (self.mark, self.untilMs, self.round, self.proceed) = (mark, untilMs, round, proceed)
    }
}
