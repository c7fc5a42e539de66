/// The deliberate faults of a node, by which a test of the whole system can prove that it would notice them.
public enum TestFault: String, CaseIterable, Sendable {
    /// Nothing.
    case none
    /// Gaps are neither repaired nor reported: clients miss events without notice.
    case noRepair = "no-repair"
}
