/// The events of a topic on a shard, in a window of 30 s and the one before.
///
/// Pure: time is a parameter, monotonic milliseconds.
struct TopicTraffic {
    private struct Window {
        var events = 0
        var bytes = 0
    }

    private var number = 0
    private var current = Window()
    private var last = Window()

    static let windowMs = 30_000

    /// Counts an event of so many bytes for so many members.
    mutating func count(_ bytes: Int, members: Int, nowMs: Int) {
        turn(nowMs: nowMs)
        current.events &+= 1
        current.bytes &+= bytes &* members
    }

    private mutating func turn(nowMs: Int) {
        let now = nowMs / TopicTraffic.windowMs
        guard now != number else { return }
        last = now == number + 1 ? current : Window()
        current = Window()
        number = now
    }

    /// Events, and bytes handed to members, per minute: the mean of both windows.
    func perMinute(nowMs: Int) -> (events: Int, bytes: Int) {
        var copy = self
        copy.turn(nowMs: nowMs)
        let spanMs = TopicTraffic.windowMs + nowMs % TopicTraffic.windowMs
        func rate(_ count: Int) -> Int { Int(min(Double(count) * 60_000 / Double(spanMs), 1e15).rounded(.up)) }
        return (rate(copy.last.events &+ copy.current.events), rate(copy.last.bytes &+ copy.current.bytes))
    }
}
