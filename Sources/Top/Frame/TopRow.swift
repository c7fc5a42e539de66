/// A row of a list: a text for each column, and a number for each order.
struct TopRow: Equatable {
    /// Cleaned texts, in the order of the pane's columns.
    let texts: [String]
    /// The numbers by which it is sorted, in the order of the pane's orders.
    let numbers: [Double]
    /// Whether the row shows a trouble.
    var isWarning = false
}
