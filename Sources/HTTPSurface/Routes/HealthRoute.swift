import Core
import HTTPCodec
import Operations
import Reactors
import Rights

/// `GET /v1/health`: every row of readiness with its figures, for services.
///
/// Thread: the shard's.
struct HealthRoute {
    let health: Health
    let figures: NodeFigures
    let nodeName: String

    /// Answers the request.
    func answer(_ respond: Respond) {
        health.checkLoops(figures.shards.all)
        let uptimeSeconds = (Clock.monotonicMs() - figures.startedMs) / 1_000
        var body = Array("{\"status\":\"\(health.status)\",\"node\":".utf8)
        body.append(jsonString: nodeName)
        body.append(text: ",\"version\":")
        body.append(jsonString: ProductVersion.text)
        body.append(text: ",\"uptimeSeconds\":\(uptimeSeconds),\"rows\":[")
        for (index, entry) in health.rows.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            HealthRoute.append(entry, to: &body)
        }
        body.append(text: "]}")
        respond(.json(status: 200, body: body, keepAlive: true))
    }

    private static func append(_ entry: ReadinessTable.Entry, to body: inout [UInt8]) {
        body.append(text: "{\"name\":\"\(entry.row.rawValue)\",\"state\":\"\(entry.state.severity.label)\",\"since\":")
        if let sinceMs = entry.sinceMs {
            body.append(jsonString: Timestamp.text(wallMs: sinceMs))
        } else {
            body.append(text: "null")
        }
        body.append(text: ",\"reason\":")
        body.append(jsonString: entry.state.cause)
        body.append(text: ",\"figures\":{")
        for (index, figure) in entry.state.figures.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body.append(jsonString: figure.name)
            body.append(UInt8(ascii: ":"))
            body.append(jsonString: figure.value)
        }
        body.append(text: "},\"mend\":")
        body.append(jsonString: entry.mend)
        body.append(text: "}")
    }
}
