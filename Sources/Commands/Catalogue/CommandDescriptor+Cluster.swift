import Core

/// The form of a script on a Redis Cluster, where one step reaches the keys of one id.
extension CommandDescriptor {
    /// Whether a step of the script would need keys of several ids, so that a cluster cannot run it.
    public var needsOneServer: Bool { span.map { $0.deciding == nil } ?? false }

    /// The script as a cluster runs it: in the slot of the id that decides.
    ///
    /// Resolved values are not read again inside the script unless their keys lie in that slot. Topics of other ids
    /// are told by the outbox.
    func onCluster() -> CommandDescriptor {
        var script = self
        script.isOnCluster = true
        guard let deciding = span?.deciding else { return script }
        func isNear(_ template: Template) -> Bool { template.variable == deciding }
        let templates = keys.map(\.template) + homeTopics
        script.place = templates.first { isNear($0) }.map { Home(namespace: $0.namespace, variable: deciding) }
        script.keys = keys.filter { isNear($0.template) }
        script.looked = keys.filter { $0.template.variable != nil && $0.template.variable == span?.read }
        script.beyond = keys.filter { key in !isNear(key.template) && !script.looked.contains(key) }
        script.homeTopics = homeTopics.filter(isNear)
        script.foreignNamespaces =
            Set(foreignNamespaces + homeTopics.filter { !isNear($0) }.map(\.namespace)).sorted()
        return script
    }

    /// The templates whose ids a script with ``span`` touches, in whatever steps.
    public var spannedIDs: [Template] { declaredKeys.map(\.template) + topics.filter { $0.variable != nil } }

    /// The keys of the header, wherever they lie.
    var declaredKeys: [KeyDeclaration] { keys + looked + beyond }

    /// Whether the script reads a resolved value's key again before its body.
    func rereads(_ value: ResolvedValue) -> Bool {
        !isOnCluster || value.key.variable == (place ?? home)?.variable
    }

    /// The topic in whose slot the script runs.
    func placeTopic(_ value: (String) -> [UInt8]?) -> Topic? { (place ?? home)?.topic(value) }

    /// Whether a call takes more than the one call of Redis.
    var takesSeveralCalls: Bool { !resolved.isEmpty || !looked.isEmpty || isOnCluster && !steps.isEmpty }
}
