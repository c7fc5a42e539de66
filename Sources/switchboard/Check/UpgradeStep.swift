import Core
import Operations
import RedisLink

/// A change that an existing deployment needs: files made for an earlier version do not change by themselves.
///
/// `switchboard check --upgrade` prints those that are due. A step that a new version needs is one more entry of
/// ``all``. Pure.
struct UpgradeStep: Sendable {
    /// The known facts of the deployment.
    struct Facts: Sendable {
        /// The data servers and their answers.
        var servers: [ServerRights]
        /// The user as which gateways log in at Redis.
        var user: String
        /// The live processes.
        var others: [NodeEntry] = []
    }

    /// The fault and its effect: one or two sentences.
    let words: String
    /// Data servers on which the step is due; empty when it is not due.
    let places: @Sendable (Facts) -> [String]
    /// The commands that an operator enters there, as `redis-cli` expects them and quoted for a shell.
    let commands: @Sendable (Facts) -> [String]

    /// Every step, in the order in which they are taken.
    static let all: [UpgradeStep] = [
        UpgradeStep(
            words:
                "Redis loads its append-only file as the user `default`, and leaves out each transaction that this user may"
                + " not run. A restart would lose what scripts wrote. `off resetpass` closes this user: a program that logs in"
                + " as `default` needs a user of its own first.",
            places: { facts in
                facts.servers.filter { if case .missing = $0.load { true } else { false } }.map(\.place)
            },
            commands: { facts in
                let rules = LoadRights.rules(for: facts.user).split(separator: " ").map(String.init)
                return ["ACL SETUSER " + rules.map(UpgradeStep.quoted).joined(separator: " "), "ACL SAVE"]
            }),
        UpgradeStep(
            words: "Gateways and `check` ask whether Redis could load its file, and their user may not ask.",
            places: { facts in
                facts.servers.filter {
                    if case .unknown(let failure) = $0.load { failure.kind == .noPermission } else { false }
                }.map(\.place)
            },
            commands: { facts in
                [
                    "ACL SETUSER \(UpgradeStep.quoted(facts.user)) \(UpgradeStep.quoted(LoadRights.askingRule))",
                    "ACL SAVE",
                ]
            }),
    ]

    /// The output of `check --upgrade` where no Redis could be asked.
    static let unknown = ["upgrade: not known until the errors above are mended; then run this command again"]

    /// The output of `check --upgrade`, line by line: what is changed before a process is replaced comes first.
    static func report(_ facts: Facts) -> [String] {
        let due = all.filter { !$0.places(facts).isEmpty }
        let moves = VersionMove(facts.others).steps
        let count = due.count + moves.count
        guard count > 0 else { return ["upgrade: nothing is to be changed"] }
        return lines(due, of: count, facts)
            + moves.enumerated().map { "upgrade, step \(due.count + $0 + 1) of \(count): \($1)" }
            + ["Then run this command again."]
    }

    /// The steps for the servers, with their commands.
    private static func lines(_ due: [UpgradeStep], of count: Int, _ facts: Facts) -> [String] {
        guard !due.isEmpty else { return [] }
        var lines: [String] = []
        for (index, step) in due.enumerated() {
            lines.append("upgrade, step \(index + 1) of \(count): \(step.words)")
            for place in step.places(facts) {
                let client = "redis-cli " + UpgradeStep.address(place) + " --user operator --askpass "
                lines += step.commands(facts).map { "  " + client + $0 }
            }
        }
        return lines + [
            "Type these as a user that may administer Redis. Where Redis cannot write its ACL file, as in a container, ACL SAVE"
                + " is refused: change the lines of these users in the file, too."
        ]
    }

    /// The flags of `redis-cli` for a server.
    private static func address(_ place: String) -> String {
        guard !place.hasPrefix("/"), let colon = place.lastIndex(of: ":") else { return "-s " + quoted(place) }
        let host = place[..<colon].filter { $0 != "[" && $0 != "]" }
        return "-h \(host) -p \(place[place.index(after: colon)...])"
    }

    /// A word quoted for a shell.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            ASCII.isLetter(byte) || ASCII.isDigit(byte) || "+@-_./:".utf8.contains(byte)
        }
        let parts = word.split(separator: "'", omittingEmptySubsequences: false)
        return isPlain ? word : "'" + parts.joined(separator: "'\\''") + "'"
    }
}
