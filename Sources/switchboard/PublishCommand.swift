import Configuration
import Connections
import Core
import Gateway
import Service

/// `switchboard publish`: one `POST /v1/broadcast`, and the answer printed.
enum PublishCommand {
    /// 0 when Redis has committed the event, 1 otherwise.
    static func run(_ settings: PublishSettings) throws(StartProblem) -> Int32 {
        let url = try GatewayURL(settings.gateway)
        let key = try StartFile.read(settings.apiKeyFile, bytesMax: 65_536)
        let request = try head(url, key: key, body: body(settings))
        var answer: [UInt8] = []
        let exchange = try ClientExchange(
            url, limits: Limits(),
            onOpen: { connection in _ = connection.send(request) },
            onBytes: { answer += $0.prefix(max(0, 1 << 20 - answer.count)) })
        exchange.run(connectMs: 5_000)
        if let failure = exchange.failure { throw StartProblem(failure) }
        return print(answer)
    }

    private static func body(_ settings: PublishSettings) -> [UInt8] {
        var body: [UInt8] = []
        body.append(text: "{\"topic\":\"\(settings.topic)\",\"event\":\"\(settings.event)\",\"data\":")
        body.append(contentsOf: settings.json)
        if let id = settings.id { body.append(member: "id", string: id.bytes) }
        body.append(text: "}")
        return body
    }

    private static func head(_ url: GatewayURL, key: [UInt8], body: [UInt8]) throws(StartProblem) -> [UInt8] {
        let key = key.filter { $0 != 0x0a && $0 != 0x0d }
        guard !key.isEmpty, key.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw StartProblem("the API key file must hold one line: the bare key")
        }
        var request: [UInt8] = []
        request.append(text: "POST /v1/broadcast HTTP/1.1\r\nHost: \(url.authority)\r\nConnection: close\r\n")
        request.append(text: "Content-Type: application/json\r\napikey: ")
        request.append(contentsOf: key)
        request.append(text: "\r\nContent-Length: \(body.count)\r\n\r\n")
        return request + body
    }

    /// Prints the body of the answer; its status decides the exit code.
    private static func print(_ answer: [UInt8]) -> Int32 {
        let blank = Array("\r\n\r\n".utf8)
        guard answer.starts(with: "HTTP/1.1 ".utf8), answer.count > 12,
            let end = answer.indices.first(where: { answer[$0...].starts(with: blank) })
        else {
            Terminal.error("the gateway gave no answer")
            return 1
        }
        let text = String(decoding: answer[(end + 4)...], as: UTF8.self)
        guard answer[9] == UInt8(ascii: "2") else {
            Terminal.error(text)
            return 1
        }
        Terminal.print(text)
        return 0
    }
}
