/// The stage of a client's connection.
enum ClientStage {
    /// Not connected, for now or for good.
    case away
    case connecting
    case upgrading
    case subscribing
    /// Everything it subscribed to was answered.
    case live
}
