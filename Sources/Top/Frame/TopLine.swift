/// One line of the screen.
struct TopLine: Equatable {
    /// The purpose of a line; the screen decides how it looks.
    enum Style {
        /// Text.
        case plain
        /// The names of columns, or the keys.
        case heading
        /// A trouble that the operator should see.
        case warning
    }

    /// The text, cleaned and no wider than the screen.
    var text: String
    /// Its purpose.
    var style = Style.plain

    /// A line; spaces at the end of a plain one are left out.
    init(_ text: String, _ style: Style = .plain) {
        var text = text
        while style != .heading, text.last == " " { text.removeLast() }
        (self.text, self.style) = (text, style)
    }
}
