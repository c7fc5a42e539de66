public import Foundation

/// Sentences for people, as `localizedDescription` and the system's alerts show them.
///
/// They are English. An app in another language chooses its own by `code`.
extension SwitchboardError: LocalizedError {
    /// The failure in a sentence for the person who uses the app.
    public var errorDescription: String? { sentences.failure }
    /// The cause; for an error of the gateway, the gateway's own text.
    public var failureReason: String? {
        if case .server = code { return message.isEmpty ? nil : message }
        return sentences.cause
    }
    /// Advice for the person who uses the app; `nil` where there is none.
    public var recoverySuggestion: String? { sentences.advice }

    private struct Sentences {
        var failure: String
        var cause: String?
        var advice: String?

        init(_ failure: String, _ cause: String? = nil, advice: String? = nil) {
            self.failure = failure
            self.cause = cause
            self.advice = advice
        }
    }

    private var sentences: Sentences {
        switch code {
        case .server(let name): serverSentences(name)
        case .timeout:
            Sentences(
                "The server did not answer in time.", "It may have done what you asked for.",
                advice: "Look at the result before you try again.")
        case .cancelled: Sentences("This was cancelled.", "It may have happened before it was cancelled.")
        case .stopped: Sentences("The connection was closed.", "The app closed it, or another user signed in.")
        case .offline:
            Sentences(
                "There is no connection.", "The app did not wait for one.", advice: "Try again when you are online.")
        case .expired:
            Sentences(
                "This was not done.", "There was no connection for too long.", advice: "Try again when you are online.")
        case .uncertain:
            Sentences(
                "It is not certain that this was done.", "The connection was lost before the server's answer.",
                advice: "Look at the result before you try again.")
        case .undecodable:
            Sentences(
                "The app does not understand the server.", "The data has another form than this version expects.",
                advice: "Install the latest version of the app.")
        case .unauthorized:
            Sentences("You are signed out.", "The server does not accept this sign-in.", advice: "Sign in again.")
        case .tooLarge:
            Sentences(
                "This cannot be sent.", "It is too long, or too much waits to be sent.",
                advice: "Make it shorter, or try again later.")
        case .storage:
            Sentences(
                "This could not be saved, and was not sent.", "The device could not write a file.",
                advice: "Free some space on the device, and try again.")
        }
    }

    private func serverSentences(_ name: String) -> Sentences {
        switch name {
        case "forbidden": Sentences("You are not allowed to do this.")
        case "not_found": Sentences("This does not exist.", advice: "Somebody may have removed it.")
        case "conflict": Sentences("This has changed meanwhile.", advice: "Look at it again, then repeat what you did.")
        case "rate_limited": Sentences("That was too much in a short time.", advice: "Wait a moment, and try again.")
        case "too_large": Sentences("This is too long.", advice: "Make it shorter.")
        case "unauthorized": Sentences("You are signed out.", advice: "Sign in again.")
        case "unavailable", "internal", "timeout":
            Sentences("The server cannot do this now.", advice: "Try again in a moment.")
        case "bad_request":
            Sentences("The server does not understand the app.", advice: "Install the latest version of the app.")
        // A script's refusal: its text says more than its code.
        default: Sentences(message.isEmpty ? "The server refused this." : message)
        }
    }
}

/// Sentences for people about a connection.
extension ConnectionStatus.Reason: LocalizedError {
    /// The reason in a sentence for the person who uses the app.
    public var errorDescription: String? {
        switch code {
        case .unauthorized, .forbidden: "The server does not accept this sign-in."
        case .unresolved, .unreachable, .lost, .noAnswer: "The server cannot be reached."
        case .unavailable, .closed: "The server is not available now."
        case .tokenSource: "Signing in did not work."
        case .untrusted, .notTLS, .tlsRequired, .wrongProtocol, .notWebSocket, .badAddress, .notFound:
            "The app cannot connect to its server."
        default: "There is no connection to the server."
        }
    }
    /// The description for a developer, with its code.
    public var failureReason: String? { description }
    /// Advice for the person who uses the app.
    public var recoverySuggestion: String? {
        switch code {
        case .unauthorized, .forbidden: "Sign in again."
        case .untrusted, .notWebSocket: "Use another network. Some networks ask you to sign in first."
        case .notTLS, .tlsRequired, .wrongProtocol, .badAddress, .notFound: "Install the latest version of the app."
        case .unresolved, .unreachable, .lost, .noAnswer: "Check that you are online. The app tries again by itself."
        default: "The app tries again by itself."
        }
    }
}
