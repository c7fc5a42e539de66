import Commands
import Configuration
import Core
import PackTests
import Service
import Worker

/// `switchboard test`: plays the tests of a pack in a Redis of their own.
enum TestCommand {
    /// 0 when every case succeeded, 1 when one did not, 2 when nothing could be played.
    static func run(_ settings: TestSettings) -> Int32 {
        do {
            return try play(settings)
        } catch {
            Terminal.error(error.description)
            return 2
        }
    }

    private static func play(_ settings: TestSettings) throws(StartProblem) -> Int32 {
        let files = try paths(settings.directory).map { path throws(StartProblem) in
            TestFile(path: path, bytes: try StartFile.read(path, bytesMax: TestFile.bytesMax))
        }
        let problems = files.flatMap(\.problems)
        guard problems.isEmpty else { throw StartProblem(problems.map(\.description).joined(separator: "\n")) }
        let run = TestRun(files, filter: settings.filter)
        guard run.count > 0 else {
            guard let filter = settings.filter else {
                throw StartProblem("the tests of \(settings.directory) have no cases")
            }
            throw StartProblem("no case of \(settings.directory) has \(PrintableText.quoted(filter)) in its name")
        }
        let directory: String
        do {
            directory = try Files.makeTemporaryDirectory("switchboard-test")
        } catch {
            throw StartProblem("cannot make a temporary directory: \(error)")
        }
        defer { Files.removeDirectory(directory) }
        let redis = try PrivateRedis(program: settings.redisServer, in: directory, .lost)
        defer { redis.stop() }
        var worker = WorkerSettings()
        worker.redis = redis.url
        (worker.packs, worker.packNumbers) = (settings.packs, settings.packNumbers)
        worker.namespaces = settings.namespaces
        worker.scripts = settings.directory
        let log = try Log.make(.text, .error, linesMax: worker.limits.logLinesMax, path: "/dev/null")
        defer { log.close() }
        let player = try PackPlayer(worker, log: log)
        defer { player.stop() }
        // The links are made, so nothing is left behind whatever ends this process.
        Files.removeDirectory(directory)
        for mistake in player.catalogue.bodyMistakes { Terminal.error(mistake.description) }
        return run.play(player) { Terminal.print($0) } ? 0 : 1
    }

    /// The files of tests: `tests/*.json`, and `*.test.json` beside the scripts.
    private static func paths(_ directory: String) throws(StartProblem) -> [String] {
        func names(_ path: String) throws(StartProblem) -> [String] {
            do {
                return try Files.names(in: path, max: 1_000)
            } catch {
                throw StartProblem.file(path, error)
            }
        }
        var paths = try names(directory).filter { $0.hasSuffix(".test.json") }.map { directory + "/" + $0 }
        let folder = directory + "/tests"
        if Files.exists(folder + "/") {
            paths += try names(folder).filter { $0.hasSuffix(".json") }.map { folder + "/" + $0 }
        }
        guard !paths.isEmpty else {
            throw StartProblem(
                "\(directory) has no tests: write some into \(folder)/NAME.json (docs/scripts/testing.md)")
        }
        return paths
    }
}
