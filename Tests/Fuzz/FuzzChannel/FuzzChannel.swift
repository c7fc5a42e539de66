import Core

/// Reads arbitrary bytes as a channel message; whatever is read must be sound, and read the same again when written.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    let limits = JSON.Limits(depthMax: 32, elementsMax: 10_000)
    if let news = PresenceUpdate.parse(bytes, bytesMax: 65_536, json: limits) {
        precondition(news.version.offset >= 1 && ChannelMessage.parse(bytes, bounds(limits, bytesMax: 65_536)) == nil)
    }
    guard let message = ChannelMessage.parse(bytes, bounds(limits, bytesMax: 65_536)) else { return 0 }
    precondition((try? JSON(parsing: message.data, limits: limits))?.root.kind == .object)
    var text: [UInt8] = []
    if let position = message.position {
        precondition(position.offset >= 1)
        text.append(UInt8(ascii: "P"))
        text.append(contentsOf: position.epoch)
        text.append(UInt8(ascii: " "))
        text.append(decimal: position.offset)
        text.append(UInt8(ascii: " "))
        text.append(contentsOf: message.event.bytes)
        text.append(UInt8(ascii: " "))
        text.append(contentsOf: message.id?.bytes ?? [UInt8(ascii: "-")])
        if let origin = message.origin {
            text.append(UInt8(ascii: " "))
            text.append(contentsOf: origin.bytes)
        }
        text.append(UInt8(ascii: "\n"))
        text.append(contentsOf: message.data)
        precondition(text == bytes, "a positioned message has one spelling")
    } else {
        precondition(message.id == nil && message.origin == nil)
        text.append(text: "{\"event\":")
        text.append(jsonString: message.event.bytes)
        text.append(text: ",\"data\":")
        text.append(contentsOf: message.data)
        text.append(UInt8(ascii: "}"))
        // A text without data has one value fewer than the same with `{}` written out.
        let wider = JSON.Limits(depthMax: 32, elementsMax: 10_001)
        precondition(ChannelMessage.parse(text, bounds(wider, bytesMax: 131_072)) == message)
    }
    return 0
}

private func bounds(_ limits: JSON.Limits, bytesMax: Int) -> ChannelMessage.Bounds {
    ChannelMessage.Bounds(
        positioned: limits, positionedBytesMax: bytesMax, plain: limits, plainBytesMax: bytesMax)
}
