// The part of SwiftUI that the apps' library and Examples/Shop use, with the signatures of Apple's documentation. Linux
// checks types with it (scripts/client-package.sh, Tests/EndToEnd/test_swift_samples.py). Nothing of it can run.

public import Foundation

/// As SwiftUI's.
@MainActor @preconcurrency public protocol View {
    /// As SwiftUI's.
    associatedtype Body: View
    /// As SwiftUI's.
    @ViewBuilder var body: Body { get }
}

extension Never: View, Scene {
    /// Never asked for.
    public var body: Never { return preconditionFailure("a stand-in") }
}

/// A view without a body of its own.
public protocol Leaf: View where Body == Never {}

extension Leaf {
    /// Never asked for.
    public var body: Never { preconditionFailure("a stand-in") }
}

/// As SwiftUI's.
@resultBuilder public enum ViewBuilder {
    /// As SwiftUI's.
    public static func buildBlock() -> EmptyView { EmptyView() }
    /// As SwiftUI's.
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<
        (repeat each Content)
    > {
        TupleView()
    }
    /// As SwiftUI's.
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    /// As SwiftUI's.
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    /// As SwiftUI's.
    public static func buildEither<First: View, Second: View>(first: First) -> Either<First, Second> { Either() }
    /// As SwiftUI's.
    public static func buildEither<First: View, Second: View>(second: Second) -> Either<First, Second> { Either() }
}

/// As SwiftUI's.
public struct EmptyView: Leaf {
    /// As SwiftUI's.
    nonisolated public init() {}
}
/// As SwiftUI's.
public struct TupleView<Views>: Leaf { nonisolated init() {} }
/// One of two views.
public struct Either<First, Second>: Leaf { nonisolated init() {} }
extension Optional: View where Wrapped: View {
    /// Never asked for.
    public var body: Never { preconditionFailure("a stand-in") }
}

/// As SwiftUI's.
@propertyWrapper public struct State<Value> {
    private final class Box {
        var value: Value
        init(_ value: Value) { self.value = value }
    }
    private let box: Box

    /// As SwiftUI's.
    public init(wrappedValue: Value) { box = Box(wrappedValue) }
    /// As SwiftUI's.
    public init(initialValue: Value) { box = Box(initialValue) }
    /// As SwiftUI's.
    public var wrappedValue: Value {
        get { box.value }
        nonmutating set { box.value = newValue }
    }
    /// As SwiftUI's.
    public var projectedValue: Binding<Value> { Binding(get: { box.value }, set: { box.value = $0 }) }
}

/// As SwiftUI's.
@propertyWrapper public struct Binding<Value> {
    private let read: () -> Value
    private let write: (Value) -> Void

    /// As SwiftUI's.
    public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) { (read, write) = (get, set) }
    /// As SwiftUI's.
    public var wrappedValue: Value {
        get { read() }
        nonmutating set { write(newValue) }
    }
    /// As SwiftUI's.
    public var projectedValue: Binding<Value> { self }
}

/// As SwiftUI's.
public enum ScenePhase: Comparable, Hashable, Sendable {
    /// As SwiftUI's.
    case background, inactive, active
}

/// As SwiftUI's.
public struct EnvironmentValues {
    /// As SwiftUI's.
    public var scenePhase: ScenePhase { .active }
}

/// As SwiftUI's.
@propertyWrapper public struct Environment<Value> {
    /// As SwiftUI's.
    public init(_ path: KeyPath<EnvironmentValues, Value>) { wrappedValue = EnvironmentValues()[keyPath: path] }
    /// As SwiftUI's.
    public let wrappedValue: Value
}

/// As SwiftUI's.
@MainActor @preconcurrency public protocol ViewModifier {
    /// As SwiftUI's.
    associatedtype Body: View
    /// As SwiftUI's.
    typealias Content = EmptyView
    /// As SwiftUI's.
    @ViewBuilder func body(content: Content) -> Body
}

