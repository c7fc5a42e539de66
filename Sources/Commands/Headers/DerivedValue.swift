import Core

/// A value that the gateway makes of a call's arguments: `@derive cell = geohash(latitude, longitude, 6)`.
public struct DerivedValue: Equatable, Sendable {
    /// What templates and the body call it.
    public let name: String
    /// The argument with the latitude, degrees.
    public let latitude: String
    /// The argument with the longitude, degrees.
    public let longitude: String
    /// How many characters the cell's name has.
    public let length: Int

    /// Reads `NAME = geohash(LATITUDE, LONGITUDE, LENGTH)`.
    init(header text: String) throws(HeaderFault) {
        let example = "cell = geohash(latitude, longitude, 6)"
        guard let (before, after) = HeaderText.cut(text, at: "=") else { throw HeaderFault("expected " + example) }
        name = HeaderText.trimmed(before)
        guard HeaderText.isName(name, capitals: true), !HeaderText.luaWords.contains(name), name != "id" else {
            throw HeaderFault("a derived value's name is a lower-case letter, then A-Z a-z 0-9, no word of Lua, not id")
        }
        let call = HeaderText.trimmed(after)
        guard let (function, rest) = HeaderText.cut(call, at: "("), rest.hasSuffix(")") else {
            throw HeaderFault("expected " + example)
        }
        guard function == "geohash" else {
            throw HeaderFault(
                PrintableText.quoted(function) + " derives nothing; there is geohash"
                    + NearestName.hint(["geohash"], to: function))
        }
        let words = HeaderText.list(rest.dropLast())
        guard words.count == 3, let length = ASCII.decimal(Array(words[2].utf8)), Geohash.lengths.contains(length)
        else {
            throw HeaderFault(
                "expected two arguments and a length from \(Geohash.lengths.lowerBound) to \(Geohash.lengths.upperBound), "
                    + "e.g. " + example)
        }
        (latitude, longitude, self.length) = (words[0], words[1], length)
    }

    /// The value for two arguments as they stand in `ARGV`; `nil` where they are no place.
    func value(latitude: [UInt8], longitude: [UInt8]) -> [UInt8]? {
        guard let latitude = Double(String(decoding: latitude, as: UTF8.self)),
            let longitude = Double(String(decoding: longitude, as: UTF8.self))
        else { return nil }
        return Geohash.text(latitude: latitude, longitude: longitude, length: length)
    }
}
