import Testing

@testable import Operations

@Suite struct DescriptorRoomTests {
    /// At 96 and 400 readiness stayed green while clients hung: nobody new is let in long before 95 % are taken.
    @Test(arguments: [(96, 72), (400, 368), (1_024, 992), (1_000_000, 999_968)])
    func descriptorsAreShortBeforeClientsAreRefused(_ limit: Int, _ ceiling: Int) {
        #expect(DescriptorRoom(open: ceiling - 1, limit: limit).isShort)
        #expect(DescriptorRoom(open: ceiling - max(8, limit / 20), limit: limit).isShort)
        #expect(!DescriptorRoom(open: ceiling - max(8, limit / 20) - 1, limit: limit).isShort)
        #expect(DescriptorRoom(open: 0, limit: limit).isTooSmall(for: 1_000_000))
        #expect(!DescriptorRoom(open: 0, limit: limit).isTooSmall(for: 8))
    }
}
