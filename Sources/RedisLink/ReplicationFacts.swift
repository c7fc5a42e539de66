import Core

/// The facts of a server's replication: `INFO replication`.
///
/// A replication id names a history of writes, which one master at a time continues. A replica has the id of the master
/// that it follows. A promoted one begins a new id, and reports the old one as its second, with the offset up to which
/// it has it.
public struct ReplicationFacts: Equatable, Sendable {
    /// `master_replid`: 40 hexadecimal digits; empty when it was not reported.
    public let id: [UInt8]
    /// `master_replid2`; `nil` when it is all zeros, which proves nothing: a full synchronisation and time both clear
    /// it.
    public let secondID: [UInt8]?
    /// `second_repl_offset`: the first byte that does not belong to ``secondID``; `nil` when there is none.
    public let secondOffset: Int?
    /// `master_repl_offset`: the bytes of the history so far.
    ///
    /// It is 0 while the process has never been part of a replication, and never again afterwards.
    public let offset: Int
    /// `connected_slaves` of a master.
    public let connectedReplicas: Int
    /// Addresses of a master's replicas, as far as they announce them; at most 64.
    public let replicas: [SentinelGroup.Address]
    /// Whether this is a master.
    public let isMaster: Bool
    /// The master that a replica follows; `nil` for a master.
    public let leader: SentinelGroup.Address?
    /// `slave_read_only` of a replica; `true` for a master.
    public let isReadOnly: Bool

    /// Reads the text of `INFO replication`; `nil` without a role.
    public init?(info text: [UInt8]) {
        let fields = InfoFields(text)
        guard fields["role"] != nil else { return nil }
        self.init(fields)
    }

    init(_ fields: InfoFields) {
        func id(_ name: String) -> [UInt8]? {
            guard let value = fields[name], value.count == 40, value.allSatisfy({ ASCII.hexValue($0) != nil }),
                !value.allSatisfy({ $0 == UInt8(ascii: "0") })
            else { return nil }
            return Array(value)
        }
        func number(_ name: String) -> Int? { fields[name].flatMap { ASCII.decimal($0) } }
        self.id = id("master_replid") ?? []
        secondID = id("master_replid2")
        secondOffset = number("second_repl_offset")
        offset = number("master_repl_offset") ?? 0
        connectedReplicas = number("connected_slaves") ?? 0
        replicas = (0..<min(connectedReplicas, ReplicationFacts.replicasMax)).compactMap {
            fields["slave\($0)"].flatMap(ReplicationFacts.address)
        }
        isMaster = fields["role"]?.elementsEqual("master".utf8) == true
        isReadOnly = fields["slave_read_only"]?.elementsEqual("0".utf8) != true
        if let host = fields["master_host"], let port = number("master_port"), (1...65_535).contains(port),
            !host.isEmpty, host.count <= 253
        {
            leader = SentinelGroup.Address(host: String(decoding: host, as: UTF8.self), port: port)
        } else {
            leader = nil
        }
    }

    /// The most replicas that are read: more than any master has.
    private static let replicasMax = 64

    /// Reads `ip=10.0.0.22,port=6379,state=online,...`.
    private static func address(_ line: ArraySlice<UInt8>) -> SentinelGroup.Address? {
        func word(_ name: String) -> ArraySlice<UInt8>? {
            line.split(separator: UInt8(ascii: ",")).first { $0.starts(with: (name + "=").utf8) }?
                .dropFirst(name.utf8.count + 1)
        }
        guard let host = word("ip"), !host.isEmpty, host.count <= 253, host.allSatisfy(ClusterAddress.isHostByte),
            let port = word("port").flatMap({ ASCII.decimal($0) }), (1...65_535).contains(port)
        else { return nil }
        return SentinelGroup.Address(host: String(decoding: host, as: UTF8.self), port: port)
    }

    /// Whether this process has never had a replica and never been one.
    ///
    /// The first replica moves the offset on from 0, and nothing resets it. The second id alone would be forgotten
    /// after `repl-backlog-ttl`. A server that reports no id counts as one without replication.
    public var isUnused: Bool { id.isEmpty || (isMaster && offset == 0 && connectedReplicas == 0 && secondID == nil) }
}
