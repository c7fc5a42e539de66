import Core
import EventLogs
import HTTPCodec

/// The results of a batch, answered once when the last one has arrived, in the order of the items.
///
/// Thread: the shard's.
final class BroadcastBatch {
    private var results: [Result<(Topic, EventLog.PublishReceipt), Refusal>?]
    private var left: Int
    private let completion: (BroadcastBatch) -> Void

    /// Waits for `count` results, at least one.
    init(count: Int, completion: @escaping (BroadcastBatch) -> Void) {
        results = Array(repeating: nil, count: count)
        left = count
        self.completion = completion
    }

    /// Takes one item's result.
    func finish(_ index: Int, _ result: Result<(Topic, EventLog.PublishReceipt), Refusal>) {
        guard results[index] == nil else { return }
        results[index] = result
        left -= 1
        if left == 0 { completion(self) }
    }

    /// The refusal that every item shares because Redis is unavailable; the client may then repeat the whole request.
    private var sharedOutage: Refusal? {
        var outage: Refusal?
        for case .failure(let refusal)? in results where refusal.code == .unavailable { outage = refusal }
        let failed = results.count { result in
            if case .failure(let refusal)? = result { return refusal.code == .unavailable }
            return false
        }
        return failed == results.count ? outage : nil
    }

    /// 200 with one result or error per item; 503 when no item could be committed because Redis is unavailable.
    var response: HTTPResponse {
        if let outage = sharedOutage { return BroadcastRoute.refused(outage) }
        var body: [UInt8] = []
        body.append(text: "{\"results\":[")
        for (index, result) in results.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            switch result {
            case .success(let (topic, receipt))?:
                BroadcastBatch.append(receipt, topic, to: &body)
            case .failure(let refusal)?:
                body.append(text: "{\"error\":{\"code\":\"\(refusal.code.rawValue)\",\"message\":")
                body.append(jsonString: refusal.message)
                body.append(text: "}}")
            case nil:
                break
            }
        }
        body.append(text: "]}")
        return .json(status: 200, body: body, keepAlive: true)
    }

    /// 202 without a body when every item was committed; the first error otherwise (nothing is dropped in silence).
    var supabaseResponse: HTTPResponse {
        for case .failure(let refusal)? in results { return SupabaseAnswer.refused(refusal) }
        return HTTPResponse(status: 202, body: [], keepAlive: true)
    }

    /// The bytes of most receipts.
    static let receiptBytes = 128

    /// Appends the publisher's receipt of one message.
    static func append(_ receipt: EventLog.PublishReceipt, _ topic: Topic, to body: inout [UInt8]) {
        body.append(text: "{\"topic\":\"")
        body.append(contentsOf: topic.bytes)
        body.append(text: "\",\"epoch\":\"")
        body.append(contentsOf: receipt.position.epoch)
        body.append(text: "\",\"offset\":")
        body.append(decimal: receipt.position.offset)
        if receipt.isDuplicate { body.append(text: ",\"duplicate\":true") }
        body.append(text: "}")
    }
}
