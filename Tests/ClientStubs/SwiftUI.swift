// What the apps' library uses of SwiftUI, so that Linux checks the types of its views (scripts/client-package.sh).

/// As SwiftUI's.
@MainActor @preconcurrency public protocol View {
    /// As SwiftUI's.
    associatedtype Body: View
    /// As SwiftUI's.
    var body: Body { get }
}

extension Never: View {
    /// Never asked for.
    public var body: Never { preconditionFailure("a stand-in") }
}

/// As SwiftUI's.
@propertyWrapper public struct State<Value> {
    private let box: Box<Value>

    /// As SwiftUI's.
    public init(wrappedValue: Value) { box = Box(wrappedValue) }

    /// As SwiftUI's.
    public var wrappedValue: Value {
        get { box.value }
        nonmutating set { box.value = newValue }
    }
}

private final class Box<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}

/// As SwiftUI's.
public struct Text: View {
    /// As SwiftUI's.
    public init(_ text: String) {}
    /// Never asked for.
    public var body: Never { preconditionFailure("a stand-in") }
}

extension View {
    /// As SwiftUI's.
    public func task(@_inheritActorContext _ action: @escaping @Sendable () async -> Void) -> some View { self }
}
