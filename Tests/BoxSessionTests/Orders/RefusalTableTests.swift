import BoxLink
import EnergyModel
import Testing

@testable import BoxSession

/// What each refusal means; every code of the registry has a meaning.
@Suite struct RefusalTableTests {
    struct Row: Sendable {
        var code: String
        var args: CBORMap = [:]
        var kind: BoxRefusalReason.Kind
    }

    static let rows: [Row] = [
        Row(code: "E_BOOTING", kind: .starting),
        Row(code: "E_UNKNOWN_OP", args: ["op": "loadpoint.soc.set"], kind: .unsupported),
        Row(code: "E_UNKNOWN_OP", args: ["op": "loadpoint.hold", "arg": "id"], kind: .noCharger),
        Row(
            code: "E_UNKNOWN_OP", args: ["op": "loadpoint.soc.set", "arg": "soc", "value": 2],
            kind: .outOfRange),
        Row(code: "E_UNKNOWN_OP", args: ["t": "api.req", "field": "path"], kind: .unsupported),
        Row(code: "E_CMD_EXPIRED", kind: .unavailable),
        Row(code: "E_PRECONDITION", args: ["fid": 5], kind: .precondition),
        Row(code: "E_CONFLICT", args: ["expected": 1, "actual": 2], kind: .conflict),
        Row(code: "E_SCOPE_DENIED", args: ["role": "viewer"], kind: .notAllowed),
        Row(code: "E_GRANT_REVOKED", kind: .notAllowed),
        Row(code: "E_LAST_OWNER_PROTECTED", kind: .notAllowed),
        Row(code: "E_RANGE_TOO_LARGE", kind: .outOfRange),
        Row(code: "E_UNAVAILABLE", args: ["dispatchBlockedBy": ["meter"]], kind: .dispatchBlocked),
        Row(code: "E_UNAVAILABLE", args: ["op": "x", "reason": "unplugged"], kind: .notPluggedIn),
        Row(code: "E_UNAVAILABLE", args: ["subsystem": "loadpoints"], kind: .noCharger),
        Row(code: "E_UNAVAILABLE", args: ["reason": "busy"], kind: .unavailable),
        Row(code: "E_NEEDS_STEP_UP", args: ["tier": "configure"], kind: .needsConsent),
        Row(code: "E_USE_CMD", kind: .unsupported), Row(code: "E_UNSUPPORTED_MEDIA", kind: .unsupported),
        Row(code: "E_WHOLE_DOCUMENT", kind: .unsupported), Row(code: "E_LOCAL_ONLY", kind: .unsupported),
        Row(code: "E_FROM_A_LATER_BOX", kind: .unavailable),
    ]

    @Test(arguments: rows)
    func aRefusalHasAKind(row: Row) {
        let reason = RefusalTable.reason(BoxRefusal(code: row.code, args: row.args))
        #expect(reason.kind == row.kind && reason.boxCode == row.code)
        #expect((reason.detail?.count ?? 0) <= 200)
    }

    @Test func everyCodeOfTheRegistryIsInTheTable() {
        #expect(Set(Contract.ErrorCode.allCases.map(\.rawValue)).isSubset(of: Set(Self.rows.map(\.code))))
    }

    @Test(arguments: [
        (400, BoxRefusalReason.Kind.outOfRange), (404, .noCharger), (403, .notAllowed),
        (409, .conflict), (412, .precondition), (422, .outOfRange), (428, .precondition), (401, .notAllowed),
        (405, .unsupported), (429, .unavailable), (500, .unavailable), (503, .starting), (302, .unavailable),
        (-1, .unavailable),
    ])
    func anAnswerOfTheHandlerHasAKind(status: Int, kind: BoxRefusalReason.Kind) {
        #expect(RefusalTable.reason(status: status, error: "why")?.kind == kind)
        #expect(RefusalTable.reason(status: 204, error: nil) == nil)
    }
}
