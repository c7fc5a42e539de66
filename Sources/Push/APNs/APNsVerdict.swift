import Core

/// The meaning of an answer from APNs.
public enum APNsVerdict: Sendable, Equatable {
    /// APNs has accepted the push.
    case sent
    /// The token is valid nowhere; devices registered up to then are deleted, milliseconds since 1970.
    case dead(untilMs: Int)
    /// The token belongs to the other environment, which is tried once.
    case misplaced
    /// Retry this device later, not before so many milliseconds where APNs states a time.
    case again(afterMs: Int?)
    /// APNs has a fault of its own: pause this user's pushes, at least so many milliseconds where APNs states a time.
    case away(afterMs: Int?)
    /// The provider token has ended: retry with a new one.
    case expired
    /// Nothing can be sent for that long, milliseconds; the operator has to check the settings when `isFault`.
    case closed(forMs: Int, isFault: Bool)
    /// APNs will never accept this push.
    case refused

    /// Milliseconds without pushes after a fault that only the operator can correct.
    static let faultMs = 300_000
    /// Milliseconds without pushes when provider tokens were renewed too often.
    static let tokensMs = 1_200_000
    /// Milliseconds without pushes to a device that received too many.
    static let crowdedMs = 60_000

    /// The verdict for a status, and for the `reason` and `timestamp` of the body.
    ///
    /// `registeredMs` is the time of the device's registration.
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
            // The app has registered the token again since, so its information is newer than that of APNs.
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
