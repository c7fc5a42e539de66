import Fleet

/// The lists that a round asks the nodes for.
struct TopQuestions {
    /// The lists with their questions.
    let lists: [(pane: TopPane, question: FleetQuestion)]

    /// The most rows of a list on a screen, and of a text.
    static let (screenRows, textRows) = (200, 10)

    /// All lists, a few rows each.
    static let all = TopQuestions(TopPane.allCases, TopView(), rowsMax: textRows)

    /// The list that the operator looks at.
    init(_ view: TopView) { self.init([view.pane], view, rowsMax: TopQuestions.screenRows) }

    private init(_ panes: [TopPane], _ view: TopView, rowsMax: Int) {
        lists = panes.compactMap { pane in
            let order = view.orderPlace(pane)
            switch pane {
            case .topics: return (pane, FleetQuestion(.topics, order: order, limit: rowsMax))
            // The screen sorts these itself.
            case .slow: return (pane, FleetQuestion(.slow, limit: rowsMax))
            case .talkers:
                return (pane, FleetQuestion(.talkers, [.by: Array(view.group.utf8)], order: order, limit: rowsMax))
            case .nodes, .queues: return nil
            }
        }
    }
}
