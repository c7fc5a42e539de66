import Calls
import Commands
import Configuration
import Core
import Fleet
import HTTPCodec
import Operations
import Reactors
import Rights
import Service

/// `DELETE` and `GET /v1/users/{userId}/data`: erases or exports all data of a user.
///
/// The scripts declared with `@erases` and `@exports` know the user's data. Services may call this, and the user.
/// Thread: the shard's.
struct UserDataRoute {
    let context: HTTPContext
    let commands: CommandService
    let budgets: Budgets
    let fleet: FleetService

    /// Answers the request.
    func answer(_ request: HTTPRequest, _ respond: @escaping Respond) {
        do throws(Refusal) {
            let user = Array(request.segments[2].utf8)
            guard Identity.isUser(user) else {
                throw Refusal(.badRequest, "the user must be 1 to 128 of A-Z a-z 0-9 . _ ~ : -")
            }
            guard request.body.isEmpty else { throw Refusal(.badRequest, "this takes no body") }
            if request.head.method == .delete {
                try erase(user, request, respond)
            } else {
                try export(user, request, respond)
            }
        } catch {
            respond(.refusal(error, keepAlive: true))
        }
    }

    /// Charges the caller's budget for all the scripts at once.
    private func pay(_ scripts: [CommandDescriptor], _ request: HTTPRequest) throws(Refusal) {
        let nowMs = context.clock.nowMs
        if case .user(let identity) = request.caller, identity.role == .user,
            let waitMs = context.rates.waitForUserAction(identity.user, nowMs: nowMs)
        {
            throw Refusal(.rateLimited, "too many requests in a row", retryAfterMs: waitMs)
        }
        let payer = context.rates.payer(request.caller, at: request.origin.address)
        let weightUs = scripts.reduce(0) { $0 + $1.weightMicroseconds }
        if let refusal = budgets.pay(payer, us: weightUs, nowMs: nowMs) { throw refusal }
    }

    private func erase(_ user: [UInt8], _ request: HTTPRequest, _ respond: @escaping Respond) throws(Refusal) {
        let erasers = context.library.catalogue.erasers
        guard !erasers.isEmpty else { throw Refusal(.notFound, "no script of this gateway erases anything") }
        try pay(erasers, request)
        let keeps = context.library.keeps
        commands.queue(erasers, user: user, caller: request.caller) { refusal in
            if let refusal { return respond(BroadcastRoute.refused(refusal)) }
            forget(user)
            var body: [UInt8] = []
            body.append(text: "{\"userId\":")
            body.append(jsonString: user)
            body.append(text: ",\"queued\":\(erasers.count),\"keeps\":[")
            body += Array(keeps.map(\.json).joined(separator: [UInt8(ascii: ",")]))
            body.append(text: "]}")
            respond(.json(status: 202, body: body, keepAlive: true))
        }
    }

    /// Erases the user from the records of all gateways; one that does not answer forgets within the hour.
    private func forget(_ user: [UInt8]) {
        fleet.ask(FleetQuestion(.forget, [.user: user])) { [log = context.log] result in
            let fields: [(String, String)]
            switch result {
            case .success(let result) where result.unanswered.isEmpty: return
            case .success(let result):
                let nodes = result.reasons.map { "\(String(decoding: $0.node, as: UTF8.self)) (\($0.word))" }
                fields = [("nodes", nodes.joined(separator: ","))]
            case .failure(let refusal): fields = [("reason", refusal.message)]
            }
            log.write(.warn, "gateways may keep records of an erased user's sessions for up to an hour", fields)
        }
    }

    private func export(_ user: [UInt8], _ request: HTTPRequest, _ respond: @escaping Respond) throws(Refusal) {
        let exporters = context.library.catalogue.exporters
        guard !exporters.isEmpty else { throw Refusal(.notFound, "no script of this gateway exports anything") }
        try pay(exporters, request)
        export(user, exporters[...], [], respond)
    }

    /// Runs one script after the other, so that Redis serves other clients between two of them.
    private func export(
        _ user: [UInt8], _ rest: ArraySlice<CommandDescriptor>, _ written: [UInt8], _ respond: @escaping Respond
    ) {
        guard let next = rest.first else {
            let body = [UInt8(ascii: "{")] + written + [UInt8(ascii: "}")]
            return respond(.json(status: 200, body: body, keepAlive: true))
        }
        commands.run(next, user: user) { result in
            switch result {
            case .failure: respond(CommandRoute.response(result))
            case .success(let answer):
                var written = written
                if !written.isEmpty { written.append(UInt8(ascii: ",")) }
                written.append(jsonString: Array(next.exportName.utf8))
                written.append(UInt8(ascii: ":"))
                export(user, rest.dropFirst(), written + answer.json, respond)
            }
        }
    }
}
