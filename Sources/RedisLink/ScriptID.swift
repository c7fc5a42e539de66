/// A script of one ``ScriptRegistry``; a number, so that a call needs no look-up by name.
public struct ScriptID: Hashable, Sendable {
    let index: Int
}
