import Configuration
import Core
import Reactors
import Rights

/// Queries Spotify's catalogue: a search, or the description of a track (developer.spotify.com, Web API).
///
/// The requests are `{"q": WORDS, "limit": 1...50}`, answered by `{"tracks": [...]}`, and `{"track": ID}`, answered by
/// the track. Thread: the courier's.
final class SpotifyService: OutsideService {
    typealias Completion = (Result<[UInt8], ServiceFailure>) -> Void

    /// The answer to one request to Spotify.
    private typealias Page = (tracks: [SpotifyTrack], isLast: Bool)

    let name: String
    let tryMs = 10_000
    let heldMax = 32
    private let settings: ServiceSettings
    /// The app's client secret; a token obtained with it stays valid until its end.
    var secret: [UInt8]
    private let engine: any WebClient
    private let nowMs: () -> Int
    private var token = ServiceToken()
    private var tokenWaiters: [(Result<String?, ServiceFailure>) -> Void] = []
    private var breaker = Breaker(pauseMinMs: 2_000, pauseMaxMs: 60_000)
    private var cache = AnswerCache<Page>(countMax: 1_000)
    /// Requests made, and those of them that failed.
    private(set) var requests = 0
    private(set) var failures = 0

    /// Tracks of one page: what apps in Spotify's development mode may ask for at once.
    static let pageSize = 10
    private static let searchGoodMs = 60_000
    private static let trackGoodMs = 3_600_000
    private static let tokenMs = 5_000
    private static let jsonLimits = JSON.Limits(depthMax: 16, elementsMax: 20_000)

    init(_ settings: ServiceSettings, secret: [UInt8], engine: any WebClient, nowMs: @escaping () -> Int) {
        name = settings.name
        self.settings = settings
        self.secret = secret
        self.engine = engine
        self.nowMs = nowMs
    }

    /// Whether so many requests failed that no calls are taken.
    var isOpen: Bool { !breaker.wouldAdmit(nowMs: nowMs()) }

    // MARK: Requests

