import Core
import Dialects
import Rights
import Testing

@testable import Sessions

/// The open sessions of a user, visited in steps while others of them end.
@Suite struct UserSessionsTests {
    private let world: SessionWorld
    private let services: SessionServices

    init() throws {
        world = SessionWorld(seed: 1, fixtures: try SessionWorld.Fixtures())
        services = world.makeServices(budget: world)
    }

    private func open(_ user: String) throws -> Session {
        let identity = try #require(
            Identity(user: Array(user.utf8), role: .user, topics: [], expiresAt: world.wallMs + 3_600))
        return Session(
            services, output: SessionClient(number: 9, world: world), sessionID: .main, encoding: world.encoding,
            caller: .user(identity))
    }

    /// The numbers of ann's sessions, as a walk by two finds them that does something after its first step.
    private func walk(_ then: () -> Void = {}) -> [UInt32] {
        let ann = Array("ann".utf8)
        var found: [UInt32] = []
        var place = services.users.count(of: ann)
        var steps = 0
        while place > 0 {
            place = services.users.visit(ann, below: place, count: 2) { found.append($0.number) }
            steps += 1
            if steps == 1 { then() }
        }
        return found
    }

    @Test func aUsersSessionsAreFoundAndNoOthers() throws {
        let sessions = try (0..<5).map { _ in try open("ann") }
        let other = try open("ben")
        #expect(walk().sorted() == sessions.map(\.number))
        for (ended, left) in zip([2, 4, 0], [4, 3, 2]) {
            sessions[ended].ended(.normal, unsent: [:])
            #expect(services.users.count(of: Array("ann".utf8)) == left)
        }
        #expect(walk().sorted() == [sessions[1].number, sessions[3].number])
        other.ended(.normal, unsent: [:])
        #expect(services.users.count(of: Array("ben".utf8)) == 0)
        for index in [1, 3] { sessions[index].ended(.normal, unsent: [:]) }
        #expect(walk().isEmpty)
    }

    @Test(arguments: 0..<5)
    func aWalkLeavesOutNoSessionThatStays(ending: Int) throws {
        let sessions = try (0..<5).map { _ in try open("ann") }
        let found = Set(walk { sessions[ending].ended(.normal, unsent: [:]) })
        let staying = sessions.indices.filter { $0 != ending }.map { sessions[$0].number }
        #expect(found.isSuperset(of: staying))
    }

    /// An end looked through all sessions of its user, so 19,000 at once took a shard as long as 180 million looks.
    @Test(arguments: [false, true])
    func sessionsKnowTheirPlacesInAnyOrderOfEnds(isOldestFirst: Bool) throws {
        var sessions = try (0..<200).map { _ in try open("ann") }
        while !sessions.isEmpty {
            let ended = isOldestFirst ? sessions.removeFirst() : sessions.remove(at: sessions.count / 2)
            ended.ended(.normal, unsent: [:])
            #expect(ended.userPlace == nil)
            #expect(Set(sessions.map(\.userPlace)) == Set((0..<sessions.count).map { Optional($0) }))
            #expect(walk().sorted() == sessions.map(\.number))
        }
    }

    @Test func aSessionIsFoundFromItsFirstTokenOn() {
        let session = Session(
            services, output: SessionClient(number: 9, world: world), sessionID: .main, encoding: world.encoding,
            caller: .anonymous)
        #expect(services.users.count(of: SessionClient.user) == 0)
        for token in ["u", "g"] {
            session.received(.success(ClientRequest(command: .authenticate(token: Array(token.utf8)), ref: nil)))
            #expect(services.users.count(of: SessionClient.user) == 1)
        }
        session.ended(.normal, unsent: [:])
        #expect(services.users.count(of: SessionClient.user) == 0)
    }
}
