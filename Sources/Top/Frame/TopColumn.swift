/// A column of a table.
struct TopColumn {
    /// Its name.
    let title: String
    /// The columns of the screen that it takes at least.
    let width: Int
    /// The order in which columns are left out on a narrow screen, the largest first; one of 0 stays.
    let rank: Int
    /// Whether it is a text: left-aligned, and wider where there is room.
    let isText: Bool

    /// A column of numbers, or of texts.
    init(_ title: String, _ width: Int, rank: Int, isText: Bool = false) {
        (self.title, self.width, self.rank, self.isText) = (title, width, rank, isText)
    }
}
