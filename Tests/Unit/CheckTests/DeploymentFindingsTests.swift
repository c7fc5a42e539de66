import Configuration
import Core
import Testing

@testable import switchboard

/// The findings of `check` about flags and proxies that do not fit each other.
@Suite struct DeploymentFindingsTests {
    private func texts(_ change: (inout GatewaySettings) -> Void) -> String {
        var settings = GatewaySettings()
        settings.ops = HostPort(host: "127.0.0.1", port: 9_090)
        change(&settings)
        return Preflight.deployment(settings).map(\.description).joined(separator: "\n")
    }

    @Test func passThroughWithoutProxyProtocolIsToldOf() throws {
        let proxy = try CIDR("10.0.0.1/32".utf8)
        let listen = HostPort(host: "10.0.0.11", port: 8_443)
        let wrong = texts {
            $0.listen = listen
            $0.trustProxies = [proxy]
        }
        #expect(wrong.contains("--proxy-protocol tls"))
        let right = texts {
            $0.listen = listen
            $0.trustProxies = [proxy]
            $0.proxyProtocol = .tls
        }
        #expect(right.isEmpty)
        #expect(texts { $0.listen = listen }.isEmpty)
    }

    @Test func whatIsForCouriersIsNamedWithWhoChecksIt() {
        let told = texts { $0.outside = ["spotify", "kitchen"] }
        #expect(told.hasPrefix("ok: the file names spotify, kitchen for couriers"))
        #expect(told.contains("switchboard-courier --only-check"))
    }

    @Test func aPlainListenerNeedsItsProxyAndItsName() throws {
        let proxy = try CIDR("10.0.0.1/32".utf8)
        let plain = texts { $0.listenPlain = HostPort(host: "10.0.0.11", port: 8_080) }
        #expect(plain.contains("--trust-proxy") && plain.contains("--allow-origin"))
        let right = texts {
            $0.listenPlain = HostPort(host: "10.0.0.11", port: 8_080)
            $0.trustProxies = [proxy]
            $0.allowOrigins = ["https://gateway.example"]
        }
        #expect(right.isEmpty)
        #expect(!texts { $0.listenPlain = HostPort(host: "127.0.0.1", port: 8_080) }.contains("--trust-proxy"))
    }

    @Test func withoutOperationsListenerTheReachOfMetricsIsTold() {
        let text = texts {
            $0.listen = HostPort(host: "10.0.0.11", port: 8_443)
            $0.ops = nil
        }
        #expect(text.contains("/metrics"))
    }
}
