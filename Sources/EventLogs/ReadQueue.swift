import Core
import Rights

/// Decides which reads are sent to Redis next, and which wait or are refused.
///
/// Redis does one thing at a time, so reads delay the publishes and commands that are sent after them. Therefore the
/// weight of the reads in flight is bounded; publishes and commands never wait here. Waiting reads have turns: first
/// those of the gateway itself, then those of known callers and of anonymous ones, three to one. Within a class each
/// payer has its turn, so that a payer with many reads delays only itself. When too many wait, known callers take the
/// places of anonymous ones.
///
/// Pure: time is a parameter, monotonic milliseconds.
struct ReadQueue<Read> {
    /// The kind of caller of a read.
    enum Class: Int, CaseIterable {
        /// The gateway: reads for joining clients, and repairs. Bounded where they are created.
        case gateway
        /// A user or a backend.
        case known
        /// An anonymous caller.
        case anonymous
    }

    /// Result of adding a read.
    enum Addition {
        /// It waits, and may still be refused.
        case taken
        /// It waits in the place of this one, which is refused.
        case displaced(Read)
        /// Too many wait already.
        case refused
    }

    private struct Ticket {
        let read: Read
        let weightUs: Int
        let deadlineMs: Int
    }

    /// The waiting reads of one class: a queue for each payer, and the payers in the order of their turns.
    private struct Lines {
        var turns = Ring<Payer>()
        var lines: [Payer: Line] = [:]
        var count = 0

        var isEmpty: Bool { count == 0 }

        mutating func add(_ ticket: Ticket, _ payer: Payer) {
            if lines[payer] == nil { turns.append(payer) }
            lines[payer, default: Line()].tickets.append(ticket)
            lines[payer]?.weightUs += ticket.weightUs
            count += 1
        }

        /// The next read; `nil` when there is none, or `goes` makes it wait.
        mutating func take(_ goes: (Ticket) -> Bool) -> Ticket? {
            guard let payer = turns.first, let ticket = lines[payer]?.tickets.first, goes(ticket) else { return nil }
            _ = turns.popFirst()
            _ = lines[payer]?.tickets.popFirst()
            taken(ticket, payer)
            if lines[payer] != nil { turns.append(payer) }
            return ticket
        }

        /// The newest read of the payer with the most weight waiting.
        mutating func takeNewest() -> Ticket? {
            guard let payer = lines.max(by: { $0.value.weightUs < $1.value.weightUs })?.key,
                let ticket = lines[payer]?.tickets.popLast()
            else { return nil }
            taken(ticket, payer)
            if lines[payer] == nil { drop(payer) }
            return ticket
        }

        /// The reads whose deadline has passed; those of one payer stand in the order of their deadlines.
        mutating func expire(_ nowMs: Int) -> [Ticket] {
            var expired: [Ticket] = []
            for payer in Array(lines.keys) {
                while let first = lines[payer]?.tickets.first, first.deadlineMs <= nowMs {
                    _ = lines[payer]?.tickets.popFirst()
                    taken(first, payer)
                    expired.append(first)
                }
                if lines[payer] == nil { drop(payer) }
            }
            return expired
        }

        private mutating func taken(_ ticket: Ticket, _ payer: Payer) {
            count -= 1
            lines[payer]?.weightUs -= ticket.weightUs
            if lines[payer]?.tickets.isEmpty == true { lines[payer] = nil }
        }

        private mutating func drop(_ payer: Payer) {
            for _ in 0..<turns.count {
                guard let next = turns.popFirst() else { return }
                if next != payer { turns.append(next) }
            }
        }
    }

    private struct Line {
        var tickets = Ring<Ticket>()
        var weightUs = 0
    }

    private var classes = Class.allCases.map { _ in Lines() }
    /// Sum of the weights of the reads in flight, microseconds.
    private(set) var inFlightUs = 0
    /// Sum of the weights of the waiting reads of callers, microseconds.
    private(set) var waitingUs = 0
    /// Reads of known callers since the last one of an anonymous caller.
    private var knownInARow = 0
    private let inFlightUsMax: Int
    private let waitingUsMax: Int

    /// An empty queue; one payer may hold a quarter of the waiting weight.
    init(inFlightUsMax: Int, waitingUsMax: Int) {
        self.inFlightUsMax = inFlightUsMax
        self.waitingUsMax = waitingUsMax
    }

    /// Number of waiting reads.
    var waiting: Int { classes.reduce(0) { $0 + $1.count } }

    /// Takes a read, unless too many wait.
    mutating func add(_ read: Read, _ place: Class, _ payer: Payer, weightUs: Int, deadlineMs: Int) -> Addition {
        let ticket = Ticket(read: read, weightUs: weightUs, deadlineMs: deadlineMs)
        guard place != .gateway else {
            classes[place.rawValue].add(ticket, payer)
            return .taken
        }
        let own = classes[place.rawValue].lines[payer]?.weightUs ?? 0
        // A payer without waiting reads may wait with one, however heavy it is.
        guard own == 0 || own + weightUs <= waitingUsMax / 4 else { return .refused }
        var addition = Addition.taken
        if waitingUs > 0, waitingUs + weightUs > waitingUsMax {
            guard place == .known, let displaced = classes[Class.anonymous.rawValue].takeNewest() else {
                return .refused
            }
            waitingUs -= displaced.weightUs
            addition = .displaced(displaced.read)
        }
        waitingUs += weightUs
        classes[place.rawValue].add(ticket, payer)
        return addition
    }

    /// The next read to send, if one may go now; call it until there is none.
    ///
    /// `payShared` charges a read of an anonymous caller to the shared budget; false when it has to wait.
    mutating func next(payShared: (_ weightUs: Int) -> Bool) -> (read: Read, weightUs: Int)? {
        for place in order {
            let (inFlightUs, inFlightUsMax) = (inFlightUs, inFlightUsMax)
            var isHeld = false
            let ticket = classes[place.rawValue].take { ticket in
                guard inFlightUs == 0 || inFlightUs + ticket.weightUs <= inFlightUsMax else {
                    isHeld = true
                    return false
                }
                return place != .anonymous || payShared(ticket.weightUs)
            }
            // Light reads behind a heavy one must not pass it for ever.
            if isHeld { return nil }
            guard let ticket else { continue }
            if place == .known { knownInARow += 1 }
            if place == .anonymous { knownInARow = 0 }
            if place != .gateway { waitingUs -= ticket.weightUs }
            self.inFlightUs += ticket.weightUs
            return (ticket.read, ticket.weightUs)
        }
        return nil
    }

    private var order: [Class] {
        knownInARow < 3 ? [.gateway, .known, .anonymous] : [.gateway, .anonymous, .known]
    }

    /// A read that was sent has ended.
    mutating func finished(weightUs: Int) {
        inFlightUs -= weightUs
    }

    /// Takes the reads that have waited too long; called now and then.
    mutating func expire(nowMs: Int) -> [Read] {
        var expired: [Read] = []
        for place in Class.allCases where !classes[place.rawValue].isEmpty {
            let late = classes[place.rawValue].expire(nowMs)
            if place != .gateway { waitingUs -= late.reduce(0) { $0 + $1.weightUs } }
            expired += late.map(\.read)
        }
        return expired
    }
}
