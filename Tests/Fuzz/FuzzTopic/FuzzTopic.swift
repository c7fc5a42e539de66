import Core

/// Compares the grammars of topics, positions, event names, message ids and numbers with naive checkers, and reads addresses.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    checkTopic(bytes)
    precondition(Position.isEpoch(bytes) == naive(bytes, 1...32, "_-"))
    precondition((EventName(bytes) != nil) == naive(bytes, 1...64, "._:/-"))
    precondition((MessageID(bytes) != nil) == (naive(bytes, 1...128, "._~:-") && bytes != Array("-".utf8)))
    checkNumbers(bytes)
    checkAddresses(bytes)
    return 0
}

private let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/// Whether the bytes are so many letters, digits and signs.
private func naive(_ bytes: some Collection<UInt8>, _ counts: ClosedRange<Int>, _ signs: String) -> Bool {
    counts.contains(bytes.count) && Set(bytes).isSubset(of: Set((letters + signs).utf8))
}

private func checkTopic(_ bytes: [UInt8]) {
    let parts = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    var expected = false
    if parts.count == 2 {
        let namespace = parts[0]
        let lower = Set("abcdefghijklmnopqrstuvwxyz0123456789-".utf8)
        expected =
            naive(parts[1], 1...200, "._~:-") && (1...32).contains(namespace.count)
            && Set(namespace).isSubset(of: lower) && !"0123456789-".utf8.contains(namespace[namespace.startIndex])
    }
    let topic = Topic(bytes)
    precondition((topic != nil) == expected)
    guard let topic else { return }
    precondition(topic.bytes == bytes && topic.namespace == parts[0] && topic.id == parts[1])
    precondition(Topic(namespace: topic.namespace, id: topic.id) == topic)
    precondition(Topic(topic.description)?.hashValue == topic.hashValue)
    precondition(Keys(prefix: bytes).topic(ofChannel: bytes + bytes) == topic)
}

/// A number is what the standard library reads and writes back the same.
private func checkNumbers(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let value = Int(text).flatMap { Array($0.description.utf8) == bytes ? $0 : nil }
    precondition(ASCII.decimal(bytes) == value.flatMap { $0 >= 0 ? $0 : nil })
    precondition(ASCII.signedDecimal(bytes) == value.flatMap { $0 > Int.min ? $0 : nil })
    guard let value else { return }
    var written: [UInt8] = []
    written.append(decimal: value)
    precondition(written == bytes && ASCII.decimalCount(value) == bytes.count)
}

/// Addresses and ranges that were read are written in a form that reads the same.
private func checkAddresses(_ bytes: [UInt8]) {
    if let address = IPAddress(text: bytes) {
        precondition(IPAddress(text: address.description.utf8) == address)
        precondition(IPAddress(bytes: address.bytes) == address)
    }
    guard let range = try? CIDR(bytes) else { return }
    precondition((try? CIDR(range.description.utf8)) == range && range.contains(range.address))
}
