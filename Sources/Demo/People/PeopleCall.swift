import Core

/// A command that one of the people sends, as an app would.
struct PeopleCall: Equatable, Sendable {
    /// The use of the answer.
    enum Purpose: Equatable, Sendable {
        /// None.
        case none
        /// The host learns in which session it is.
        case session
        /// The host has made a session; the number of codes that were taken before.
        case creation(attempt: Int)
        /// Whether a visitor has been greeted already.
        case greeting(visitor: String)
    }

    /// The index of the person.
    let person: Int
    let command: String
    /// The arguments: a JSON object.
    let arguments: [UInt8]
    var purpose = Purpose.none
}

/// The next action of the people.
enum PeopleAction: Equatable, Sendable {
    case call(PeopleCall)
    /// A person subscribes to a topic.
    case subscribe(person: Int, topic: String)
    /// Somebody presses the page's button, and an order is processed.
    case order(fails: Bool)
}

/// A JSON object as it is written, member by member.
struct Members {
    private var text = [UInt8(ascii: "{")]

    /// The whole text.
    var json: [UInt8] { text + [UInt8(ascii: "}")] }

    func with(_ name: StaticString, _ value: String) -> Members {
        var copy = self
        copy.text.append(member: name, string: value)
        return copy
    }

    /// Adds a member that is JSON already, such as a number.
    func with(_ name: StaticString, json value: String) -> Members {
        var copy = self
        copy.text.append(member: name, json: value.utf8)
        return copy
    }
}
