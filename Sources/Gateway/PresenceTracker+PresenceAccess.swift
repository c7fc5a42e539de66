import Presence
public import Sessions

/// Presence as sessions use it.
extension PresenceTracker: PresenceAccess {}
