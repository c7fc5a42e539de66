import TestSupport
import Testing

@testable import Core

/// The tables of close reasons, error codes and namespaces.
@Suite struct TablesTests {
    @Test func closeCodesAreLegalOnTheWire() {
        // RFC 6455 section 7.4: 1004 to 1006 and 1015 never go over the wire; 4000 to 4999 are private.
        for reason in CloseReason.allCases {
            guard let code = reason.webSocketCode else { continue }
            let registered: Set<UInt16> = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1011, 1012, 1013]
            #expect(registered.contains(code) || (4000...4999).contains(code), "\(reason)")
        }
    }

    @Test func closeCodesAreUniqueButForTheTwoOverloads() {
        let byCode = Dictionary(grouping: CloseReason.allCases.filter { $0.webSocketCode != nil }, by: \.webSocketCode)
        #expect(byCode[1013] == [.tryLater, .connectionLimit])
        for (code, reasons) in byCode where code != 1013 { #expect(reasons.count == 1, "\(reasons)") }
    }

    @Test func theDesignsCloseCodesAreKept() {
        let codes: [CloseReason: UInt16] = [
            .badRequest: 4400, .unauthorized: 4401, .forbidden: 4403, .timeout: 4408, .slowConsumer: 4410,
            .rateLimited: 4429, .restart: 1012,
            .tryLater: 1013, .goingAway: 1001, .messageTooBig: 1009, .invalidText: 1007,
        ]
        for (reason, code) in codes { #expect(reason.webSocketCode == code) }
    }

    @Test func namesOnTheWireArePlainAndUnique() {
        let names = CloseReason.allCases.map(\.rawValue)
        #expect(Set(names).count == names.count)
        for name in names + ErrorCode.allCases.map(\.rawValue) {
            #expect(name.utf8.allSatisfy { ASCII.isLower($0) || $0 == UInt8(ascii: "_") }, "\(name)")
        }
    }

    @Test func errorCodesHaveTheirOwnStatus() {
        let statuses = ErrorCode.allCases.map(\.httpStatus)
        #expect(Set(statuses).count == statuses.count)
        #expect(statuses.allSatisfy { (400...599).contains($0) })
        #expect(
            ErrorCode.allCases.map(\.rawValue) == [
                "bad_request", "unauthorized", "forbidden", "not_found", "conflict", "too_large", "rate_limited",
                "unavailable", "internal",
            ])
    }

    @Test func namespacesAreNamespacesAndTheirLogsFinite() {
        for (name, policy) in StandardTables.namespaces {
            #expect(Topic.isNamespace(Array(name.utf8)), "\(name)")
            #expect(policy.logEventsMax >= 0 && policy.logEventsMax <= 1_000, "\(name)")
            #expect(
                policy.logSeconds > 0 && policy.logSeconds <= 7 * 86_400, "\(name): a log is recent events, no archive")
            #expect(policy.publish != .anyone, "\(name)")
            #expect(policy.publish == .service || policy.logBytesMax != nil, "\(name): users choose the sizes")
        }
        #expect(
            StandardTables.namespaces.keys.sorted() == [
                "booking", "challenge", "conversation", "dj", "feed", "order", "phoenix", "session", "shop", "user",
            ])
        #expect(StandardTables.namespaces["user"]?.subscribe == .owner)
        #expect(StandardTables.namespaces["nosuch"] == nil)
    }
}
