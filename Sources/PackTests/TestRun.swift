import Core
public import Worker

/// Plays the cases of a pack's files, and tells the outcome of each on a line.
public struct TestRun {
    private let files: [TestFile]
    private let filter: String?

    /// The files, and the text that a case's name must contain to be played; `nil` plays all of them.
    public init(_ files: [TestFile], filter: String?) {
        self.files = files
        self.filter = filter
    }

    private func isWanted(_ testCase: TestCase) -> Bool {
        filter.map { testCase.name.lowercased().contains($0.lowercased()) } ?? true
    }

    /// The number of cases that would be played.
    public var count: Int { files.reduce(0) { $0 + $1.cases.count { isWanted($0) } } }

    /// Plays them; returns whether all of them succeeded.
    public func play(_ player: PackPlayer, print: (String) -> Void) -> Bool {
        var failed = 0
        for file in files {
            for testCase in file.cases where isWanted(testCase) {
                var run = CaseRun(testCase, of: file.path, player: player)
                let told = run.play()
                let place = PrintableText.clean(file.path) + ":\(testCase.line)"
                print((told.isEmpty ? "ok      " : "FAILED  ") + place + "  " + PrintableText.clean(testCase.name))
                for line in told + run.notes { print(line) }
                if !told.isEmpty { failed += 1 }
            }
        }
        let all = count == 1 ? "1 case" : "\(count) cases"
        print(failed == 0 ? "\(all): all passed" : "\(all): \(failed) failed")
        return failed == 0
    }
}
