public import Configuration

/// The gateway's files that other users should not be able to read.
public enum SecretFiles {
    /// The files that every user of this machine can read, each once.
    public static func exposed(_ settings: GatewaySettings) -> [String] {
        var paths = [settings.tlsKey, settings.tlsTicketKeyFile, settings.apiKeys, settings.fileWithPassword]
            .compactMap(\.self)
        paths += settings.jwtSecretFiles.map(\.path) + settings.mintSecretFiles
        var seen: Set<String> = []
        return paths.filter { seen.insert($0).inserted && Files.isReadableByEverybody($0) }
    }

    /// Logs their names.
    public static func warn(_ settings: GatewaySettings, _ log: Log) {
        for path in exposed(settings) {
            log.write(
                .warn, "every user of this machine can read a secret", [("file", path), ("mend", "chmod o= \(path)")])
        }
    }
}
