import Core

/// What an answer of APNs means.
public enum APNsVerdict: Sendable, Equatable {
    /// APNs has taken the push.
    case sent
    /// The token is good nowhere; devices registered up to then are forgotten, milliseconds since 1970.
    case dead(untilMs: Int)
    /// The token is not of this environment; the other one is tried once.
    case misplaced
    /// This device again later, not before so many milliseconds where APNs says when.
    case again(afterMs: Int?)
    /// APNs has troubles of its own: nothing of this user for now, at least so many milliseconds where APNs says how long.
    case away(afterMs: Int?)
    /// The provider token has ended: a new one, then again.
    case expired
    /// Nothing can be sent for that long, milliseconds; a person has to look at the settings when `isFault`.
    case closed(forMs: Int, isFault: Bool)
    /// APNs does not take this push, and never will.
    case refused

    /// How long nothing is sent after an answer that only the operator can mend.
    static let faultMs = 300_000
    /// How long nothing is sent when provider tokens were renewed too often.
    static let tokensMs = 1_200_000
    /// How long a device rests that was told too much.
    static let crowdedMs = 60_000

    /// The meaning of a status, and of the `reason` and `timestamp` of the body; `registeredMs` is when the device was
    /// registered.
    public static func of(
        status: Int, body: [UInt8], retryAfterSeconds: Int?, registeredMs: Int
    ) -> APNsVerdict {
        let json = try? JSON(parsing: body, limits: PushLimits.json)
        let reason = json?.root["reason"]?.string ?? ""
        let afterMs = retryAfterSeconds.map { min($0, 3_600) * 1_000 }
        switch status {
        case 200: return .sent
        case 400: return badRequest(reason)
        case 403: return reason == "ExpiredProviderToken" ? .expired : .closed(forMs: faultMs, isFault: true)
        case 410:
            let untilMs = json?.root["timestamp"]?.int ?? registeredMs
            // It has come back since: what APNs knows is older than what the app has said.
            return untilMs < registeredMs ? .again(afterMs: nil) : .dead(untilMs: untilMs)
        case 404, 405, 413: return .refused
        case 429 where reason == "TooManyProviderTokenUpdates": return .closed(forMs: tokensMs, isFault: true)
        case 429: return .again(afterMs: max(afterMs ?? 0, crowdedMs))
        default: return .away(afterMs: afterMs)
        }
    }

    private static func badRequest(_ reason: String) -> APNsVerdict {
        switch reason {
        case "BadDeviceToken": .misplaced
        // Not `DeviceTokenNotForTopic`: a user may register another app's token, and would end everybody's pushes.
        case "BadTopic", "MissingTopic", "TopicDisallowed":
            .closed(forMs: faultMs, isFault: true)
        case "IdleTimeout": .again(afterMs: nil)
        default: .refused
        }
    }
}
