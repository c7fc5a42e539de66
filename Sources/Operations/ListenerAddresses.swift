public import Configuration
import Core
import Glibc

/// The addresses of a gateway's listeners, with their actual ports.
public struct ListenerAddresses: Sendable {
    /// TLS.
    public var tls: HostPort?
    /// Plain, behind a proxy that terminates TLS.
    public var plain: HostPort?
    /// Operations.
    public var operations: HostPort?

    /// No listener.
    public init() {}

    /// One JSON object, as written to `--ready-file`.
    public var json: [UInt8] {
        var text: [UInt8] = []
        for (name, address) in [("tls", tls), ("plain", plain), ("ops", operations)] {
            guard let address else { continue }
            text.append(text: text.isEmpty ? "{" : ",")
            text.append(text: "\"\(name)\":[{\"host\":")
            text.append(jsonString: address.host)
            text.append(text: ",\"port\":\(address.port)}]")
        }
        text.append(text: ",\"pid\":\(getpid())}\n")
        return text
    }
}
