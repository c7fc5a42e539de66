import Core
import Testing

@testable import Courier

/// What a courier makes Redis tell of logs on a cluster.
@Suite struct WebhookEarsTests {
    @Test(arguments: [("", "Kt"), ("K", "t"), ("Ex", "Kt"), ("AK", ""), ("AE", "K"), ("tK", ""), ("Kg$", "t")])
    func onlyWhatIsMissingIsAdded(_ flags: String, _ missing: String) {
        #expect(WebhookListener.missing(Array(flags.utf8)) == Array(missing.utf8))
    }
}
