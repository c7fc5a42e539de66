import Configuration
import Service

/// The secrets of services and receivers, which a running courier may read again.
///
/// Immutable.
struct CourierSecrets: Sendable {
    /// The secrets of services, by name; empty for a service that needs none.
    let services: [String: [UInt8]]
    /// The signers of receivers' webhooks, by name.
    let signers: [String: WebhookSigner]

    /// The most bytes of a file of secrets.
    private static let bytesMax = 4_096

    /// Reads every file.
    init(_ known: [ServiceSettings], _ receivers: [WebhookSettings]) throws(StartProblem) {
        var services: [String: [UInt8]] = [:]
        for service in known {
            services[service.name] = try service.secretFile.map { (path) throws(StartProblem) in
                try CourierSecrets.line(path)
            }
        }
        self.services = services
        var signers: [String: WebhookSigner] = [:]
        for hook in receivers {
            let text = try StartFile.read(hook.secretFile, bytesMax: CourierSecrets.bytesMax)
            do {
                signers[hook.name] = try WebhookSigner(file: text)
            } catch {
                throw StartProblem("\(hook.secretFile): \(error.reason)")
            }
        }
        self.signers = signers
    }

    /// One line without its line end.
    private static func line(_ path: String) throws(StartProblem) -> [UInt8] {
        var text = try StartFile.read(path, bytesMax: bytesMax)
        while let last = text.last, last == 0x0a || last == 0x0d { text.removeLast() }
        guard !text.isEmpty, text.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw StartProblem("\(path) does not hold one secret of printable characters")
        }
        return text
    }
}
