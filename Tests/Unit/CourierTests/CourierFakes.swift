import Core
import Foundation
import RedisLink
import Service
import Testing

@testable import Configuration
@testable import Courier

/// Text as bytes, and back.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

/// A list of texts as Redis replies it.
func list(_ words: String...) -> RESPValue { .array(words.map { .string(bytes($0)) }) }

/// A clock that moves when a test says so.
final class ManualClock {
    private(set) var nowMs = 1_000_000
    func pass(_ ms: Int) { nowMs += ms }
}

/// A client of outside services: a test sees the requests, and answers them one by one.
final class FakeWeb: WebClient {
    /// All requests, in the order in which they were made.
    private(set) var sent: [WebRequest] = []
    private var open: [WebEngine.Completion] = []

    /// The requests that have no answer yet.
    var openCount: Int { open.count }
    var last: WebRequest { get throws { try #require(sent.last) } }

    func send(_ request: WebRequest, _ completion: @escaping WebEngine.Completion) {
        sent.append(request)
        open.append(completion)
    }

    /// Answers the oldest open request.
    func answer(_ status: Int, _ body: String = "", headers: [(name: String, value: String)] = []) throws {
        let fields = headers.map { (name: $0.name, value: bytes($0.value)) }
        try end(.success(WebReply(status: status, headers: fields, body: bytes(body))))
    }

    func fail(_ failure: WebFailure) throws { try end(.failure(failure)) }

    private func end(_ result: Result<WebReply, WebFailure>) throws {
        try #require(!open.isEmpty, "no request is open")
        open.removeFirst()(result)
    }

    func stop() {
        let all = open
        open = []
        for completion in all { completion(.failure(.stopped)) }
    }
}

extension WebRequest {
    /// The value of a field; empty without one.
    func field(_ name: String) -> String { headers.first { $0.name == name }?.value ?? "" }
    var bodyText: String {
        if case .post(let body) = method { text(body) } else { "" }
    }
}

/// Redis as a test wants it: `reply` answers each call, and completions run in ``settle()``.
final class FakeRedis: RedisCalls {
    /// A call: its words, or a script's name, keys and arguments.
    typealias Words = [String]

    var isReady = true
    /// Answers a call; `nil` leaves it open until ``release(_:)``.
    var reply: (Words) -> RESPValue? = { _ in .null }
    /// The failure of every call, if there is one.
    var failure: RedisFailure?
    private(set) var log: [Words] = []
    private let scripts: [ScriptID: String]
    private var held: [Completion] = []
    private var due: [() -> Void] = []

    init(_ scripts: CourierScripts) {
        self.scripts = [scripts.finish: "finish", scripts.mark: "mark", scripts.step: "step"]
    }

    /// The calls that begin with these words.
    func calls(_ words: String...) -> [Words] { log.filter { $0.starts(with: words) } }
    /// The calls that wait in Redis.
    var heldCount: Int { held.count }
    /// Answers the oldest call that waits.
    func release(_ result: Result<RESPValue, RedisFailure>) throws {
        try #require(!held.isEmpty, "no call waits")
        held.removeFirst()(result)
        settle()
    }

    /// Runs the completions of all answered calls, and of those that they make.
    func settle() {
        while !due.isEmpty { due.removeFirst()() }
    }

    func call(_ call: RedisCall, _ completion: @escaping Completion) {
        take(call.arguments.map { text($0) }, completion)
    }

    func run(_ call: ScriptCall, lane: UInt64?, _ completion: @escaping Completion) {
        take([scripts[call.script] ?? "?"] + (call.keys + call.arguments).map { text($0) }, completion)
    }

    private func take(_ words: Words, _ completion: @escaping Completion) {
        log.append(words)
        if let failure { return due.append { completion(.failure(failure)) } }
        guard let value = reply(words) else { return held.append(completion) }
        due.append { completion(.success(value)) }
    }

    // The courier's rooms ask none of these.
    let servers: [ServerID] = []
    func link(to server: ServerID) -> CallLink? { nil }
    func facts(of server: ServerID) -> ServerFacts? { nil }
    func place(of server: ServerID) -> String? { nil }
    func recheck(_ server: ServerID) {}
    func reconnect(_ server: ServerID, _ failure: RedisFailure) {}
    func follow(_ placement: Placement) {}
    let callsMax = 1_000
    let lastFailure: RedisFailure? = nil
    let facts: ServerFacts? = nil
    let isSharded = false
    let writer: [UInt8]? = nil
    let syncsEveryWrite = false
    func fence(of key: @autoclosure () -> [UInt8]) -> [UInt8]? { nil }
    func isBusy(_ lane: UInt64) -> Bool { false }
    func stop() { isReady = false }
}

/// The parts of a courier with a receiver `shop` of `order:*` and a key for APNs.
enum TestParts {
    static let receiver = "shop"
    static let keyID = "KEY1234567"
    /// Made for these tests alone.
    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgRkbGV1fLXaRlQuPz
        MC8a+GN74pjS7M9HOJFds9JA/ZWhRANCAAQbxYQdKatRBBKTAd/EvoxzWdiQCOt6
        18up8Qxjder1ixH7X0N43AU2o31PWqJK0VAIOG68StwJF1KZ9pJsbimm
        -----END PRIVATE KEY-----

        """

    /// Makes them; `change` may alter the settings before.
    static func made(_ change: (inout CourierSettings) -> Void = { _ in }) throws -> CourierParts {
        let folder = FileManager.default.temporaryDirectory.appending(path: "courier-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func file(_ name: String, _ content: String) throws -> String {
            let url = folder.appending(path: name)
            try Data(content.utf8).write(to: url)
            return url.path
        }
        var settings = CourierSettings()
        settings.webhooks = [
            WebhookSettings(
                name: receiver, url: "https://shop.example/hooks",
                secretFile: try file("secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"), topics: ["order:*"])
        ]
        settings.apnsKeyFile = try file("key.p8", key)
        (settings.apnsKeyID, settings.apnsTeam, settings.apnsTopic) = (keyID, "TEAM123456", "example.app")
        change(&settings)
        return try CourierParts(settings, log: Log(format: .text, level: .error, linesMax: 100))
    }
}
