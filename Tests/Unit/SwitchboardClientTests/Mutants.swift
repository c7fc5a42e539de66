@testable import SwitchboardClient

/// Bugs that the simulation must find: each alters what the machine takes, knows or does.
enum Mutant: String, CaseIterable {
    case newIDForEachAttempt
    case forgetsWhenItWasSent
    case tellsNoGaps
    case resumesOneTooFar
    case forgetsPositions
    case hearsOldSockets
    case losesSentCalls
    case ignoresLanes
    case deliversTwice
    case neverPings
    case answersTwice

    /// What the machine takes instead, after its memory was altered.
    func before(_ input: ClientInput, _ machine: inout ClientMachine) -> ClientInput {
        switch (self, input) {
        case (.hearsOldSockets, .text(_, let text)): return .text(generation: machine.generation, text)
        case (.hearsOldSockets, .closed(_, let code, let httpStatus, _)):
            return .closed(generation: machine.generation, code: code, httpStatus: httpStatus)
        case (.deliversTwice, .text(_, let text)):
            if let frame = Frame(text), frame.event == "e", let topic = frame.topic, let offset = frame.offset,
                machine.topics[topic]?.position?.offset == offset
            {
                machine.topics[topic]?.position?.offset -= 1
            }
        case (.forgetsWhenItWasSent, _):
            for index in machine.calls.indices where machine.calls[index].firstSentMs != nil {
                machine.calls[index].firstSentMs = machine.nowMs
                machine.calls[index].entry.firstSentAtMs = machine.wallMs
            }
        case (.neverPings, _): machine.lastHeardMs = machine.nowMs
        case (.ignoresLanes, .call(var entry, let terms)):
            entry.lane = entry.id
            return .call(entry, terms)
        case (.losesSentCalls, .closed): machine.calls.removeAll { $0.isSent }
        case (.forgetsPositions, .closed):
            for name in machine.topicOrder { machine.topics[name]?.position = nil }
        case (.resumesOneTooFar, .closed):
            for name in machine.topicOrder { machine.topics[name]?.position?.offset += 1 }
        default: break
        }
        return input
    }

    /// What is done instead.
    func after(_ outputs: [ClientOutput], _ machine: inout ClientMachine) -> [ClientOutput] {
        switch self {
        case .tellsNoGaps:
            return outputs.filter { if case .tell(_, .gap) = $0 { false } else { true } }
        case .answersTwice:
            return outputs.flatMap { output -> [ClientOutput] in
                if case .finish = output { [output, output] } else { [output] }
            }
        case .newIDForEachAttempt:
            for index in machine.calls.indices where !machine.calls[index].isSent {
                if machine.calls[index].firstSentMs != nil { machine.calls[index].entry.id += "." }
            }
        default: break
        }
        return outputs
    }
}