/// As SwiftUI's.
@MainActor @preconcurrency public protocol Scene {
    /// As SwiftUI's.
    associatedtype Body: Scene
    /// As SwiftUI's.
    @SceneBuilder var body: Body { get }
}

/// As SwiftUI's.
@resultBuilder public enum SceneBuilder {
    /// As SwiftUI's.
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

/// As SwiftUI's.
@MainActor @preconcurrency public protocol App {
    /// As SwiftUI's.
    associatedtype Body: Scene
    /// As SwiftUI's.
    @SceneBuilder var body: Body { get }
    /// As SwiftUI's.
    init()
}

extension App {
    /// As SwiftUI's.
    public static func main() {}
}

/// As SwiftUI's.
public struct WindowGroup<Content: View>: Scene {
    /// As SwiftUI's.
    nonisolated public init(@ViewBuilder content: () -> Content) {}
    /// Never asked for.
    public var body: Never { preconditionFailure("a stand-in") }
}

/// As SwiftUI's.
public struct Text: Leaf {
    /// As SwiftUI's.
    nonisolated public init<S: StringProtocol>(_ content: S) {}
}
/// As SwiftUI's.
public struct Spacer: Leaf {
    /// As SwiftUI's.
    nonisolated public init() {}
}
/// As SwiftUI's.
public struct HStack<Content: View>: Leaf {
    /// As SwiftUI's.
    nonisolated public init(@ViewBuilder content: () -> Content) {}
}
/// As SwiftUI's.
public struct VStack<Content: View>: Leaf {
    /// As SwiftUI's.
    nonisolated public init(@ViewBuilder content: () -> Content) {}
}
/// As SwiftUI's.
public struct NavigationStack<Content: View>: Leaf {
    /// As SwiftUI's.
    nonisolated public init(@ViewBuilder root: () -> Content) {}
}
/// As SwiftUI's.
public struct List<Content: View>: Leaf {
    /// As SwiftUI's.
    nonisolated public init(@ViewBuilder content: () -> Content) {}
}
/// As SwiftUI's.
public struct ForEach<Data: RandomAccessCollection, Content: View>: Leaf where Data.Element: Identifiable {
    /// As SwiftUI's.
    nonisolated public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
}
/// As SwiftUI's.
public struct Button<Label: View>: Leaf {
    /// As SwiftUI's.
    nonisolated public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {}
}
extension Button where Label == Text {
    /// As SwiftUI's.
    nonisolated public init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {}
}

extension View {
    /// As SwiftUI's.
    nonisolated public func modifier<Modifier: ViewModifier>(_ modifier: Modifier) -> some View { EmptyView() }
    /// As SwiftUI's.
    nonisolated public func task(@_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void)
        -> some View
    { EmptyView() }
    /// As SwiftUI's.
    nonisolated public func task<ID: Equatable>(
        id: ID, @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
    ) -> some View { EmptyView() }
    /// As SwiftUI's.
    nonisolated public func refreshable(action: @escaping @Sendable () async -> Void) -> some View { EmptyView() }
    /// As SwiftUI's.
    nonisolated public func navigationTitle<S: StringProtocol>(_ title: S) -> some View { EmptyView() }
    /// As SwiftUI's.
    nonisolated public func disabled(_ isDisabled: Bool) -> some View { EmptyView() }
    /// As SwiftUI's.
    nonisolated public func overlay<Content: View>(@ViewBuilder content: () -> Content) -> some View { EmptyView() }
    /// As SwiftUI's.
    nonisolated public func alert<E: LocalizedError, A: View>(
        isPresented: Binding<Bool>, error: E?, @ViewBuilder actions: () -> A
    ) -> some View { EmptyView() }
}

extension ProcessInfo {
    /// As Foundation's, which Linux lacks.
    public func performExpiringActivity(
        withReason reason: String, using block: @escaping @Sendable (Bool) -> Void
    ) {}
}
