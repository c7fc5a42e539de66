/// The close codes that are allowed in a close frame (RFC 6455 section 7.4 and IANA's registry).
public enum WebSocketCloseCode {
    /// Whether a code may be sent and received.
    ///
    /// 1004 is reserved; 1005, 1006 and 1015 describe closes without a frame; 1016...2999 are not assigned; beyond
    /// 4999 nothing is defined.
    public static func isAllowed(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
