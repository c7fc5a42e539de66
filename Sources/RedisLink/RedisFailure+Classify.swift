extension RedisFailure {
    /// The kind of an error line: its first word, an upper-case code by Redis's convention, decides.
    ///
    /// Redis appends `script: <sha>, on @user_script:<line>.` to an error that left a script. Even then a known code
    /// decides the kind, since it says more than its place.
    static func classify(_ line: [UInt8]) -> Kind {
        let word = line.prefix(codeBytesMax + 1).prefix { $0 != UInt8(ascii: " ") }
        if let kind = codes[Array(word)] { return kind }
        if word.starts(with: scriptCode) || contains(line, scriptMark) { return .script }
        if line.starts(with: maxClientsLine) { return .maxClients }
        return .other
    }

    private static let codeBytesMax = 16
    private static let scriptCode = Array("SWB_".utf8)
    private static let scriptMark = Array("user_script:".utf8)
    private static let maxClientsLine = Array("ERR max number of clients".utf8)

    private static let codes: [[UInt8]: Kind] = [
        Array("READONLY".utf8): .readOnly,
        Array("LOADING".utf8): .loading,
        Array("MASTERDOWN".utf8): .masterDown,
        Array("BUSY".utf8): .busy,
        Array("NOREPLICAS".utf8): .noReplicas,
        Array("MISCONF".utf8): .misconfigured,
        Array("OOM".utf8): .outOfMemory,
        Array("NOAUTH".utf8): .noAuthentication,
        Array("WRONGPASS".utf8): .wrongPassword,
        Array("NOPERM".utf8): .noPermission,
        Array("NOSCRIPT".utf8): .noScript,
        Array("WRONGTYPE".utf8): .wrongType,
        Array("CLUSTERDOWN".utf8): .clusterDown,
        Array("MOVED".utf8): .moved,
        Array("ASK".utf8): .moved,
        Array("TRYAGAIN".utf8): .tryAgain,
        Array("CROSSSLOT".utf8): .crossSlot,
        Array("EXECABORT".utf8): .aborted,
        Array("UNBLOCKED".utf8): .unblocked,
    ]

    /// Whether a line contains a mark; error lines are bounded by ``RESPLimits``.
    private static func contains(_ line: [UInt8], _ mark: [UInt8]) -> Bool {
        guard let first = mark.first, line.count >= mark.count else { return false }
        for start in 0...(line.count - mark.count)
        where line[start] == first && line[start...].starts(with: mark) {
            return true
        }
        return false
    }
}
