import Core

/// The events of one order that the demo's backend publishes, from the upload to the previews or to the failure.
///
/// It only decides; ``OrderRoute`` publishes. Pure.
struct DemoOrder {
    /// The end of an order.
    enum Outcome: String, CaseIterable {
        /// All photos are done.
        case ready
        /// One photo cannot be processed.
        case failed
    }

    /// One event, published `delayMs` after the one before it.
    struct Step: Equatable {
        let delayMs: Int
        let event: String
        /// The members of its payload, as JSON, without the order's id and the time.
        let members: String
    }

    /// The order's id; every guest may subscribe to this order and no other.
    static let id = "demo"
    /// Number of photos of an order.
    static let photos = 4

    /// The events in order.
    let steps: [Step]

    /// An order with that end.
    init(_ outcome: Outcome) {
        let count = DemoOrder.photos
        var steps = [
            Step(delayMs: 0, event: "upload_started", members: "\"status\":\"uploading\",\"file_count\":\(count)"),
            Step(delayMs: 900, event: "upload_completed", members: "\"status\":\"uploaded\",\"file_count\":\(count)"),
            Step(delayMs: 600, event: "processing_started", members: "\"status\":\"processing\""),
        ]
        for photo in 1...count {
            // The last but one fails, so that the app receives a finished photo after it.
            let isBad = outcome == .failed && photo == count - 1
            steps.append(
                Step(
                    delayMs: 700, event: "webhook_image_processed",
                    members:
                        "\"image_id\":\"photo-\(photo)\",\"error\":\(isBad),\"order_is_processing\":\(photo < count)"
                ))
        }
        switch outcome {
        case .ready:
            let urls = (1...count).map { "\"/preview.svg?photo=\($0)\"" }.joined(separator: ",")
            steps.append(
                Step(
                    delayMs: 500, event: "download_ready",
                    members: "\"status\":\"previews_ready\",\"storage_urls\":[\(urls)]"))
        case .failed:
            steps.append(
                Step(
                    delayMs: 500, event: "processing_failed",
                    members: "\"status\":\"failed\",\"error\":\"1 of \(count) photos could not be processed\""))
        }
        self.steps = steps
    }

    /// The payload of a step.
    static func payload(_ step: Step, wallMs: Int) -> [UInt8] {
        let text = "{\"order_id\":\"\(id)\",\(step.members),\"timestamp\":\"\(Timestamp.text(wallMs: wallMs))\"}"
        return Array(text.utf8)
    }
}
