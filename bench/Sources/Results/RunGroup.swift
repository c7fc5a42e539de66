/// Comparable runs: the same scenario under the same load, one merged run for each target.
struct RunGroup {
    let scenario: String
    /// The load, by flag.
    let load: [String: String]
    /// The floors first, then in the order they were run.
    let runs: [BenchResult]

    /// The reference for the others.
    ///
    /// A unicast message is mostly its way through Redis, so its reference is the floor that takes this way, too.
    var floor: BenchResult? {
        let floors = runs.filter { $0.kind == "floor" }
        return floors.first { ($0.name == RunGroup.floorWithRedis) == (scenario == "unicast") } ?? floors.first
    }

    private static let floorWithRedis = "floor/redis"

    /// `1,000 connections · 20/s · 200 bytes · 10 s`: the well-known settings, then the rest by flag.
    var title: String {
        var left = load
        var parts: [String] = []
        for (flag, before, after) in RunGroup.words {
            guard let value = left.removeValue(forKey: flag) else { continue }
            parts.append(before + (Int(value).map(Figure.whole) ?? value) + after)
        }
        parts += left.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return ResultTable.plain(parts.joined(separator: " · "), limit: 200)
    }

    private static let words = [
        ("connections", "", " connections"), ("rate", "", "/s"), ("topics", "", " topics"), ("bytes", "", " bytes"),
        ("seconds", "", " s"), ("publish", "published by ", ""),
    ]

    /// Groups runs, in the order of each group's first; those of the same target, version and commit are merged.
    static func groups(_ runs: [BenchResult]) -> [RunGroup] {
        var places: [[String]: Int] = [:]
        var groups: [[[BenchResult]]] = []
        var members: [[[String]: Int]] = []
        for run in runs {
            let key = [run.scenario] + run.load.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
            let place = places[key] ?? groups.count
            if place == groups.count {
                places[key] = place
                groups.append([])
                members.append([:])
            }
            let machine = run.machine.map { [$0.processor, "\($0.cores)", $0.kernel] } ?? []
            let member = [run.target, run.name, run.targetVersion, run.commit ?? ""] + machine
            let slot = members[place][member] ?? groups[place].count
            if slot == groups[place].count {
                members[place][member] = slot
                groups[place].append([])
            }
            groups[place][slot].append(run)
        }
        return groups.compactMap { group in
            let merged = group.compactMap(BenchResult.merged)
            guard let first = merged.first else { return nil }
            let ordered = merged.filter { $0.kind == "floor" } + merged.filter { $0.kind != "floor" }
            return RunGroup(scenario: first.scenario, load: first.load, runs: ordered)
        }
    }
}
