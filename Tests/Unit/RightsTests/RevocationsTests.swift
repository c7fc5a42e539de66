import Testing

@testable import Rights

/// Tokens that were withdrawn before they expired.
@Suite struct RevocationsTests {
    private func identity(_ user: String, issuedAt: Int? = nil, tokenID: String? = nil) throws -> Identity {
        try #require(
            Identity(
                user: Array(user.utf8), role: .user, topics: [], expiresAt: now + 600, issuedAt: issuedAt,
                tokenID: tokenID.map { Array($0.utf8) }))
    }

    private func list(_ subjects: Revocation.Subject...) -> Revocations {
        var list = Revocations()
        for subject in subjects { list.add(Revocation(subject, forgetAt: now + 100)) }
        return list
    }

    @Test func tokensUpToTheTimeAreRefusedAndLaterOnesWork() throws {
        let list = list(.user(Array("u1".utf8), until: 1_000))
        #expect(list.failure(for: try identity("u1", issuedAt: 999)) == .revoked)
        #expect(list.failure(for: try identity("u1", issuedAt: 1_000)) == .revoked)
        #expect(list.failure(for: try identity("u1", issuedAt: 1_001)) == nil)
        #expect(list.failure(for: try identity("u1")) == .revoked, "a token that does not say when counts as older")
        #expect(list.failure(for: try identity("u2")) == nil)
    }

    @Test func theLaterOfTwoTimesCounts() throws {
        let user = Array("u1".utf8)
        for list in [
            list(.user(user, until: 5), .user(user, until: 9)), list(.user(user, until: 9), .user(user, until: 5)),
        ] {
            #expect(list.failure(for: try identity("u1", issuedAt: 9)) == .revoked)
            #expect(list.count == 1)
        }
    }

    @Test func oneTokenIsNamedByItsID() throws {
        let list = list(.token(Array("t1".utf8)))
        #expect(list.failure(for: try identity("u1", issuedAt: now, tokenID: "t1")) == .revoked)
        #expect(list.failure(for: try identity("u1", tokenID: "t2")) == nil)
        #expect(list.failure(for: try identity("t1")) == nil, "a user and a token of one name are two")
    }

    @Test func whatIsOverIsForgotten() throws {
        var list = list(.user(Array("u1".utf8), until: now), .token(Array("t1".utf8)))
        list.forget(now: now + 99)
        #expect(list.count == 2)
        list.add(Revocation(.user(Array("u1".utf8), until: now), forgetAt: now + 200))
        list.forget(now: now + 100)
        #expect(list.count == 1)
        #expect(list.failure(for: try identity("u1")) == .revoked)
        list.forget(now: now + 200)
        #expect(list.count == 0)
    }
}
