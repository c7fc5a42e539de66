import Commands
import Core
import EventLogs
import HTTPSurface
import RedisLink
import Rights

/// The rights in Redis: members, revocations and removals.
///
/// Replies are as untrusted as any other input. Thread: the shard's.
final class RightsStore: MembershipWriter {
    private let link: any RedisCalls
    private let scripts: EventLogScripts
    private let keys: Keys
    private let limits: Limits

    private static let nonsense = Refusal(.internalError, "the store answered something that cannot be")
    private static let pageMax = 500

    init(link: any RedisCalls, scripts: EventLogScripts, keys: Keys, limits: Limits) {
        self.link = link
        self.scripts = scripts
        self.keys = keys
        self.limits = limits
    }

    /// Whether calls can be made.
    var isReady: Bool { link.isReady }

    /// Adds a user to a topic's members or removes them.
    func setMember(
        _ topic: Topic, user: [UInt8], isMember: Bool, _ completion: @escaping (Result<MemberChange, Refusal>) -> Void
    ) {
        let change = MembersCall(topic, user: user, isMember ? .add : .remove)
        change.make(scripts.setMember, on: link, keys: keys, membersMax: limits.membersMax) { result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    switch value.integer {
                    case 1: .success(.changed)
                    case 0: .success(.unchanged)
                    case -1: .success(.full)
                    default: .failure(RightsStore.nonsense)
                    }
                })
        }
    }

    /// Revokes tokens; for a user, returns the effective time, which never decreases.
    func revoke(_ subject: Revocation.Subject, _ completion: @escaping (Result<Revocation.Subject, Refusal>) -> Void) {
        let (name, until) = RightsStore.written(subject)
        let call = ScriptCall(
            script: scripts.revoke, keys: [keys.revoked, keys.revokedBefore],
            arguments: [
                name, RightsStore.decimal(until), RightsStore.decimal(limits.revocationSeconds),
                RightsStore.decimal(limits.revocationsMax),
            ])
        link.run(call, lane: nil) { [limits] result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    guard let fields = value.elements else { return .failure(RightsStore.nonsense) }
                    guard !fields.isEmpty else {
                        let text =
                            "\(limits.revocationsMax) revocations are remembered, and none is forgotten for another"
                        return .failure(Refusal(.conflict, text))
                    }
                    guard fields.count == 2, let until = fields[1].bytes.flatMap({ ASCII.decimal($0) }) else {
                        return .failure(RightsStore.nonsense)
                    }
                    if case .user(let user, _) = subject { return .success(.user(user, until: until)) }
                    return .success(subject)
                })
        }
    }

    /// Reads the changes after a position.
    func changes(
        after position: RightsPoll.Position, _ completion: @escaping (Result<RightsPage, RedisFailure>) -> Void
    ) {
        let call = ScriptCall(
            script: scripts.rightsChanges, keys: [keys.revoked, keys.revokedBefore, keys.removed],
            arguments: [position.revoked, position.removed, RightsStore.pageMax].map(RightsStore.decimal))
        link.run(call, lane: nil) { [limits] result in
            completion(result.map { RightsStore.page($0, after: position, keepSeconds: limits.revocationSeconds) })
        }
    }

    /// Asks which of the users are members of a topic, in one call.
    func areMembers(_ topic: Topic, _ users: [[UInt8]], _ completion: @escaping (Result<[Bool], RedisFailure>) -> Void)
    {
        var call = RedisCall("SMISMEMBER", keys.members(topic))
        for user in users { call.append(user) }
        link.call(call) { result in
            completion(result.map { ($0.elements ?? []).map { $0.integer != 0 } })
        }
    }

    // MARK: Forms

    private static func decimal(_ value: Int) -> [UInt8] {
        var text: [UInt8] = []
        text.append(decimal: value)
        return text
    }

    private static func written(_ subject: Revocation.Subject) -> (name: [UInt8], until: Int) {
        switch subject {
        case .user(let user, let until): (Array("u:".utf8) + user, until)
        case .token(let id): (Array("t:".utf8) + id, 0)
        }
    }

    /// Parses a page; entries not written by a gateway are skipped.
    private static func page(_ value: RESPValue, after: RightsPoll.Position, keepSeconds: Int) -> RightsPage {
        var page = RightsPage()
        page.position = after
        guard let fields = value.elements, fields.count == 3, let revoked = fields[1].elements,
            let removed = fields[2].elements
        else { return page }
        page.top = number(fields[0]) ?? 0
        for index in stride(from: 0, to: revoked.count - 2, by: 3) {
            guard let name = revoked[index].bytes, let place = number(revoked[index + 1]) else { continue }
            page.position.revoked = max(page.position.revoked, place)
            let forgetAt = place / 1_000 + keepSeconds
            if name.starts(with: "u:".utf8), let until = number(revoked[index + 2]) {
                page.revocations.append(Revocation(.user(Array(name.dropFirst(2)), until: until), forgetAt: forgetAt))
            } else if name.starts(with: "t:".utf8) {
                page.revocations.append(Revocation(.token(Array(name.dropFirst(2))), forgetAt: forgetAt))
            }
        }
        // The numbers restart where the clock or the data of Redis went back.
        if removed.count > 1, let first = number(removed[1]), first <= after.removed { page.position.removed = 0 }
        for index in stride(from: 0, to: removed.count - 1, by: 2) {
            guard let entry = removed[index].bytes, let place = number(removed[index + 1]) else { continue }
            page.position.removed = max(page.position.removed, place)
            let words = entry.split(separator: UInt8(ascii: " "), maxSplits: 1)
            guard words.count == 2, let topic = Topic(words[0]) else { continue }
            page.removals.append(RightsChange.Removal(topic: topic, user: Array(words[1])))
        }
        page.isFull = revoked.count >= 3 * pageMax || removed.count >= 2 * pageMax
        return page
    }

    private static func number(_ value: RESPValue) -> Int? { value.bytes.flatMap { ASCII.decimal($0) } }
}