    /// Answers a request, one JSON object.
    func ask(_ request: JSON.Value, deadlineMs: Int, _ completion: @escaping Completion) {
        if let id = request["track"]?.string {
            guard (1...64).contains(id.utf8.count), id.utf8.allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) })
            else {
                return completion(.failure(.final("no track has such an id")))
            }
            let path = "/v1/tracks/" + id + "?market=" + settings.market
            return fetch(path, goodMs: SpotifyService.trackGoodMs, deadlineMs) { result in
                completion(
                    result.flatMap { page in
                        page.tracks.first.map { .success($0.text) }
                            ?? .failure(ServiceFailure(reason: "the answer is no track"))
                    })
            }
        }
        guard let words = request["q"]?.stringBytes, (1...1_000).contains(words.count) else {
            return completion(.failure(.final("the request names neither words nor a track")))
        }
        let limit = min(max(request["limit"]?.int ?? 20, 1), 50)
        search(SpotifyService.folded(words), limit, [], deadlineMs, completion)
    }

    /// A common text for searches with the same result: ASCII in lower case, one space between words.
    private static func folded(_ words: [UInt8]) -> [UInt8] {
        Array(words.map { ASCII.lowercased($0) }.split(separator: 0x20).joined(separator: [0x20]))
    }

    private func search(
        _ words: [UInt8], _ limit: Int, _ found: [SpotifyTrack], _ deadlineMs: Int, _ completion: @escaping Completion
    ) {
        let size = SpotifyService.pageSize
        let path = "/v1/search?q=" + URLText.encoded(words) + "&type=track&limit=\(size)&offset=\(found.count)"
        fetch(path + "&market=" + settings.market, goodMs: SpotifyService.searchGoodMs, deadlineMs) {
            [weak self] result in
            switch result {
            case .failure(let failure): completion(.failure(failure))
            case .success((let tracks, let isLast)):
                let all = found + tracks
                if all.count < limit, !isLast, let self { return search(words, limit, all, deadlineMs, completion) }
                completion(.success(SpotifyService.list(all.prefix(limit))))
            }
        }
    }

    private static func list(_ tracks: some Sequence<SpotifyTrack>) -> [UInt8] {
        var text = [UInt8(ascii: "{")]
        text.append(member: "tracks")
        text.append(arrayOf: tracks) { $0 += $1.appText }
        return text + [UInt8(ascii: "}")]
    }

    /// Gets the answer of a path, from the cache if it has one.
    private func fetch(
        _ path: String, goodMs: Int, _ deadlineMs: Int,
        _ completion: @escaping (Result<Page, ServiceFailure>) -> Void
    ) {
        if let kept = cache.answer(to: path, nowMs: nowMs()) { return completion(.success(kept)) }
        get(path, deadlineMs, isRepeated: false) { [weak self] result in
            switch result {
            case .failure(let failure): completion(.failure(failure))
            case .success(let body):
                guard let self, let page = SpotifyService.page(body) else {
                    return completion(.failure(ServiceFailure(reason: "the answer cannot be read")))
                }
                cache.keep(page, to: path, untilMs: nowMs() + goodMs)
                completion(.success(page))
            }
        }
    }

    /// Reads an answer: a page of a search, or a track.
    private static func page(_ body: [UInt8]) -> Page? {
        guard let root = try? JSON(parsing: body, limits: jsonLimits).root else { return nil }
        guard let list = root["tracks"] else { return SpotifyTrack(root).map { ([$0], true) } }
        guard let items = list["items"], items.kind == .array else { return nil }
        let tracks = items.members.prefix(pageSize).compactMap { SpotifyTrack($0) }
        return (tracks, tracks.count < pageSize)
    }

    private func get(_ path: String, _ deadlineMs: Int, isRepeated: Bool, _ completion: @escaping Completion) {
        guard breaker.admits(nowMs: nowMs()) else {
            let waitMs = max(breaker.holdMs - nowMs(), 1_000)
            return completion(
                .failure(ServiceFailure(reason: "\(name) is left alone for a while", retryAfterMs: waitMs)))
        }
        withToken { [weak self] result in
            guard let self else { return }
            guard case .success(let token) = result else {
                if case .failure(let failure) = result { completion(.failure(failure)) }
                return
            }
            requests += 1
            let headers = token.map { [("authorization", "Bearer " + $0)] } ?? []
            engine.send(WebRequest(.get, settings.url + path, headers: headers, deadlineMs: deadlineMs)) {
                [weak self] in
                self?.answered($0, path, token, deadlineMs, isRepeated, completion)
            }
        }
    }

    private func answered(
        _ result: Result<WebReply, WebFailure>, _ path: String, _ used: String?, _ deadlineMs: Int, _ isRepeated: Bool,
        _ completion: @escaping Completion
    ) {
        guard case .success(let reply) = result else {
            if case .failure(let failure) = result {
                completion(.failure(failed("\(name) could not be reached: \(failure.rawValue)")))
            }
            return
        }
        switch reply.status {
        case 200:
            breaker.succeeded()
            completion(.success(reply.body))
        case 401 where !isRepeated && used != nil:
            breaker.abandoned()
            used.map { token.refused($0) }
            get(path, deadlineMs, isRepeated: true, completion)
        case 429:
            completion(
                .failure(failed("\(name) is asked too often", retryAfterMs: (reply.retryAfterSeconds ?? 1) * 1_000)))
        // The fault is this request's, and users choose its words: other requests continue.
        case 400..<500 where ![401, 403, 408].contains(reply.status):
            breaker.succeeded()
            failures += 1
            completion(.failure(.final("\(name) answers \(reply.status)")))
        default:
            completion(
                .failure(
                    failed("\(name) answers \(reply.status)", retryAfterMs: reply.retryAfterSeconds.map { $0 * 1_000 }))
            )
        }
    }

    /// Records a failure of the service.
    private func failed(_ reason: String, retryAfterMs: Int? = nil) -> ServiceFailure {
        failures += 1
        breaker.failed(nowMs: nowMs(), retryAfterMs: retryAfterMs)
        return ServiceFailure(reason: reason, retryAfterMs: retryAfterMs)
    }

    // MARK: The token

    private func withToken(_ action: @escaping (Result<String?, ServiceFailure>) -> Void) {
        guard settings.tokenURL != nil else { return action(.success(nil)) }
        switch token.next(nowMs: nowMs()) {
        case .use(let text, let renew):
            if renew { fetchToken() }
            action(.success(text))
        case .fetch:
            tokenWaiters.append(action)
            fetchToken()
        case .wait: tokenWaiters.append(action)
        }
    }

    private func fetchToken() {
        let basic = String(
            decoding: Base64.encode(Array((settings.clientID + ":").utf8) + secret, .standard), as: UTF8.self)
        let request = WebRequest(
            .post(Array("grant_type=client_credentials".utf8)), settings.tokenURL ?? "",
            headers: [("authorization", "Basic " + basic), ("content-type", "application/x-www-form-urlencoded")],
            deadlineMs: nowMs() + SpotifyService.tokenMs)
        engine.send(request) { [weak self] in self?.tokenAnswered($0) }
    }

    private func tokenAnswered(_ result: Result<WebReply, WebFailure>) {
        let waiters = tokenWaiters
        tokenWaiters = []
        guard case .success(let reply) = result, reply.status == 200,
            let root = try? JSON(parsing: reply.body, limits: SpotifyService.jsonLimits).root,
            let text = root["access_token"]?.string, (1...4_096).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else {
            token.failed(nowMs: nowMs())
            var why = "cannot be reached"
            var retryMs: Int?
            if case .success(let reply) = result {
                why = "answers \(reply.status)"
                retryMs = reply.retryAfterSeconds.map { $0 * 1_000 }
            }
            let failure = failed("the service of tokens \(why)", retryAfterMs: retryMs)
            for waiter in waiters { waiter(.failure(failure)) }
            return
        }
        token.fetched(text, seconds: root["expires_in"]?.int ?? 3_600, nowMs: nowMs())
        for waiter in waiters { waiter(.success(text)) }
    }
}

@available(*, unavailable)
extension SpotifyService: Sendable {}
