public import Connections
import Core
import Reactors
import Service

/// The rows of readiness that the process finds by looking at itself.
extension Health {
    /// Checks the memory, four times a second; reports a change to admission, readiness and the log.
    public func check(_ memory: MemoryWatch, _ admission: NodeAdmission) {
        guard memory.look() else { return }
        admission.memoryIsShort(memory.isShort)
        let figures = [("residentBytes", "\(memory.residentBytes)"), ("boundBytes", "\(memory.boundBytes)")]
        set(.memory, memory.isShort ? .red(figures: figures) : .fine(figures: figures))
    }

    /// Checks the loops of the shards; each wakes at least every half second, and a stuck one serves no client.
    public func checkLoops(_ shards: [ShardStatistics]) {
        let nowMs = Clock.monotonicMs()
        let ageMs = shards.map(\.loop.lastTickMs.value).filter { $0 > 0 }.map { nowMs - $0 }.max() ?? 0
        set(.loop, ageMs > Health.stuckMs ? .red(figures: [("lastTickMs", "\(ageMs)")]) : .fine())
    }

    private static let stuckMs = 2_000

    /// Compares the end of the certificate with the clock; it is late when fewer than `days` are left.
    ///
    /// An expired certificate is a warning as well. Every node has the same one, and red nodes would also lose the
    /// connections that are open already.
    public func check(_ certificate: TLSContext?, days: Int) {
        guard let certificate else { return }
        let leftSeconds = certificate.notAfter - Clock.wallMs() / 1_000
        let figures = [("ends", Timestamp.text(wallMs: certificate.notAfter * 1_000))]
        if leftSeconds <= 0 {
            let line = "the certificate has ended: clients refuse new connections"
            set(.certificate, .warned("ended", line: line, figures: figures))
        } else if leftSeconds < days * 86_400 {
            set(.certificate, .warned("soon", figures: figures))
        } else {
            set(.certificate, .fine(figures: figures))
        }
    }

    /// Checks the free file descriptors: without one, the next client may not be accepted.
    public func checkDescriptors(connectionsMax: Int) {
        guard let (open, limit) = Descriptors.count() else { return }
        descriptorsOpen.set(open)
        set(.descriptors, DescriptorRoom(open: open, limit: limit).state(connectionsMax: connectionsMax))
    }
}
