import Core

/// The notifications that the demo's phones show while their apps are closed.
///
/// Pure. Bounded: at most ``phonesMax`` phones, of which the least recently used is dropped first, and on each the
/// newest ``shownMax`` notifications.
struct DemoPhoneBook: Sendable {
    /// A notification as it was pushed.
    struct Notification: Sendable, Equatable {
        /// The `apns-collapse-id`: a newer push with the same one replaces it.
        let id: [UInt8]
        /// Empty for a conversation without a title.
        let title: [UInt8]
        let body: [UInt8]
        /// The author of the message; empty for a notification.
        let sender: [UInt8]
        /// When it was pushed, milliseconds since 1970.
        let atMs: Int
        /// Whether it was pushed without sound, in quiet hours.
        let isSilent: Bool

        /// Reads the payload of a push; `nil` when it has no text to show.
        init?(id: [UInt8], payload: JSON.Value, atMs: Int) {
            guard let aps = payload["aps"], let body = aps["alert"]?["body"]?.stringBytes else { return nil }
            self.id = id
            self.body = body
            self.atMs = atMs
            title = aps["alert"]?["title"]?.stringBytes ?? []
            sender = payload["senderId"]?.stringBytes ?? []
            isSilent = aps["interruption-level"]?.string == "passive"
        }
    }

    private struct Phone: Sendable {
        var shown: [Notification] = []
        var badge = 0
        /// Order of the app's request that set the badge last.
        var order = Int.min
        var usedMs = 0
    }

    /// Phones at once; a developer has a few.
    static let phonesMax = 100
    /// Notifications that a phone shows.
    static let shownMax = 20
    /// Maximum of a badge.
    static let badgeMax = 1_000_000

    private var phones: [[UInt8]: Phone] = [:]

    /// A device token in the form for comparisons; `nil` unless it has 32 to 200 hexadecimal digits.
    static func token(_ text: some Collection<UInt8>) -> [UInt8]? {
        let token = text.map { ASCII.lowercased($0) }
        let isHexadecimal = token.allSatisfy { ASCII.isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0) }
        return (32...200).contains(token.count) && isHexadecimal ? token : nil
    }

    /// Shows a push on a phone.
    mutating func show(_ notification: Notification, badge: Int?, on token: [UInt8]) {
        var phone = phones[token] ?? Phone()
        phone.shown.removeAll { $0.id == notification.id }
        phone.shown.insert(notification, at: 0)
        if phone.shown.count > DemoPhoneBook.shownMax { phone.shown.removeLast() }
        if let badge { phone.badge = min(max(badge, 0), DemoPhoneBook.badgeMax) }
        phone.usedMs = notification.atMs
        phones[token] = phone
        guard phones.count > DemoPhoneBook.phonesMax,
            let oldest = phones.min(by: { $0.value.usedMs < $1.value.usedMs })
        else { return }
        phones[oldest.key] = nil
    }

    /// Removes notifications that the app has taken away, and sets the badge.
    ///
    /// When two requests overtook each other, the one with the greater order sets the badge; one without an order
    /// counts as newest.
    mutating func clear(_ ids: [[UInt8]], badge: Int?, order: Int?, on token: [UInt8]) {
        guard var phone = phones[token] else { return }
        phone.shown.removeAll { ids.contains($0.id) }
        if let badge, order ?? Int.max > phone.order {
            phone.badge = min(max(badge, 0), DemoPhoneBook.badgeMax)
            if let order { phone.order = order }
        }
        phones[token] = phone
    }

    /// The display of a phone, as JSON, newest first; empty for a phone without pushes.
    func text(of token: [UInt8]) -> [UInt8] {
        let phone = phones[token] ?? Phone()
        var text: [UInt8] = Array("{\"badge\":\(phone.badge),\"notifications\":".utf8)
        text.append(arrayOf: phone.shown) { text, shown in
            text.append(UInt8(ascii: "{"))
            text.append(member: "id", string: shown.id)
            text.append(member: "title", string: shown.title)
            text.append(member: "body", string: shown.body)
            text.append(member: "senderId", string: shown.sender)
            text.append(text: ",\"timestampMs\":\(shown.atMs),\"silent\":\(shown.isSilent)}")
        }
        return text + [UInt8(ascii: "}")]
    }
}
