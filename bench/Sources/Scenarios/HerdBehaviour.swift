import Reactors

/// Subscribers that are all cut at once and reconnect.
///
/// Every process cuts at the same time of the load's plan, by a TCP reset. Thread: main.
final class HerdBehaviour: ReturningBehaviour {
    private var cutUs = Int.max

    override func begins(_ plan: LoadPlan) {
        super.begins(plan)
        if crew.options.cut == .reset { cutUs = plan.measureUs + crew.options.calm * 1_000_000 }
    }

    override func tick(_ nowUs: Int) {
        if nowUs >= cutUs {
            cutUs = Int.max
            for client in crew.clients { client.reset() }
        }
        super.tick(nowUs)
    }
}
