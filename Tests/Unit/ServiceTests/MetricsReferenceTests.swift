import FoundationEssentials
import TestSupport
import Testing

@testable import Service

/// `docs/metrics.md` is made from the table of metrics; `GOLDEN=write` writes it anew.
@Suite struct MetricsReferenceTests {
    @Test func thePageIsMadeFromTheTable() throws {
        let page = MetricsReference.page
        let path = ProjectFiles.folder + "/docs/metrics.md"
        if ProcessInfo.processInfo.environment["GOLDEN"] == "write" {
            try page.write(toFile: path, atomically: true, encoding: .utf8)
        }
        let text = try ProjectFiles.text("docs/metrics.md")
        #expect(text == page, "GOLDEN=write swift test --filter MetricsReferenceTests writes it anew")
    }

    /// The families of which no value asks for anything; each other one says what to do.
    private static let quiet: Set<String> = [
        "process_virtual_memory_bytes", "switchboard_asks_kept_total", "switchboard_asks_shared_total",
        "switchboard_asks_total", "switchboard_channel_messages_total", "switchboard_connections_moved_total",
        "switchboard_deflated_total", "switchboard_encodings_total", "switchboard_inflated_total",
        "switchboard_pushes_held_total", "switchboard_reads_shared_total", "switchboard_writes_total",
    ]

    /// A quarter of the families left the last column empty.
    @Test func everyFamilySaysWhatToDoUnlessNoValueMeansTrouble() {
        let silent = MetricGroup.all.flatMap(\.families).filter { $0.mend.isEmpty }.map(\.name)
        #expect(Set(silent) == MetricsReferenceTests.quiet)
    }

    @Test func theTableIsSound() {
        let families = MetricGroup.all.flatMap(\.families)
        #expect(Set(families.map(\.name)).count == families.count)
        for family in families {
            #expect((family.kind == .counter) == family.name.hasSuffix("_total"), "\(family.name)")
            #expect(family.help.hasSuffix(".") && !family.help.contains("\n"), "\(family.name)")
            #expect(!(family.help + family.mend).contains("|"), "\(family.name)")
        }
        #expect(MetricFamily.named["switchboard_bytes_sent_total"]?.unit == "bytes")
        #expect(MetricFamily.named["switchboard_process_stall_milliseconds_total"]?.unit == "milliseconds")
        #expect(MetricFamily.named["switchboard_memory_short"]?.unit == "0 or 1")
        #expect(MetricFamily.named["switchboard_sessions"]?.unit == "count")
    }
}

/// The reference page.
private enum MetricsReference {
    static var page: String {
        var text = """
            # Metrics

            Every process of Switchboard shows its figures to Prometheus. This page lists all of them: look a name up to learn
            what it counts and what to do about it. [alerts.md](alerts.md) has the alerts that are made of them.

            ```
            curl http://127.0.0.1:9090/metrics     # a gateway's --ops
            ```

            - Names, labels and types stay the same within a major version.
            - A counter begins with 0 at the start of its process: ask for `rate(...)` or `increase(...)`, never for the number.
            - A family may be absent while its figure is not known, for example before Redis has answered.
            - An empty last column: the figure alone asks for nothing.

            The page is made from the table in `Sources/Service/Metrics`, from which processes write the descriptions of their metrics:
            `GOLDEN=write swift test --filter MetricsReferenceTests`.

            """
        for group in MetricGroup.all {
            let processes = group.processes.map(\.rawValue).joined(separator: ", ")
            text +=
                "\n## \(group.title)\n\nOf: \(processes).\n\n| metric | type | unit | meaning | what to do |\n|---|---|---|---|---|\n"
            for family in group.families {
                let labels = family.labels.isEmpty ? "" : "{" + family.labels.joined(separator: ",") + "}"
                text += "| `\(family.name)\(labels)` | \(family.kind.rawValue) | \(family.unit) | \(family.help)"
                text += " | \(family.mend)\(family.mend.isEmpty ? "" : " ")|\n"
            }
        }
        return text
    }
}
