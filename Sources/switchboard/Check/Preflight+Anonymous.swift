import Commands
import Configuration
import HTTPCodec
import Rights

extension Preflight {
    /// Lists the routes and commands open to callers without a token, so that nothing is open by mistake.
    static func anonymous(_ settings: GatewaySettings, _ access: AccessPolicy, _ catalogue: Catalogue) -> [Finding] {
        let rights = CallRights(access, allowsAnonymous: settings.anonymous)
        let routes = GatewayRoutes.all.filter { route in
            rights.reaches(route, .anonymous) && route.name != .command
                && (settings.ops == nil || !route.isOfOperations)
        }
        let asks = list(routes.map { "\($0.method.rawValue) \($0.path)" })
        guard settings.anonymous else {
            return [Finding(.good, "without a token nobody is taken (--anonymous=false), but for: \(asks)")]
        }
        let commands = catalogue.commands.filter { rights.reaches($0, .anonymous) }.map { command in
            let routes = command.routes.map(\.description).joined(separator: ", ")
            return command.name + (routes.isEmpty ? "" : " (\(routes))")
        }
        return [
            Finding(.good, "without a token anyone reads and subscribes to topics of: \(list(access.openNamespaces))"),
            Finding(.good, "without a token anyone publishes on topics of: \(list(access.openForPublishing))"),
            Finding(.good, "without a token anyone calls: \(list(commands))"),
            Finding(.good, "without a token anyone asks: \(asks)"),
        ]
    }

    private static func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }
}
