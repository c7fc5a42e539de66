import Core

/// The sentences of the simulated people.
enum PeopleWords {
    /// A person's name, as it is shown on the map.
    static func display(_ name: String) -> String {
        guard let first = name.utf8.first, first >= UInt8(ascii: "a"), first <= UInt8(ascii: "z") else { return name }
        return String(UnicodeScalar(first - 32)) + name.dropFirst()
    }

    /// The first words to a visitor.
    static func greeting(_ person: Int) -> String {
        person == 0
            ? "Hi, welcome! I am one of the demo's simulated people. Write something, and I will answer."
            : "Are you at the shop too? Dario has a free chair soon."
    }

    /// A message for whoever has closed the app.
    static func push(_ number: Int) -> String { pushes[number % pushes.count] }

    /// An answer to a visitor's words; `number` chooses among those that fit.
    static func answer(to words: String, _ number: Int) -> String {
        let small = words.utf8.map { ASCII.lowercased($0) }
        let isGreeting = greetings.contains { greeting in small.starts(with: greeting.utf8) }
        let fitting = isGreeting ? hellos : small.contains(UInt8(ascii: "?")) ? replies : remarks
        return fitting[number % fitting.count]
    }

    private static let greetings = ["hi", "hello", "hey", "good "]
    private static let hellos = ["Hello! Good to see you here.", "Hey! How is it going?", "Hi! Nice that you write."]
    private static let replies = [
        "Good question. I would ask Ines, she knows everything here.",
        "Yes, I think so. Ask me again after my haircut.",
        "Not today, but on Saturday for sure.", "About twenty minutes, says the board at the shop.",
    ]
    private static let remarks = [
        "Got it. I read it the moment you sent it.", "Ha, that is what Omar said as well.",
        "I like that. Have you voted for a track yet?", "Noted! See you on the map.",
        "Sounds good. The queue at the shop moves fast today.", "True. By the way, Hot Towel plays next.",
    ]
    private static let pushes = [
        "You are next: Dario is ready for you.", "Your track plays now. Listen!",
        "Are you still coming? We keep a chair.",
    ]
}
