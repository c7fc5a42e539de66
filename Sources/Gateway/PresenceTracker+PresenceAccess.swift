import Presence

/// Presence as sessions use it.
extension PresenceTracker: PresenceAccess {}
