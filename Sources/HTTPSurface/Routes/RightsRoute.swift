import Commands
import Core
import HTTPCodec
import Reactors
import Rights
import Service

/// `PUT` and `DELETE /v1/topics/{topic}/members/{user}`, and `POST /v1/revocations`: services grant and revoke access.
///
/// Every gateway applies a change within two seconds. Thread: the shard's.
struct RightsRoute {
    let context: HTTPContext
    let access: AccessPolicy
    let members: any MembershipWriter

    /// Seconds that the time of a revocation may lie ahead of this clock, since clocks differ.
    private static let aheadSecondsMax = 300
    /// Range of times in a token, Unix seconds.
    private static let times = 1...253_402_300_799

    /// Answers `PUT` and `DELETE` of a member.
    func changeMember(_ request: HTTPRequest, _ respond: @escaping Respond) {
        do throws(Refusal) {
            try setMember(request, respond)
        } catch {
            respond(.refusal(error, keepAlive: true))
        }
    }

    /// Answers `POST /v1/revocations`.
    func revoke(_ request: HTTPRequest, _ respond: @escaping Respond) {
        do throws(Refusal) {
            revoke(try subject(request.body), respond)
        } catch {
            respond(.refusal(error, keepAlive: true))
        }
    }

    // MARK: Members

    private func setMember(_ request: HTTPRequest, _ respond: @escaping Respond) throws(Refusal) {
        guard let topic = Topic(request.segments[2]) else {
            throw Refusal(.badRequest, "the topic must be namespace:id, e.g. conversation:7")
        }
        guard let policy = access.policy(of: topic) else {
            throw Refusal(.notFound, "there is no such namespace")
        }
        guard policy.subscribe == .granted || policy.publish == .granted else {
            throw Refusal(.conflict, "topics of this namespace have no members: its rule is not 'granted'")
        }
        let user = Array(request.segments[4].utf8)
        guard Identity.isUser(user) else {
            throw Refusal(.badRequest, "the user must be 1 to 128 of A-Z a-z 0-9 . _ ~ : -")
        }
        guard request.body.isEmpty else { throw Refusal(.badRequest, "this takes no body") }
        let isMember = request.head.method == .put
        members.setMember(topic, user: user, isMember: isMember) { [context] result in
            switch result {
            case .failure(let refusal): respond(BroadcastRoute.refused(refusal))
            case .success(.full):
                let text = "a topic may have \(context.limits.membersMax) members"
                respond(.refusal(Refusal(.tooLarge, text), keepAlive: true))
            case .success(let change):
                var body: [UInt8] = []
                body.append(text: "{\"topic\":\"\(topic)\",\"user\":")
                body.append(jsonString: user)
                body.append(text: ",\"member\":\(isMember),\"changed\":\(change == .changed)}")
                respond(.json(status: 200, body: body, keepAlive: true))
            }
        }
    }

    // MARK: Revocations

    private func subject(_ body: [UInt8]) throws(Refusal) -> Revocation.Subject {
        guard let json = try? JSON(parsing: body, limits: context.limits.json), json.root.kind == .object else {
            throw Refusal(.badRequest, "the body must be a JSON object with 'user' or 'tokenId'")
        }
        let known = ["user", "tokenId", "before"]
        guard json.root.members.allSatisfy({ known.contains($0.name) }) else {
            throw Refusal(.badRequest, "unknown member; a revocation has \(known.joined(separator: ", "))")
        }
        switch (json.root["user"], json.root["tokenId"]) {
        case (let user?, nil):
            guard let user = user.stringBytes, Identity.isUser(user) else {
                throw Refusal(.badRequest, "'user' must be a string of 1 to 128 of A-Z a-z 0-9 . _ ~ : -")
            }
            return .user(user, until: try until(json.root["before"]))
        case (nil, let id?):
            guard let id = id.stringBytes, Identity.isTokenID(id) else {
                throw Refusal(
                    .badRequest,
                    "'tokenId' must be a string of 1 to \(Identity.tokenIDBytesMax) visible ASCII characters")
            }
            guard json.root["before"] == nil else { throw Refusal(.badRequest, "'before' goes with 'user'") }
            return .token(id)
        default:
            throw Refusal(.badRequest, "give either 'user' or 'tokenId'")
        }
    }

    /// The time up to which issued tokens are refused: by default now, and at most slightly ahead, in Unix seconds.
    private func until(_ value: JSON.Value?) throws(Refusal) -> Int {
        let now = context.clock.wallSeconds
        guard let value else { return now }
        // 70.0 is an integer, too, by JSON Schema; arguments of commands follow the same rule.
        guard let before = value.double.flatMap({ Int(exactly: $0) }), RightsRoute.times.contains(before) else {
            throw Refusal(.badRequest, "'before' must be Unix seconds")
        }
        return min(before, now + RightsRoute.aheadSecondsMax)
    }

    private func revoke(_ subject: Revocation.Subject, _ respond: @escaping Respond) {
        members.revoke(subject) { result in
            switch result {
            case .failure(let refusal): respond(BroadcastRoute.refused(refusal))
            case .success(let subject):
                var body: [UInt8] = []
                switch subject {
                case .user(let user, let until):
                    body.append(text: "{\"user\":")
                    body.append(jsonString: user)
                    body.append(text: ",\"before\":\(until)}")
                case .token(let id):
                    body.append(text: "{\"tokenId\":")
                    body.append(jsonString: id)
                    body.append(text: "}")
                }
                respond(.json(status: 200, body: body, keepAlive: true))
            }
        }
    }
}
