import Testing

@testable import Top

/// Keys: how bytes become keys, and what keys do.
struct TopViewTests {
    @Test func sequencesAreReadWholeAndInParts() {
        let all: [(String, TopKey)] = [
            ("q", .character("q")), ("\u{1b}[A", .up), ("\u{1b}[B", .down), ("\u{1b}OA", .up), ("\u{1b}[5~", .pageUp),
            ("\u{1b}[6~", .pageDown), ("\u{1b}[H", .home), ("\u{1b}[4~", .end), ("?", .character("?")),
        ]
        let bytes = Array(all.map(\.0).joined().utf8)
        var whole = TopKeyReader()
        #expect(whole.read(bytes) == all.map(\.1))
        var parts = TopKeyReader()
        #expect(bytes.flatMap { parts.read([$0]) } == all.map(\.1))
    }

    @Test func unknownBytesAreNoKeys() {
        var reader = TopKeyReader()
        let text = "\u{1b}[200~\u{1b}xé\u{1}\u{1b}[1;5A\u{1b}[" + String(repeating: "1", count: 1_000) + "\u{1b}[B"
        #expect(reader.read(Array(text.utf8)).last == .down)
        #expect(reader.read(Array("q".utf8)) == [.character("q")])
    }

    @Test func lettersChooseTheList() {
        var view = TopView()
        for (key, pane) in [("t", TopPane.topics), ("s", .slow), ("k", .talkers), ("d", .queues), ("n", .nodes)] {
            #expect(view.press(.character(Character(key)), page: 10, scrollMax: 0) == .ask)
            #expect(view.pane == pane)
        }
        #expect(view.press(.character("x"), page: 10, scrollMax: 0) == .none)
        #expect(view.press(.character("q"), page: 10, scrollMax: 0) == .quit)
    }

    @Test func ordersGoAroundAndAreKeptForEachList() {
        var view = TopView()
        for _ in 0..<TopPane.nodes.orders.count {
            #expect(view.press(.character("o"), page: 10, scrollMax: 0) == .ask)
        }
        #expect(view.orderPlace(.nodes) == 0 && view.orderPlace(.topics) == 1)
        _ = view.press(.character("t"), page: 10, scrollMax: 0)
        _ = view.press(.character("o"), page: 10, scrollMax: 0)
        #expect(view.orderPlace(.topics) == 2 && view.orderPlace(.nodes) == 0)
    }

    @Test func scrollingStaysInsideTheList() {
        var view = TopView()
        #expect(view.press(.up, page: 10, scrollMax: 25) == .none)
        for (key, row) in [
            (TopKey.down, 1), (.pageDown, 11), (.pageDown, 21), (.pageDown, 25), (.pageUp, 15), (.end, 25), (.up, 24),
            (.home, 0),
        ] {
            #expect(view.press(key, page: 10, scrollMax: 25) == .draw)
            #expect(view.scroll == row)
        }
        // The list became shorter meanwhile.
        _ = view.press(.end, page: 10, scrollMax: 25)
        _ = view.press(.up, page: 10, scrollMax: 5)
        #expect(view.scroll == 4)
    }

    @Test func aPauseEndsWithAQuestion() {
        var view = TopView()
        #expect(view.press(.character("p"), page: 1, scrollMax: 0) == .draw && view.isPaused)
        #expect(view.press(.character("p"), page: 1, scrollMax: 0) == .ask && !view.isPaused)
    }

    @Test func theGroupOfTalkersChangesInTheirListAlone() {
        var view = TopView()
        #expect(view.press(.character("b"), page: 1, scrollMax: 0) == .none)
        _ = view.press(.character("k"), page: 1, scrollMax: 0)
        let groups = TopView.groups.map { _ in
            _ = view.press(.character("b"), page: 1, scrollMax: 0)
            return view.group
        }
        #expect(groups == ["address", "namespace", "key", "user"])
    }
}
