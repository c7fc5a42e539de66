/// The status of a booking.
enum DemoBookingStatus: String, CaseIterable, Sendable {
    case pending, confirmed
    case inProgress = "in-progress"
    case completed, cancelled
    case noShow = "no-show"

    /// Whether the booking still waits or is being served.
    var isOpen: Bool { self == .pending || self == .confirmed || self == .inProgress }
}
