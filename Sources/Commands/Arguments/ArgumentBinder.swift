public import Core

/// Reads the arguments of a call from a JSON object, parts of a path and items of a query.
public enum ArgumentBinder {
    /// The form in which a caller gave an argument: text, or a JSON value.
    private enum Given {
        case text([UInt8])
        case json(JSON.Value)

        func argument(_ type: ArgumentType, _ fold: ArgumentFold?) -> [UInt8]? {
            switch self {
            case .text(let text): return type.argument(ofText: fold?.folded(text) ?? text)
            case .json(let value):
                guard let fold else { return type.argument(of: value) }
                // A choice is compared after folding. For every other type, folding keeps a valid value valid.
                if let text = value.stringBytes { return type.argument(ofText: fold.folded(text)) }
                return type.argument(of: value).map { fold.folded($0) }
            }
        }
    }

    /// Binds the arguments of a call; throws `bad_request` naming the argument and what it must be.
    ///
    /// Also throws `forbidden` or `unauthorized` when the caller may not act for the user given.
    ///
    /// `body` is the JSON object of a message or a request, `nil` when there is none; `query` is for GET routes. An
    /// argument may be given in several places if it is the same in all.
    ///
    /// `known` gives values for required arguments that the call does not give. All names are those on the wire.
    /// `address` is the address of a caller without credentials, as limits count it. `ignoresUnknown`: members of
    /// `body` that are not declared are left out.
    public static func bind(
        _ descriptor: CommandDescriptor, body: JSON.Value?, path: [TextArgument] = [], query: [TextArgument] = [],
        known: [String: [UInt8]] = [:], caller: CommandCaller, address: IPAddress? = nil,
        ignoresUnknown: Bool = false
    ) throws(Refusal) -> BoundArguments {
        if let body, body.kind != .object {
            throw Refusal(.badRequest, "The arguments must be a JSON object.")
        }
        let given = try collect(descriptor, body, path + query, ignoresUnknown: ignoresUnknown)
        var values: [[UInt8]?] = []
        var actingUser = caller.user
        for argument in descriptor.arguments {
            var value = try value(argument, given[argument.wire] ?? [])
            if value == nil, argument.isRequired, argument.type != .user, let text = known[argument.wire] {
                value = try self.value(argument, [.text(text)])
            }
            guard argument.type == .user else {
                values.append(value ?? argument.fallback)
                if value == nil && argument.isRequired { throw missing(argument) }
                continue
            }
            let isOwn = isOwn(argument, given[argument.wire] ?? [], caller)
            let user = try user(argument, isOwn ? caller.user : value, caller)
            actingUser = user
            values.append(user)
        }
        return BoundArguments(
            values: values, derived: try derived(descriptor, values, address), actingUser: actingUser,
            operation: descriptor.takesID ? nil : try operation(given["id"] ?? []))
    }

    private static func derived(
        _ descriptor: CommandDescriptor, _ values: [[UInt8]?], _ address: IPAddress?
    ) throws(Refusal) -> [[UInt8]] {
        var derived: [[UInt8]] = []
        for value in descriptor.derived {
            func argument(_ name: String) -> [UInt8]? {
                descriptor.arguments.firstIndex { $0.name == name }.flatMap { values[$0] }
            }
            derived.append(try value.value(argument, address: address))
        }
        return derived
    }

    /// Gathers the given values by name; throws `bad_request` for a name that is not declared.
    private static func collect(
        _ descriptor: CommandDescriptor, _ body: JSON.Value?, _ texts: [TextArgument], ignoresUnknown: Bool
    ) throws(Refusal) -> [String: [Given]] {
        let names = descriptor.arguments.map(\.wire) + (descriptor.takesID ? [] : ["id"])
        var given: [String: [Given]] = [:]
        func unknown(_ name: String) -> Refusal {
            Refusal(
                .badRequest,
                "'\(PrintableText.clean(name))' is no argument of \(descriptor.name)"
                    + NearestName.hint(names, to: name))
        }
        for text in texts {
            guard names.contains(text.name) else { throw unknown(text.name) }
            if isNull(text, descriptor) { continue }
            given[text.name, default: []].append(.text(text.value))
        }
        guard let body else { return given }
        for member in body.members {
            // Compared by bytes: Swift takes different spellings of one accented letter for equal.
            let bytes = member.nameBytes
            guard let name = names.first(where: { $0.utf8.elementsEqual(bytes) }) else {
                if ignoresUnknown { continue }
                throw unknown(member.name)
            }
            if member.kind != .null { given[name, default: []].append(.json(member)) }
        }
        return given
    }

