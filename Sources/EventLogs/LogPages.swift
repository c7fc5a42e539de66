import Core
import Topics

/// Joins the pages of one read.
///
/// One call of a script returns a page, so that Redis serves other clients between two of them. The events that a
/// client missed may fill many pages. They are read from the newest one back, until all are here or the bounds of a
/// recovery are reached. A repair takes one page and asks for the next by itself.
struct LogPages {
    /// Maximum to read; each event counts ``eventBytes`` more than its data.
    struct Bounds: Equatable {
        var events: Int
        var bytes: Int
    }

    /// Bytes that an event counts besides its data.
    static let eventBytes = 256

    let order: LogRead.Order
    let since: Position?
    /// For all pages together.
    let total: Bounds
    /// For one page.
    let page: Bounds
    private var answer: LogRead.Answer?
    private var pages: [[ChannelMessage]] = []
    private var taken = Bounds(events: 0, bytes: 0)

    init(_ order: LogRead.Order, since: Position?, total: Bounds, page: Bounds) {
        self.order = order
        self.since = since
        self.total = total
        self.page = page
    }

    /// The bounds of the next page.
    var next: Bounds {
        Bounds(
            events: min(page.events, total.events - taken.events), bytes: min(page.bytes, total.bytes - taken.bytes))
    }

    /// The whole result; position and state are those of the first page.
    var whole: LogRead.Answer? {
        guard var answer else { return nil }
        answer.events = Array(pages.reversed().joined())
        return answer
    }

    /// Takes a page; returns the offset before which the next one ends, `nil` when the read is over.
    ///
    /// Events that the log no longer has are not requested twice. A page of another epoch ends the read: its events are
    /// not the missed ones.
    mutating func take(_ read: LogRead.Answer) -> Int? {
        let first = answer ?? read
        answer = first
        guard read.position.epoch == first.position.epoch else { return nil }
        let kept = keep(read.events)
        pages.append(kept)
        guard order == .newest, let since, since.epoch == first.position.epoch, kept.count == read.events.count,
            let offset = kept.first?.position?.offset, offset > since.offset + 1, taken.events < total.events,
            taken.bytes < total.bytes
        else { return nil }
        return offset
    }

    /// The newest of a page's events within the bounds of the whole read; at least one event over all pages.
    private mutating func keep(_ events: [ChannelMessage]) -> [ChannelMessage] {
        guard order == .newest else { return events }
        var count = 0
        for event in events.reversed() {
            let bytes = event.data.count + LogPages.eventBytes
            guard taken.events == 0 || taken.bytes + bytes <= total.bytes else { break }
            taken.events += 1
            taken.bytes += bytes
            count += 1
        }
        return Array(events.suffix(count))
    }
}
