import Configuration
import Service

extension Node {
    /// Looks at the memory, four times a second; tells admission, readiness and the log when it has changed.
    func lookAtMemory() {
        guard memory.look() else { return }
        admission.memoryIsShort(memory.isShort)
        health.memoryIsShort(memory.isShort)
        log.write(
            .warn, memory.isShort ? "memory is short, nobody new is let in" : "memory suffices again",
            [("residentBytes", "\(memory.residentBytes)"), ("boundBytes", "\(memory.boundBytes)")])
    }
}
