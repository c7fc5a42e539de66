import Foundation
import SwitchboardClient

#if os(Linux)
    import SwitchboardClientLinux
#endif

/// A line that somebody said.
struct Line: Codable, Sendable {
    var from: String
    var text: String
}

/// A chat on the command line: who is there, what is said, and nothing lost while the network is away.
///
/// usage: swift run Chat ADDRESS TOKEN NAME [CERTIFICATE]
@main struct Chat {
    static let topic = "phoenix:lobby"
    let client: SwitchboardClient
    let name: String

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 3, let url = URL(string: arguments[1]) else {
            print("usage: Chat ADDRESS TOKEN NAME [CERTIFICATE]")
            return
        }
        #if os(Linux)
            let certificate = arguments.count > 4 ? arguments[4] : nil
            let client = SwitchboardClient(url: url, token: .fixed(arguments[2]), trusting: certificate)
        #else
            let client = SwitchboardClient(url: url, token: .fixed(arguments[2]))
        #endif
        try await Chat(client: client, name: arguments[3]).run()
    }

    func run() async throws {
        try client.track(Chat.topic, meta: ["name": name])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await hear() }
            group.addTask { try await seeOthers() }
            group.addTask { await watch() }
            group.addTask { try await speak() }
            // Whoever is done first ends the chat: the input, or a topic that was refused.
            try await group.next()
            group.cancelAll()
        }
        client.stop()
    }

    private func hear() async throws {
        for try await update in client.events(of: Chat.topic) {
            switch update {
            case .event(let event) where event.name == "line":
                if let line = try? event.decode(Line.self) { print("\(line.from): \(line.text)") }
            case .gap(let gap): print("-- \(gap.missed.map { "\($0) lines" } ?? "lines") are missing")
            default: break
            }
        }
    }

    private func seeOthers() async throws {
        for try await members in client.presence(of: Chat.topic) {
            print("-- here: \(members.compactMap { $0.meta["name"]?.string }.sorted().joined(separator: ", "))")
        }
    }

    private func watch() async {
        for await status in client.status {
            if status.phase == .waiting { print("-- away; \(status.pendingCalls) lines wait") }
        }
    }

    /// A line is kept until it is said, in the order of the input.
    private func speak() async throws {
        let lines = AsyncStream<String> { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
        for await text in lines where !text.isEmpty {
            do {
                try await client.publish("line", Line(from: name, text: text), to: Chat.topic, options: .kept())
            } catch {
                print("-- not said: \(error.message)")
            }
        }
    }
}
