import Core
import Rights

@testable import Sessions

/// A budget as a test wants it.
final class TestBudget: SessionBudget {
    /// The refusal of every join; `nil` where joins are paid.
    var refusal: Refusal?
    /// Milliseconds until a publish could be charged; `nil` where it is charged.
    var publishWaitMs: Int?

    func charge(_ cost: SessionCost, _ caller: Caller) -> Int? { cost == .publish ? publishWaitMs : nil }
    func payJoin(_ topic: Topic, _ caller: Caller, at address: IPAddress?) -> Refusal? { refusal }
    func room(at address: IPAddress?) -> Int { Int.max }
    func hold(_ count: Int, at address: IPAddress?) {}
}
