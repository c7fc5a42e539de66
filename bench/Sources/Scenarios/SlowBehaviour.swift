import Connections
import Reactors

/// Subscribers of which some stop reading for a time, or read slowly.
///
/// A client that does not read at all does not notice that it was closed; it reconnects when it reads again. Thread:
/// main.
final class SlowBehaviour: ReturningBehaviour {
    private var isSlow = false
    private var (beginUs, endUs) = (Int.max, Int.max)
    /// Bytes that each slow client may read, and since when they are counted.
    private lazy var allowance = Array(repeating: 0, count: crew.clients.count)
    private var lastUs = 0
    private lazy var slowIndices = crew.clients.indices.filter {
        SlowBehaviour.isSlow(crew.clients[$0].number, slow: crew.options.slow, of: crew.options.connections)
    }

    /// Seconds of its rate that a slow client may read at once.
    private static let burstSeconds = 1

    /// Whether the client of that number is slow; the slow ones are spread evenly: exactly `slow` of all.
    static func isSlow(_ number: Int, slow: Int, of all: Int) -> Bool { number * slow % all < slow }

    private func isSlow(_ client: LoadClient) -> Bool {
        SlowBehaviour.isSlow(client.number, slow: crew.options.slow, of: crew.options.connections)
    }

    private var bytesPerSecond: Int { crew.options.slowBytesPerSecond }

    override func begins(_ plan: LoadPlan) {
        super.begins(plan)
        beginUs = plan.measureUs + crew.options.calm * 1_000_000
        endUs = plan.endUs - crew.options.calm * 1_000_000
    }

    override func isTimed(_ client: LoadClient) -> Bool { !isSlow(client) }

    override func tick(_ nowUs: Int) {
        if nowUs >= beginUs {
            (beginUs, isSlow, lastUs) = (Int.max, true, nowUs)
            for index in slowIndices {
                crew.clients[index].connection?.limitReceiveBuffer(SlowBehaviour.bufferBytes)
                crew.clients[index].connection?.pauseReading()
            }
        }
        if nowUs >= endUs {
            (endUs, isSlow) = (Int.max, false)
            for index in slowIndices {
                // Small windows would now hold back a client that reads.
                crew.clients[index].connection?.limitReceiveBuffer(SlowBehaviour.usualBufferBytes)
                crew.clients[index].connection?.resumeReading()
                if crew.clients[index].stage == .away { members[index].dueUs = nowUs }
            }
        }
        if isSlow, bytesPerSecond > 0 { allow(nowUs) }
        super.tick(nowUs)
    }

    /// Bytes that the kernel may buffer for a slow client: few, so that the server notices.
    private static let bufferBytes = 16_384
    private static let usualBufferBytes = 1 << 20

    /// Lets slow clients read the bytes that their rate has allowed since the last call.
    private func allow(_ nowUs: Int) {
        let more = (nowUs - lastUs) * bytesPerSecond / 1_000_000
        guard more > 0 else { return }
        lastUs = nowUs
        for index in slowIndices {
            allowance[index] = min(allowance[index] + more, bytesPerSecond * SlowBehaviour.burstSeconds)
            if allowance[index] > 0 { crew.clients[index].connection?.resumeReading() }
        }
    }

    override func received(_ client: LoadClient, _ text: Span<UInt8>, nowUs: Int) {
        super.received(client, text, nowUs: nowUs)
        guard isSlow, isSlow(client) else { return }
        let index = index(client)
        allowance[index] -= text.count
        if allowance[index] <= 0 { client.connection?.pauseReading() }
    }

    override func ended(_ client: LoadClient) -> Bool {
        if members[index(client)].isLive, !isSlow(client) { figures.readersLost += 1 }
        return super.ended(client)
    }

    override func returnUs(_ client: LoadClient, afterMs pauseMs: Int) -> Int? {
        isSlow && bytesPerSecond == 0 && isSlow(client) ? nil : super.returnUs(client, afterMs: pauseMs)
    }
}
