/// Names of cells of the earth's surface: each further character halves a cell five times, longitude first.
enum Geohash {
    /// The number of characters that a name may have: from 5,000 km to 4 cm.
    static let lengths = 1...12
    private static let digits = Array("0123456789bcdefghjkmnpqrstuvwxyz".utf8)

    /// The name of the cell that holds a place in degrees; `nil` when the degrees are out of range.
    static func text(latitude: Double, longitude: Double, length: Int) -> [UInt8]? {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        var (south, north, west, east) = (-90.0, 90.0, -180.0, 180.0)
        var text: [UInt8] = []
        var digit = 0
        for step in 0..<(5 * length) {
            let isEastOrNorth: Bool
            if step % 2 == 0 {
                let middle = (west + east) / 2
                isEastOrNorth = longitude >= middle
                if isEastOrNorth { west = middle } else { east = middle }
            } else {
                let middle = (south + north) / 2
                isEastOrNorth = latitude >= middle
                if isEastOrNorth { south = middle } else { north = middle }
            }
            digit = digit * 2 + (isEastOrNorth ? 1 : 0)
            if step % 5 == 4 {
                text.append(digits[digit])
                digit = 0
            }
        }
        return text
    }
}
