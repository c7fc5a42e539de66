import Calls
import Commands
import Core
import HTTPCodec
import HTTPSurface
import Operations
import Rights
import Service

/// `GET /demo/guest`: a guest for a window of the demo's page, and the code displayed in the shop.
///
/// Only where pages are served, which is `switchboard dev`. Thread: the shard's.
struct GuestRoute {
    let context: HTTPContext
    let commands: CommandService
    let guests: DemoGuests

    /// Guests are limited by one rate of the node, like a user's commands; the name cannot be a user's.
    private static let allowance = Array("/demo/guest".utf8)

    /// Answers the request.
    func answer(_ request: HTTPRequest, _ respond: @escaping Respond) {
        guard request.head.method == .get else { return respond(.methodNotAllowed([.get], keepAlive: true)) }
        if let waitMs = context.rates.waitForUserAction(GuestRoute.allowance, nowMs: context.clock.nowMs) {
            let refusal = Refusal(.rateLimited, "too many guests at once; try again", retryAfterMs: waitMs)
            return respond(.refusal(refusal, keepAlive: true))
        }
        let arguments = CommandService.Request(
            path: [TextArgument(name: "shopId", value: Array(DemoCast.shop.utf8))])
        commands.perform("check_in_code", arguments, caller: .service("demo")) { [context, guests] result in
            guard case .success(let answer) = result else { return respond(CommandRoute.response(result)) }
            guard let json = try? JSON(parsing: answer.json, limits: context.limits.answers),
                let code = json.root["code"]?.stringBytes,
                let guest = try? guests.make(nowSeconds: context.clock.wallSeconds)
            else { return respond(.refusal(Refusal(.internalError, "no guest can be made"), keepAlive: true)) }
            var response = HTTPResponse.json(status: 200, body: GuestRoute.body(guest, code: code), keepAlive: true)
            response.set(.cacheControl, "no-store")
            respond(response)
        }
    }

    private static func body(_ guest: DemoGuests.Guest, code: [UInt8]) -> [UInt8] {
        var body = [UInt8(ascii: "{")]
        body.append(member: "token", string: guest.token)
        body.append(member: "userId", string: guest.user)
        body.append(member: "shopId", string: DemoCast.shop)
        body.append(member: "challengeId", string: DemoCast.challenge)
        body.append(member: "code", string: code)
        body.append(UInt8(ascii: "}"))
        return body
    }
}
