/// Identifies a server among those of one Redis: the node id on a cluster, and empty for the only one elsewhere.
public typealias ServerID = [UInt8]
