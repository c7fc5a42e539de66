import Core

/// The people's listening session: it is open all day, its queue is voted on, and it takes visitors' songs and wishes.
extension PeopleTown {
    /// The code by which visitors join; a number follows where it is taken.
    private static var code: String { "CUTCLUB" }
    /// Codes that are tried.
    private static var attemptsMax: Int { 90 }
    /// Songs that wait, from which on no more are added.
    private static var queueMax: Int { 5 }
    /// Songs that wait, below which one is added at once.
    private static var queueMin: Int { 3 }
    /// Songs of the queue that are noted.
    private static var notedMax: Int { 100 }

    // MARK: Opening

    /// The host's session, or none: then the host makes one.
    mutating func learnSession(_ told: JSON.Value?) {
        guard let told, told["session"]?["host"]?["id"]?.string == names[host] else {
            session = nil
            return openSession(0)
        }
        enter(told)
    }

    mutating func openSession(_ attempt: Int) {
        let code = attempt == 0 ? Self.code : "\(Self.code)\(attempt + 1)"
        ask(host, "create_listening", Members().with("join_code", code), .creation(attempt: attempt))
    }

    /// The host's session, or the code of a refusal; a code that another session has is not the last one.
    mutating func created(_ told: JSON.Value?, _ attempt: Int, refusal: String?) {
        if let told { return enter(told) }
        guard refusal == "code_taken", attempt < Self.attemptsMax else { return }
        agenda.add(.openSession(attempt: attempt + 1), atMs: nowMs + 500)
    }

    /// The host is in its session; the others join, and songs are queued.
    private mutating func enter(_ told: JSON.Value) {
        guard let id = told["session"]?["id"]?.string, let code = told["session"]?["join_code"]?.string else { return }
        let isNew = session?.id != id
        var entered = Session(id: id, code: code)
        entered.queue = ids(told["queue"])
        entered.current = told["current_song"]?["id"]?.string
        if !isNew { entered.isSkipping = session?.isSkipping ?? false }
        session = entered
        guard isNew else { return }
        decided.append(.subscribe(person: host, topic: "session:" + id))
        for person in names.indices where person != host { agenda.add(.join(person), atMs: nowMs + 100 * person) }
        let missing = max(0, Self.queueMax - entered.queue.count)
        for number in 0..<missing { agenda.add(.request, atMs: nowMs + 700 + 200 * number) }
    }

    /// A person joins the session; who takes part already stays.
    mutating func join(_ person: Int) {
        guard let session else { return }
        call(person, "join_listening", Members().with("join_code", session.code))
    }

    private func ids(_ queue: JSON.Value?) -> [String] {
        guard let queue, queue.kind == .array else { return [] }
        return queue.members.prefix(Self.notedMax).compactMap { $0["id"]?.string }
    }

    // MARK: Music

    mutating func addSong() {
        guard let session, session.queue.count < Self.queueMax else { return }
        tracksPlayed += 1
        let number = (tracksPlayed * 5) % DemoCast.tracks.count
        let track = DemoCast.tracks[number]
        call(
            chance(0...names.count - 1), "add_song",
            Members().with("id", "demo\(number)").with("name", track.name).with("artists", track.artist)
                .with("album", "Cut and Blow").with("duration_ms", json: "\(150_000 + number * 2_500)"))
    }

    mutating func vote() {
        guard let song = session?.queue.randomElement(using: &random) else { return }
        vote(chance(0...names.count - 1), on: song, chance(1...10) <= 7 ? 1 : -1)
    }

    mutating func vote(_ person: Int, on song: String, _ value: Int) {
        call(person, "vote_song", Members().with("queued_song_id", song).with("vote_value", json: "\(value)"))
    }

    /// The song that plays is over, unless people are asking to skip it: the visitor's wish would end with it.
    mutating func endSong() {
        guard let session, let current = session.current, !session.isSkipping, !session.queue.isEmpty else { return }
        end(current)
    }

    /// A song is over; one that does not play any more changes nothing.
    mutating func end(_ song: String) {
        call(host, "song_finished", Members().with("queued_song_id", song))
    }

    /// The queue has changed; two people like what a visitor has added.
    mutating func see(_ told: JSON.Value) {
        guard let queue = told["queue"], queue.kind == .array, let known = session?.queue else { return }
        for song in queue.members.prefix(Self.notedMax) {
            guard let id = song["id"]?.string, !known.contains(id), let adder = song["added_by"]?["id"]?.string,
                Self.isVisitor(adder)
            else { continue }
            agenda.add(.agree(0, song: id), atMs: nowMs + chance(900...1_500))
            agenda.add(.agree(1, song: id), atMs: nowMs + chance(2_200...3_000))
        }
        let ids = ids(queue)
        session?.queue = ids
        if ids.count < Self.queueMin { agenda.add(.request, atMs: nowMs + 800) }
    }

    /// Somebody wants to skip the song, and the people never begin with it: all join.
    ///
    /// Visitors who have closed their windows still take part. Where they are so many that it takes more, the host
    /// plays the next song.
    mutating func joinSkip() {
        guard session?.isSkipping == false else { return }
        guard let song = session?.current else { return }
        session?.isSkipping = true
        for person in names.indices { agenda.add(.skip(person, song: song), atMs: nowMs + 900 * (person + 1)) }
        agenda.add(.end(song: song), atMs: nowMs + 1_000 * (names.count + 2))
    }

    /// Asks to skip a song while it plays.
    ///
    /// Later the wish would be for the next song, and the others would join it.
    mutating func skip(_ person: Int, _ song: String) {
        if session?.current == song { call(person, "request_skip", Members()) }
    }
}
