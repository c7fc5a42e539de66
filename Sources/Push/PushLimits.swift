import Core

/// The figures of what Redis may hold for push, as the scripts of the pack keep them; what is beyond is not read.
enum PushLimits {
    /// A stored device or stored rules.
    static let json = JSON.Limits(depthMax: 8, elementsMax: 400)
    /// Types that a user has wishes for.
    static let typesMax = 50
    /// Bytes of a device token.
    static let tokenBytesMax = 200
    /// Bytes of an id that a script takes.
    static let idBytesMax = 200
    /// Devices of one user.
    static let devicesMax = 10
    /// Pushes of one call.
    static let callMax = 8
}
