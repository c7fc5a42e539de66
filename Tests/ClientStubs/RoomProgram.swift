import Foundation
import Observation
import SwitchboardClient
import SwitchboardClientLinux

/// Shows the content of Examples/Shop on the command line, whenever it has changed.
///
/// usage: Room ADDRESS TOKEN SHOP CERTIFICATE
@main @MainActor struct RoomProgram {
    let room: TopicModel<Room>

    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count > 4, let url = URL(string: arguments[1]) else { return }
        let client = SwitchboardClient(url: url, token: .fixed(arguments[2]), trusting: arguments[4])
        let program = RoomProgram(room: TopicModel(client, "dj:\(arguments[3])"))
        program.show()
        await program.room.run()
    }

    /// Prints the room, and again after its next change.
    private func show() {
        withObservationTracking {
            let queue = room.content.queue.map { "\($0.id):\($0.score)" }.joined(separator: " ")
            let phase = room.isLive ? "live" : "away"
            print("room", phase, room.content.isActive ? "on" : "off", queue, room.undecodable?.message ?? "")
        } onChange: {
            Task { @MainActor in show() }
        }
    }
}
