/// The size of a terminal.
struct TopSize: Equatable {
    /// Characters in a line.
    let columns: Int
    /// Lines.
    let rows: Int

    /// The size of a terminal that does not say its own.
    static let usual = TopSize(columns: 80, rows: 24)
}
