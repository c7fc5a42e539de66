/// What a node may be told to do wrong, so that a test of the whole can prove that it would see it.
public enum TestFault: String, CaseIterable, Sendable {
    /// Nothing.
    case none
    /// Holes are neither repaired nor told: what is missed is missed in silence.
    case noRepair = "no-repair"
}
