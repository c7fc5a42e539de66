import Core

/// People on the map of listeners nearby.
extension PeopleTown {
    /// Metres that a person walks between two places.
    private static var stepMetres: Int { 70 }
    /// Metres from the middle of the map within which people stay.
    private static var edgeMetres: Int { 550 }
    /// Metres of a degree of latitude, and of one of longitude at the middle of the map (`web/circle.js`).
    private static var northMetres: Double { 111_195 }
    private static var eastMetres: Double { 67_656 }
    private static var middle: (latitude: Double, longitude: Double) { (52.52, 13.405) }

    /// A place on the map by chance.
    mutating func place() -> (east: Int, north: Int) {
        (chance(-Self.edgeMetres...Self.edgeMetres), chance(-Self.edgeMetres...Self.edgeMetres))
    }

    /// A step towards the person's goal.
    mutating func walk(_ person: Int) {
        var walker = walkers[person]
        let (east, north) = (walker.goal.east - walker.east, walker.goal.north - walker.north)
        let distance = max(abs(east), abs(north))
        if distance <= Self.stepMetres {
            (walker.east, walker.north) = walker.goal
            walker.goal = place()
        } else {
            walker.east += east * Self.stepMetres / distance
            walker.north += north * Self.stepMetres / distance
        }
        walkers[person] = walker
        putPlace(person)
    }

    /// Tells where a person is.
    mutating func putPlace(_ person: Int) {
        let walker = walkers[person]
        let latitude = Self.middle.latitude + Double(walker.north) / Self.northMetres
        let longitude = Self.middle.longitude + Double(walker.east) / Self.eastMetres
        call(
            person, "set_location",
            Members().with("latitude", json: "\(latitude)").with("longitude", json: "\(longitude)").with(
                "city", "Demo"))
    }

    /// The person listens to another track.
    mutating func play(_ person: Int) {
        tracksPlayed += 1
        let track = DemoCast.tracks[(tracksPlayed * 7 + person) % DemoCast.tracks.count]
        call(
            person, "set_track",
            Members().with("id", "p-\(run)-\(tracksPlayed)").with("name", track.name).with("artist", track.artist)
                .with("duration", json: "180").with("isPlaying", json: "true"))
    }

    /// A visitor is near: two of the people go there.
    mutating func meet(_ person: Int, _ told: JSON.Value) {
        guard person == 2 || person == 3, let id = told["id"]?.string, Self.isVisitor(id),
            let location = told["user"]?["location"], let latitude = location["latitude"]?.double,
            let longitude = location["longitude"]?.double, abs(latitude) <= 85, abs(longitude) <= 180
        else { return }
        let north = (latitude - Self.middle.latitude) * Self.northMetres
        let east = (longitude - Self.middle.longitude) * Self.eastMetres
        guard abs(north) < 5_000, abs(east) < 5_000 else { return }
        let aside = person == 2 ? 110 : -110
        walkers[person].goal = (Int(east) + aside, Int(north) + aside)
        agenda.add(.stroll(person), atMs: nowMs + chance(700...1_500))
    }

    /// Keeps what ends without a sign, once a minute: places, and the session.
    mutating func upkeep(_ happening: Happening) {
        agenda.add(happening, atMs: nowMs + 60_000)
        if !isWatched {
            for person in names.indices { putPlace(person) }
        }
        ask(host, "current_listening", Members(), .session)
    }
}
