/// The choices of the operator at the screen.
///
/// Pure.
struct TopView: Equatable {
    /// The result of a key.
    enum Effect {
        /// The screen is drawn again.
        case draw
        /// Nodes are asked at once, since other rows are wanted.
        case ask
        /// The program ends.
        case quit
        /// Nothing changes.
        case none
    }

    /// The list that has the room.
    private(set) var pane = TopPane.nodes
    /// The place in the orders of each list.
    private(set) var order = Dictionary(uniqueKeysWithValues: TopPane.allCases.map { ($0, $0.orderAtStart) })
    /// The first row of the list that is shown.
    private(set) var scroll = 0
    /// The group of talkers.
    private(set) var group = groups[0]
    private(set) var isPaused = false
    private(set) var isHelp = false

    /// The groups of talkers, as the question names them.
    static let groups = ["user", "address", "namespace", "key"]

    /// The place of the order of a list.
    func orderPlace(_ pane: TopPane) -> Int { order[pane] ?? 0 }

    /// Acts on a key; `page` rows fit on the screen, and `scrollMax` is the last first row.
    mutating func press(_ key: TopKey, page: Int, scrollMax: Int) -> Effect {
        switch key {
        case .character(let character): return press(character)
        case .up: return move(to: min(scroll, scrollMax) - 1, scrollMax)
        case .down: return move(to: scroll + 1, scrollMax)
        case .pageUp: return move(to: min(scroll, scrollMax) - max(1, page), scrollMax)
        case .pageDown: return move(to: scroll + max(1, page), scrollMax)
        case .home: return move(to: 0, scrollMax)
        case .end: return move(to: scrollMax, scrollMax)
        }
    }

    private mutating func move(to row: Int, _ scrollMax: Int) -> Effect {
        let row = max(0, min(row, scrollMax))
        guard row != scroll else { return .none }
        scroll = row
        return .draw
    }

    private mutating func press(_ character: Character) -> Effect {
        switch character {
        case "q": return .quit
        case "?", "h":
            isHelp.toggle()
            return .draw
        case "p":
            isPaused.toggle()
            return isPaused ? .draw : .ask
        case "o":
            order[pane] = (orderPlace(pane) + 1) % pane.orders.count
            scroll = 0
            return .ask
        case "b" where pane == .talkers:
            let place = TopView.groups.firstIndex(of: group) ?? 0
            group = TopView.groups[(place + 1) % TopView.groups.count]
            scroll = 0
            return .ask
        default:
            guard let chosen = TopPane(rawValue: character) else { return .none }
            (pane, scroll, isHelp) = (chosen, 0, false)
            return .ask
        }
    }
}
