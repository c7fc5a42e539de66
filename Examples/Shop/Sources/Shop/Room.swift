import SwitchboardClient

/// A track that waits, in the part of the gateway's form that the screen shows.
struct Track: Decodable, Identifiable, Sendable, Equatable {
    var trackId: String
    /// The gateway learns it later for a track that a phone adds by its id alone.
    var trackName: String?
    var score: Int

    var id: String { trackId }
}

/// The state of a topic `dj:SHOP`.
struct Session: Decodable, Sendable {
    var isActive: Bool
    var queue: [Track]
}

/// The votes of a track, after one more of them.
struct Standing: Decodable, Sendable {
    var trackId: String
    var score: Int
}

/// The events of a topic `dj:SHOP` that the screen needs.
enum RoomEvent: SwitchboardEvent {
    struct Removed: Decodable, Sendable { var trackId: String }

    case added(Track)
    case removed(Removed)
    case voted(Standing)
    case began(Session)
    case ended

    init?(_ event: TopicEvent) throws {
        switch event.name {
        case "track:added": self = .added(try event.decode())
        case "track:removed", "track:playing": self = .removed(try event.decode())
        case "queue:update": self = .voted(try event.decode())
        case "session:started": self = .began(try event.decode())
        case "session:stopped": self = .ended
        default: return nil
        }
    }
}

/// The room on the screen: the queue, the best track first.
struct Room: TopicContent, Equatable {
    var isActive = false
    var queue: [Track] = []

    mutating func begin(with state: Session) {
        isActive = state.isActive
        queue = state.queue
    }

    mutating func apply(_ event: RoomEvent) {
        switch event {
        case .added(let track): queue.append(track)
        case .removed(let removed): queue.removeAll { $0.id == removed.trackId }
        case .began(let session): begin(with: session)
        case .ended: self = Room()
        case .voted(let standing):
            guard let index = queue.firstIndex(where: { $0.id == standing.trackId }) else { return }
            queue[index].score = standing.score
            // Swift's sort keeps the order of equals.
            queue.sort { $0.score > $1.score }
        }
    }
}

/// A vote for a track.
struct Vote: SwitchboardCommand {
    typealias Answer = Standing
    static let commandName = "vote"
    var shopId: String
    var trackId: String
    var vote = "up"
}
