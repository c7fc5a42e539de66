/// A key that was pressed.
enum TopKey: Equatable {
    /// A letter or sign.
    case character(Character)
    case up, down, pageUp, pageDown, home, end
}
