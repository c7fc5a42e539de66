/// Generates the Lua between `command.lua` and a body, which names `KEYS` and `ARGV` as the header does.
///
/// Except for `random` it declares nothing: `command.lua` has declared these names, so that its functions see them.
enum GeneratedLua {
    /// The names that bodies must not reach.
    ///
    /// They are Redis itself, the call's keys and arguments, ways around these, and the parts of the preludes that do
    /// what a body may only request.
    static let hidden = """
        redis, server, KEYS, ARGV, _G, getfenv, setfenv, load, loadstring, loadfile, dofile, rawset, os, print, run, commit, \
        commit_event, publish_event, prepare_event, prepare_events, append, begin_epoch, renew, refuse, queued, needs, \
        first_key, last_key, emitted, outgoing, told, homes, foreign, callable, known, name_of, resolved, fence, roster, \
        note_removal, mint_s, made_ids, minted, change_member, home_of, count_effects, known_as, result_of, text_of, \
        decide, check_fence, check_lease, check_writes, retried, outward, services, calls_max, called, publishing, \
        log_event, keep_offset, plan_of, read_position, epochs, make_read, read_rest, make_write, write_rest, \
        make_values, encode_any, none, elsewhere, told_elsewhere, cut_log, heavy, told_bytes, is_marked, surcharge
        """

    /// The names that a `@subscribe` script must not reach: also those of other topics and of optional arguments.
    static let hiddenFromJoins = hidden + ", topic_log, topic_latest, given, state, own_arguments"

    /// The lines with the names of a `@subscribe` script, before `subscribe.lua` or `position.lua`; that file's `ARGV`
    /// stand first.
    static func lines(_ state: StateProvider) -> [String] {
        var lines = [
            "own_arguments = 4", "now_ms = integer(ARGV[#ARGV - 3], 0, INTEGER_MAX)",
            "caller = known_as(ARGV[#ARGV - 2], ARGV[#ARGV - 1])", "args = {id = ARGV[#ARGV]}", "readonly = true",
        ]
        guard !state.keys.isEmpty else { return lines }
        let names = state.keys.enumerated().map { "\($1.name) = KEYS[\($0 + 3)]" }
        lines.append("key = {" + names.joined(separator: ", ") + "}")
        lines.append("first_key, last_key = 3, \(state.keys.count + 2)")
        return lines
    }

    static func lines(_ descriptor: CommandDescriptor) -> [String] {
        let layout = CallLayout(descriptor)
        var lines: [String] = []
        func table(_ name: String, _ members: [String]) {
            if !members.isEmpty { lines.append("\(name) = {" + members.joined(separator: ", ") + "}") }
        }
        table(
            "key",
            descriptor.keys.enumerated().map { "\($1.name) = KEYS[\(layout.key($0))]" }
                + descriptor.looked.enumerated().map { "\($1.name) = ARGV[\(layout.looked($0))]" })
        if !descriptor.keys.isEmpty {
            lines.append("first_key, last_key = \(layout.key(0)), \(layout.key(descriptor.keys.count - 1))")
            // Has one place for each key: a Lua table that grows is allocated again.
            table("known", descriptor.keys.indices.map { "[KEYS[\(layout.key($0))]] = false" })
        }
        arguments(descriptor, layout, into: &lines)
        table(
            "resolved",
            descriptor.resolved.enumerated().filter { descriptor.rereads($1) }.enumerated().map { place, item in
                let (index, value) = item
                var more = value.field.map { ", field = '\($0)'" } ?? ""
                if case .instead(let id) = value.absent {
                    more += ", instead = '" + String(decoding: id, as: UTF8.self) + "'"
                }
                return "{key = KEYS[\(layout.resolvedKey(place))], value = ARGV[\(layout.resolved(index))]\(more)}"
            })
        let optional = descriptor.arguments.filter { $0.presence == .optional }.map(\.name)
        if !optional.isEmpty { lines.append("optional = ' " + optional.joined(separator: " ") + " '") }
        if descriptor.isReadOnly { lines.append("readonly = true") }
        // Without @random the name does not exist, and Redis reports an error when a body reads it.
        if descriptor.usesRandom { lines.append("local random = ARGV[8]") }
        table("homes", descriptor.homeTopics.indices.map { home($0, layout, descriptor) })
        table("foreign", descriptor.foreignNamespaces.map { "['\($0)'] = true" })
        table("callable", (descriptor.calls + descriptor.steps).map { "['\($0)'] = true" })
        if let mint = descriptor.mint {
            lines.append("mint_s = \(mint.seconds)")
            let made = descriptor.derived.filter(\.isUUID)
            table("made_ids", made.map { "[args.\($0.name)] = true" })
        }
        if descriptor.changesMembers {
            lines.append("roster = {removed = KEYS[\(layout.removed)], max = tonumber(ARGV[\(layout.membersMax)])}")
        }
        if !descriptor.callsOut.isEmpty {
            table("services", descriptor.services.enumerated().map { service($1, layout.calls($0), descriptor) })
            lines.append("calls_max = tonumber(ARGV[\(layout.callsMax)])")
        }
        if descriptor.refresh != nil { lines.append("fence, check_lease = KEYS[\(layout.fence)], check_fence") }
        return lines
    }

    private static func arguments(_ descriptor: CommandDescriptor, _ layout: CallLayout, into lines: inout [String]) {
        var always: [String] = []
        var optional: [String] = []
        for (index, argument) in descriptor.arguments.enumerated() {
            let value = "\(argument.name) = " + conversion(argument.type, "ARGV[\(layout.argument(index))]")
            if argument.presence == .optional {
                optional.append("if given(\(index + 1)) then args.\(value) end")
            } else {
                always.append(value)
            }
        }
        for (index, value) in descriptor.derived.enumerated() {
            always.append("\(value.name) = ARGV[\(layout.derived(index))]")
        }
        for (index, value) in descriptor.resolved.enumerated() {
            always.append("\(value.name) = ARGV[\(layout.resolved(index))]")
        }
        if !always.isEmpty || !optional.isEmpty { lines.append("args = {" + always.joined(separator: ", ") + "}") }
        lines += optional
    }

    private static func conversion(_ type: ArgumentType, _ text: String) -> String {
        switch type {
        case .id, .user, .string, .choice, .json: text
        case .int, .number, .time: "tonumber(\(text))"
        case .bool: "\(text) == '1'"
        case .ids: "ids_of(\(text))"
        }
    }

    private static func service(_ name: String, _ key: Int, _ descriptor: CommandDescriptor) -> String {
        let commands = descriptor.callsOut.filter { $0.service == name }.map { $0.command + " = true" }
        return "['\(name)'] = {stream = KEYS[\(key)], waiting = 0, commands = {" + commands.joined(separator: ", ")
            + "}}"
    }

    private static func home(_ index: Int, _ layout: CallLayout, _ descriptor: CommandDescriptor) -> String {
        let (key, first) = (layout.log(index), layout.topic(index))
        return "[ARGV[\(first)]] = {log = KEYS[\(key)], meta = KEYS[\(key + 1)], channel = ARGV[\(first + 1)], "
            + "log_max = ARGV[\(first + 2)], log_ttl_s = ARGV[\(first + 3)], meta_ttl_s = ARGV[\(first + 4)], "
            + (descriptor.changesMembers ? "members = KEYS[\(layout.members(index))], " : "")
            + "top = ARGV[\(first + 5)], last = false}"
    }
}
