import Core
import Testing

@testable import Demo

@Suite struct DemoOrderTests {
    @Test func anOrderThatGoesWellTellsEveryPhotoAndItsPreviews() throws {
        let steps = DemoOrder(.ready).steps
        #expect(
            steps.map(\.event) == ["upload_started", "upload_completed", "processing_started"]
                + Array(repeating: "webhook_image_processed", count: DemoOrder.photos) + ["download_ready"])
        let last = try JSON(parsing: DemoOrder.payload(steps[steps.count - 1], wallMs: 0), limits: Limits().json).root
        #expect(last["storage_urls"]?.members.map(\.string).count == DemoOrder.photos)
        #expect(last["order_id"]?.string == "demo")
        #expect(last["timestamp"]?.string == "1970-01-01T00:00:00.000Z")
    }

    @Test func anOrderThatFailsTellsWhichPhotoAndWhy() throws {
        let payloads = try DemoOrder(.failed).steps.map {
            try JSON(parsing: DemoOrder.payload($0, wallMs: 0), limits: Limits().json).root
        }
        let bad = payloads.filter { $0["error"]?.bool == true }.compactMap { $0["image_id"]?.string }
        #expect(bad == ["photo-3"])
        #expect(payloads.compactMap { $0["order_is_processing"]?.bool } == [true, true, true, false])
        #expect(payloads[payloads.count - 1]["error"]?.string == "1 of 4 photos could not be processed")
    }

    @Test func everyEventOfAnOrderHasANameThatTopicsTake() {
        for outcome in DemoOrder.Outcome.allCases {
            #expect(DemoOrder(outcome).steps.allSatisfy { EventName($0.event) != nil })
        }
    }
}
