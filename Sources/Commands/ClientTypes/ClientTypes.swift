/// The types that programs may use of a node's scripts: those of commands, events and states.
struct ClientTypes {
    /// The commands that a client or a service may call, in name order.
    let commands: [CommandDescriptor]
    /// The declared types, in name order.
    let named: [NamedType]
    /// The data of each event by its name, each type once, in name order.
    let events: [(name: String, types: [ValueType])]
    /// The states that a header gives a type, by namespace.
    let states: [(namespace: String, type: ValueType)]

    init(_ catalogue: Catalogue) {
        commands = catalogue.commands.filter { !$0.rights.isWorkerOnly }
        named = catalogue.types
        var types: [String: [ValueType]] = [:]
        for event in (catalogue.commands + catalogue.refreshes).flatMap(\.emits)
        where types[event.name]?.contains(event.data.type) != true {
            types[event.name, default: []].append(event.data.type)
        }
        events = types.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        states = catalogue.states.values.filter { $0.value.type != .any }.map { ($0.namespace, $0.value.type) }
            .sorted { $0.namespace < $1.namespace }
    }

    /// A name such as `barbershop.track` or `queue:update` as the name of a type, `BarbershopTrack`.
    static func typeName(_ name: String) -> String {
        name.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
            .map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// A text on one line of a comment.
    static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? " " : $0 }))
    }
}
