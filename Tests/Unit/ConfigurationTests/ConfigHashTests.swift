import Configuration
import Core
import Testing

/// Nodes that should be configured alike can be compared by one short text.
@Suite struct ConfigHashTests {
    private static func hash(_ change: (inout GatewaySettings) -> Void) -> String {
        var settings = GatewaySettings()
        for number in 0..<20 {
            settings.namespaces["name\(number)"] = NamespacePolicy(
                subscribe: .anyone, publish: .user, logEventsMax: 10, logSeconds: 60, slow: .disconnect)
        }
        change(&settings)
        return settings.configHash
    }

    @Test func equalSettingsHaveOneHashInWhateverOrderTheyAreWritten() {
        let hash = Self.hash { $0.packs = ["a", "b"] }
        #expect(hash == Self.hash { $0.packs = ["b", "a"] } && hash.count == 16)
        #expect(
            hash
                == Self.hash { settings in
                    settings.packs = ["a", "b"]
                    settings.redis = "redis://10.0.0.5"
                    settings.shards = 7
                    settings.tlsKey = "/key.pem"
                })
    }

    @Test func everyRuleForClientsChangesIt() {
        let hash = Self.hash { _ in }
        let changed = [
            Self.hash { $0.limits.connectionsMax += 1 }, Self.hash { $0.namespaces["name3"] = nil },
            Self.hash { $0.namespaces["name3"]?.logSeconds += 1 }, Self.hash { $0.packs = ["a"] },
            Self.hash { $0.anonymous = false }, Self.hash { $0.redisPrefix = "x:" },
        ]
        #expect(!changed.contains(hash) && Set(changed).count == changed.count)
    }
}
