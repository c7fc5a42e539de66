import Core
import HTTPCodec
import Reactors

/// The demo's phones, and a stand-in for APNs that pushes to them.
///
/// Only the courier of `switchboard dev` calls the stand-in, over HTTP/1.1 on this machine. Thread: any.
public final class DemoPhones: Sendable {
    private let book = Guarded(DemoPhoneBook())

    /// Maximum bytes of a push, as in APNs.
    static let pushBytesMax = 4_096
    /// The beginning of the paths that the stand-in answers.
    static let path = "/3/device/"
    private static let payloadLimits = JSON.Limits(depthMax: 16, elementsMax: 1_000)
    private static let collapseBytes = 1...64

    /// Phones that show nothing.
    public init() {}

    /// A refusal in the form of APNs.
    private struct Refused: Error {
        let status: Int
        let reason: StaticString

        init(_ status: Int, _ reason: StaticString) {
            self.status = status
            self.reason = reason
        }
    }

    /// Answers a push as APNs does: an empty body with 200, or a reason.
    func answer(to head: HTTPRequestHead, body: [UInt8]) -> HTTPResponse {
        do throws(Refused) {
            try take(head, body)
            return HTTPResponse(status: 200, body: [], keepAlive: false)
        } catch {
            return .json(status: error.status, body: Array("{\"reason\":\"\(error.reason)\"}".utf8), keepAlive: false)
        }
    }

    private func take(_ head: HTTPRequestHead, _ body: [UInt8]) throws(Refused) {
        guard head.method == .post else { throw Refused(405, "MethodNotAllowed") }
        guard head.path.starts(with: DemoPhones.path.utf8),
            let token = DemoPhoneBook.token(head.path.dropFirst(DemoPhones.path.utf8.count))
        else { throw Refused(400, "BadDeviceToken") }
        guard head.headers.values(of: "authorization").first?.starts(with: "bearer ".utf8) == true else {
            throw Refused(403, "MissingProviderToken")
        }
        guard !head.headers.values(of: "apns-topic").isEmpty else { throw Refused(400, "MissingTopic") }
        guard !body.isEmpty else { throw Refused(400, "PayloadEmpty") }
        guard body.count <= DemoPhones.pushBytesMax else { throw Refused(413, "PayloadTooLarge") }
        guard let id = head.headers.values(of: "apns-collapse-id").first,
            DemoPhones.collapseBytes.contains(id.count)
        else { throw Refused(400, "BadCollapseId") }
        guard let payload = try? JSON(parsing: body, limits: DemoPhones.payloadLimits),
            let notification = DemoPhoneBook.Notification(id: id, payload: payload.root, atMs: Clock.wallMs())
        else { throw Refused(400, "PayloadEmpty") }
        let badge = payload.root["aps"]?["badge"]?.int
        book.withLock { $0.show(notification, badge: badge, on: token) }
    }

    /// The display of a phone, as JSON.
    func text(of token: [UInt8]) -> [UInt8] { book.withLock { $0.text(of: token) } }

    /// Removes notifications and sets the badge, for the phone's app.
    func clear(_ ids: [[UInt8]], badge: Int?, order: Int?, on token: [UInt8]) {
        book.withLock { $0.clear(ids, badge: badge, order: order, on: token) }
    }
}
