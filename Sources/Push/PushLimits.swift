import Core

/// The limits of push data in Redis, as the scripts of the pack enforce them; data beyond are not read.
enum PushLimits {
    /// A stored device or stored rules.
    static let json = JSON.Limits(depthMax: 8, elementsMax: 400)
    /// Types for which a user has preferences.
    static let typesMax = 50
    /// Bytes of a device token.
    static let tokenBytesMax = 200
    /// Bytes of an id that a script accepts.
    static let idBytesMax = 200
    /// Devices of one user.
    static let devicesMax = 10
    /// Pushes of one call.
    static let callMax = 8
}
