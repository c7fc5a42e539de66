import Configuration
import Core
import Reactors
import Service
import Transport

extension Node {
    /// Checks the memory, four times a second; reports a change to admission, readiness and the log.
    func lookAtMemory() {
        guard memory.look() else { return }
        admission.memoryIsShort(memory.isShort)
        let figures = [("residentBytes", "\(memory.residentBytes)"), ("boundBytes", "\(memory.boundBytes)")]
        health.set(.memory, memory.isShort ? .red(figures: figures) : .fine(figures: figures))
    }

    /// Checks the loops of the shards; each wakes at least every half second, and a stuck one serves no client.
    func lookAtLoops() {
        let nowMs = Clock.monotonicMs()
        let ageMs = shardStatistics.all.map(\.loop.lastTickMs.value).filter { $0 > 0 }.map { nowMs - $0 }.max() ?? 0
        health.set(.loop, ageMs > Node.stuckMs ? .red(figures: [("lastTickMs", "\(ageMs)")]) : .fine())
    }

    private static let stuckMs = 2_000

    /// Compares the end of the certificate with the clock.
    ///
    /// An expired certificate is a warning as well. Every node has the same one, and red nodes would also lose the
    /// connections that are open already.
    func lookAtCertificate() {
        guard let certificate = gate.certificate else { return }
        let leftSeconds = certificate.notAfter - Clock.wallMs() / 1_000
        let figures = [("ends", Timestamp.text(wallMs: certificate.notAfter * 1_000))]
        if leftSeconds <= 0 {
            let line = "the certificate has ended: clients refuse new connections"
            health.set(.certificate, .warned("ended", line: line, figures: figures))
        } else if leftSeconds < limits.certificateDays * 86_400 {
            health.set(.certificate, .warned("soon", figures: figures))
        } else {
            health.set(.certificate, .fine(figures: figures))
        }
    }
}
