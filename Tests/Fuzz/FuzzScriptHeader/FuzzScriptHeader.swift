import Commands
import Core

private let policies = Dictionary(
    uniqueKeysWithValues: namespaces.map {
        (
            $0,
            NamespacePolicy(subscribe: .anyone, publish: .service, logEventsMax: 200, logSeconds: 300, slow: .conflate)
        )
    })
private let namespaces: Set = ["shop", "dj"]

/// Reads a script's header, and when it is one, binds the rest of the input as a call's arguments.
///
/// The input is a file; what follows its first NUL is the arguments.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    let end = bytes.firstIndex(of: 0) ?? bytes.count
    let file = ScriptFile(name: "f", path: "f.lua", bytes: Array(bytes[..<end]))
    let lines = file.bytes.count { $0 == UInt8(ascii: "\n") } + 1
    do throws(CatalogueFailure) {
        let catalogue = try Catalogue(
            embedded: [], operators: [file], namespaces: namespaces, reservedPaths: ["/ws"])
        check(catalogue)
        if let command = catalogue.commands.first { bind(command, Array(bytes[end...].dropFirst())) }
    } catch {
        precondition(!error.problems.isEmpty)
        for problem in error.problems {
            precondition((1...lines).contains(problem.line) && !PrintableText.hasControl(problem.description))
        }
    }
    return 0
}

/// A shared file without a text.
private let noFile = ScriptFile(name: "", path: "", bytes: [])

/// What was accepted can be assembled and described.
private func check(_ catalogue: Catalogue) {
    let assembler = ScriptAssembler(
        prelude: noFile, command: [], outside: nil, subscribe: noFile, position: noFile, quick: [:])
    for script in assembler.scripts(catalogue) {
        precondition(script.translate("user_script:\(script.bodyLineOffset + 1):") == "f.lua:1:")
    }
    let document = OpenAPI(catalogue, version: "0", limits: Limits()).document()
    let limits = JSON.Limits(depthMax: 64, elementsMax: 1_000_000)
    precondition((try? JSON(parsing: document, limits: limits)) != nil)
}

/// What was bound becomes a call with a value for every argument.
private func bind(_ command: CommandDescriptor, _ body: [UInt8]) {
    guard let json = try? JSON(parsing: body, limits: Limits().json),
        var bound = try? ArgumentBinder.bind(command, body: json.root, caller: .worker)
    else { return }
    precondition(bound.values.count == command.arguments.count && bound.derived.count == command.derived.count)
    bound.resolved = command.resolved.map { _ in Array("found".utf8) }
    let settings = CommandSettings(
        keys: Keys(prefix: []), policies: policies, outbox: OutboxRoom(laneMax: 1, payerMax: 1),
        doneSeconds: 1, membersMax: 1,
        callsMax: 1,
        answerLimits: Limits().answers, answerBytesMax: Limits().answerBytesMax, nowMs: { 0 })
    let stamp = CommandCallBuilder.CallStamp(nowMs: 0, run: [], epoch: [], random: [])
    let call = CommandCallBuilder(settings).call(
        command, bound, caller: .worker, operation: bound.operation.map { .named($0) }, fence: nil, stamp)
    precondition(command.isReadOnly || call != nil)
}
