import Core

/// The check of address ranges among the settings, with faults in the operator's words.
enum AddressRange {
    /// Throws the expectation unless the text is a range of addresses.
    static func check(_ text: String) throws(ValueFault) {
        do throws(CIDR.Fault) {
            _ = try CIDR(text.utf8)
        } catch {
            throw ValueFault(expected: expected(error))
        }
    }

    private static func expected(_ fault: CIDR.Fault) -> String {
        switch fault {
        case .form: "an address range, e.g. 10.0.0.0/8 or 2001:db8::/32, or one address"
        case .prefix(let max): "a prefix length from 0 to \(max) after the slash"
        case .mappedPrefix: "a prefix length from 96 to 128 after a mapped IPv4 address"
        case .bitsBehindPrefix(let bits): "an address range whose bits after the first \(bits) are zero"
        }
    }
}