    /// Whether a text is the JSON `null`; an argument that is `null` counts as absent in every place.
    private static func isNull(_ text: TextArgument, _ descriptor: CommandDescriptor) -> Bool {
        guard case .json? = descriptor.arguments.first(where: { $0.wire == text.name })?.type else { return false }
        return (try? JSON(parsing: text.value, limits: JSON.Limits(depthMax: 0, elementsMax: 1)))?.root.kind == .null
    }

    private static func value(_ argument: ArgumentDeclaration, _ given: [Given]) throws(Refusal) -> [UInt8]? {
        var found: [UInt8]?
        for item in given {
            guard let value = item.argument(argument.type, argument.fold) else {
                throw Refusal(
                    .badRequest, "'\(argument.wire)' must be \(argument.type.expectation)",
                    about: .argument(argument.wire))
            }
            if let found, found != value {
                throw Refusal(
                    .badRequest, "'\(argument.wire)' is given twice, with different values",
                    about: .argument(argument.wire))
            }
            found = value
        }
        return found
    }

    private static func missing(_ argument: ArgumentDeclaration) -> Refusal {
        Refusal(
            .badRequest, "'\(argument.wire)' is missing; it must be \(argument.type.expectation)",
            about: .argument(argument.wire))
    }

    /// Whether the given value is the caller's own user before folding: a user's name may have capitals, which folding
    /// removes.
    private static func isOwn(_ argument: ArgumentDeclaration, _ given: [Given], _ caller: CommandCaller) -> Bool {
        argument.fold != nil && !given.isEmpty
            && given.allSatisfy { $0.argument(argument.type, nil) == caller.user }
    }

    /// The user that the call acts for; throws when the caller may not act for it.
    private static func user(
        _ argument: ArgumentDeclaration, _ value: [UInt8]?, _ caller: CommandCaller
    ) throws(Refusal) -> [UInt8]? {
        switch caller.role {
        case .user:
            guard value == nil || value == caller.user else {
                throw Refusal(.forbidden, "'\(argument.wire)' is another user; a user acts for none but itself")
            }
            return caller.user
        case .anonymous:
            guard value == nil && argument.presence == .optional else {
                throw Refusal(.unauthorized, "'\(argument.wire)' needs a token of that user")
            }
            return nil
        case .service, .worker:
            guard value == nil && argument.presence != .optional else { return value }
            // This is not `bad_request`, because a user may omit the argument. Only a service must name the user it
            // acts for.
            throw caller.role == .worker
                ? missing(argument)
                : Refusal(.forbidden, "'\(argument.wire)' is missing; a service says which user it acts for")
        }
    }

    private static func operation(_ given: [Given]) throws(Refusal) -> MessageID? {
        var found: MessageID?
        for item in given {
            let bytes: [UInt8]? =
                switch item {
                case .text(let text): text
                case .json(let value): value.stringBytes
                }
            guard let id = bytes.flatMap({ MessageID($0) }), found == nil || found == id else {
                throw Refusal(
                    .badRequest, "'id' must be one string of 1 to \(MessageID.bytesMax) of A-Z a-z 0-9 . _ ~ : -")
            }
            found = id
        }
        return found
    }
}

extension ArgumentDeclaration {
    /// The default of an argument that is not given; `nil` when it has none.
    fileprivate var fallback: [UInt8]? {
        if case .byDefault(let value) = presence { return value }
        return nil
    }
}
