import BoxLink
import EnergyModel
import FoundationEssentials
import Testing

@testable import BoxSession

/// Each intent as a command: what goes on the wire, and what must not.
@Suite struct OrderDraftTests {
    /// A charger of 1,380 to 11,000 W on three phases with a car on it.
    static func charger(_ change: (inout Loadpoint) -> Void = { _ in }) -> Loadpoint {
        var loadpoint = Loadpoint(id: "garage")
        loadpoint.pluggedIn = true
        loadpoint.phases = 3
        loadpoint.voltageV = 230
        loadpoint.minPowerW = 1_380
        loadpoint.maxPowerW = 11_000
        loadpoint.currentSoc = 0.4
        change(&loadpoint)
        return loadpoint
    }

    struct Row: Sendable {
        var intent: Intent
        var op: Contract.Op
        var args: CBORMap
        var remaining: Duration?
    }

    static let rows: [Row] = [
        Row(
            intent: .level(.exactly(0.62)), op: .loadpointSoCSet, args: ["id": "garage", "soc": .float(0.62)]),
        Row(intent: .level(.exactly(0)), op: .loadpointSoCSet, args: ["id": "garage", "soc": .float(0)]),
        Row(intent: .level(.step(0.7)), op: .loadpointSoCSet, args: ["id": "garage", "soc": .float(1)]),
        Row(
            intent: .control(.chargeNow(powerW: nil, until: nil)), op: .loadpointHold,
            args: ["id": "garage", "power_w": .float(11_000), "hold_s": 0, "phase_mode": "3p"]),
        Row(
            intent: .control(.chargeNow(powerW: 7_000, until: .distantFuture)), op: .loadpointHold,
            args: ["id": "garage", "power_w": .float(7_000), "hold_s": 1_200, "phase_mode": "3p"],
            remaining: .seconds(1_200)),
        Row(
            intent: .control(.chargeNow(powerW: 7_000, until: .distantFuture)), op: .loadpointHold,
            args: ["id": "garage", "power_w": .float(7_000), "hold_s": 1_800, "phase_mode": "3p"],
            remaining: .seconds(7_200)),
        // Too little for three phases: the box may choose how many.
        Row(
            intent: .control(.chargeNow(powerW: 2_000, until: nil)), op: .loadpointHold,
            args: ["id": "garage", "power_w": .float(2_000), "hold_s": 0]),
        Row(
            intent: .control(.pause), op: .loadpointHold, args: ["id": "garage", "power_w": 0, "hold_s": 0]),
        Row(intent: .control(.plan), op: .loadpointHold, args: ["id": "garage", "clear": true]),
        Row(
            intent: .surplusOnly(true), op: .loadpointSurplusOnlySet,
            args: ["id": "garage", "surplus_only": true]),
        Row(
            intent: .boost(.start(seconds: 600, minBatterySoc: 0.05)), op: .loadpointBoost,
            args: ["id": "garage", "duration_s": 600, "min_battery_soc_pct": 5]),
        Row(intent: .boost(.cancel), op: .loadpointBoost, args: ["id": "garage", "cancel": true]),
        Row(intent: .mode("idle"), op: .siteModeSet, args: ["mode": "idle"]),
    ]

    @Test(arguments: rows)
    func anIntentIsOneCommand(row: Row) throws {
        let draft = try OrderDraft(
            row.intent, loadpoint: "garage", fresh: Self.charger(), modes: ["charge", "idle"],
            remaining: row.remaining)
        #expect(draft.op == row.op && draft.args == row.args)
    }

    @Test(arguments: [
        (7_400.0, 1, 230.0, 7_360.0), (0, 3, 230, 11_040), (11_000, 3, 230, 11_000), (22_000, 3, 230, 22_000),
    ])
    func fullPowerIsTheChargersFullCurrent(maxW: Double, phases: Int, volts: Double, wanted: Double) throws {
        let fresh = Self.charger {
            ($0.maxPowerW, $0.phases, $0.voltageV, $0.minPowerW) = (maxW, phases, volts, nil)
        }
        let draft = try OrderDraft(
            .control(.chargeNow(powerW: nil, until: nil)), loadpoint: "garage", fresh: fresh)
        #expect(draft.args["power_w"] == .float(wanted))
        #expect(draft.args["phase_mode"] == .text(phases == 1 ? "1p" : "3p"))
    }

    struct Refusal: Sendable {
        var intent: Intent
        var kind: BoxRefusalReason.Kind
        var loadpoint: String? = "garage"
        var fresh: Loadpoint? = OrderDraftTests.charger()
        var remaining: Duration?
    }

    static let refusals: [Refusal] = [
        Refusal(intent: .level(.exactly(1.01)), kind: .outOfRange),
        Refusal(intent: .level(.exactly(-0.01)), kind: .outOfRange),
        Refusal(intent: .level(.exactly(.nan)), kind: .outOfRange),
        Refusal(intent: .level(.step(1.5)), kind: .outOfRange),
        Refusal(
            intent: .level(.step(0.05)), kind: .notPluggedIn, fresh: charger { $0.pluggedIn = false }),
        Refusal(intent: .level(.step(0.05)), kind: .notPluggedIn, fresh: charger { $0.currentSoc = nil }),
        Refusal(intent: .level(.exactly(0.5)), kind: .noCharger, loadpoint: nil),
        Refusal(intent: .level(.exactly(0.5)), kind: .noCharger, loadpoint: ""),
        // Outside the charger's own range: refused, never bent into it.
        Refusal(intent: .control(.chargeNow(powerW: 1_379, until: nil)), kind: .outOfRange),
        Refusal(intent: .control(.chargeNow(powerW: 11_001, until: nil)), kind: .outOfRange),
        Refusal(intent: .control(.chargeNow(powerW: 0, until: nil)), kind: .outOfRange),
        Refusal(intent: .control(.chargeNow(powerW: -.infinity, until: nil)), kind: .outOfRange),
        Refusal(intent: .control(.chargeNow(powerW: .nan, until: nil)), kind: .outOfRange),
        Refusal(
            intent: .control(.chargeNow(powerW: 7_000, until: .distantPast)), kind: .outOfRange,
            remaining: .seconds(-1)),
        Refusal(intent: .control(.pause), kind: .notPluggedIn, fresh: charger { $0.pluggedIn = false }),
        Refusal(
            intent: .control(.pause), kind: .unavailable,
            fresh: charger {
                $0.pluggedIn = false
                $0.charger = .init(known: true, available: false)
            }),
        Refusal(intent: .control(.pause), kind: .noCharger, fresh: nil),
        Refusal(intent: .boost(.start(seconds: 59, minBatterySoc: 0.5)), kind: .outOfRange),
        Refusal(intent: .boost(.start(seconds: 14_401, minBatterySoc: 0.5)), kind: .outOfRange),
        Refusal(intent: .boost(.start(seconds: 600, minBatterySoc: 0.04)), kind: .outOfRange),
        Refusal(intent: .boost(.start(seconds: 600, minBatterySoc: .nan)), kind: .outOfRange),
        Refusal(intent: .mode("warp"), kind: .outOfRange, loadpoint: nil),
        Refusal(intent: .goal(.clear), kind: .unsupported),
    ]

    @Test(arguments: refusals)
    func whatCannotBeDoneIsNotEvenSent(row: Refusal) {
        do {
            _ = try OrderDraft(
                row.intent, loadpoint: row.loadpoint, fresh: row.fresh, modes: ["idle"],
                remaining: row.remaining)
            Issue.record("\(row.intent) is no refusal")
        } catch {
            #expect(error.reason.kind == row.kind)
            #expect(error.reason.detail?.isEmpty == false && error.reason.boxCode == nil)
        }
    }

    @Test func onlyWhatNeedsACarIsReadFirst() {
        #expect(OrderDraft.needsLoadpoint(.control(.chargeNow(powerW: nil, until: nil))))
        #expect(OrderDraft.needsLoadpoint(.control(.pause)))
        #expect(OrderDraft.needsLoadpoint(.level(.step(0.05))))
        for intent: Intent in [.level(.exactly(0.5)), .control(.plan), .surplusOnly(true), .mode("idle")] {
            #expect(!OrderDraft.needsLoadpoint(intent))
        }
    }

    @Test(arguments: [(0.2, 1), (1.4, 1), (1.5, 2), (1_799.6, 1_800), (90_000, 1_800)])
    func aHoldIsWholeSecondsWithinWhatABoxAllows(seconds: Double, wanted: Int) {
        #expect(OrderDraft.holdSeconds(for: .seconds(seconds)) == wanted)
    }

    // MARK: The answer

    struct Answer: Sendable {
        var intent: Intent
        var state: String
        var observed: Double?
        var refusal: CBORValue = .null
        var outcome: BoxOutcome
    }

    private static func refused(_ code: String, _ args: CBORValue) -> CBORValue {
        ["code": .text(code), "retryable": false, "args": args]
    }

    static let answers: [Answer] = [
        Answer(
            intent: .level(.exactly(0.62)), state: "applied", observed: 0.6204,
            outcome: .applied(.number(0.6204))),
        Answer(
            intent: .level(.exactly(0.62)), state: "applied", observed: 0.621,
            outcome: .overtaken(.number(0.621))),
        Answer(
            intent: .level(.exactly(0.62)), state: "superseded", observed: 0.4,
            outcome: .overtaken(.number(0.4))),
        Answer(intent: .level(.exactly(0.62)), state: "applied", outcome: .applied(nil)),
        Answer(intent: .level(.exactly(0.62)), state: "unconfirmed", outcome: .unconfirmed),
        Answer(intent: .level(.exactly(0.62)), state: "a later word", outcome: .unconfirmed),
        Answer(intent: .level(.exactly(0.62)), state: "expired", outcome: .expired),
        Answer(
            intent: .level(.exactly(0.62)), state: "rejected", refusal: refused("E_CMD_EXPIRED", [:]),
            outcome: .expired),
        Answer(
            intent: .control(.chargeNow(powerW: 7_000, until: nil)), state: "applied", observed: 7_000,
            outcome: .applied(.number(7_000))),
        // Rounded down to what the charger can be set to.
        Answer(
            intent: .control(.chargeNow(powerW: 7_000, until: nil)), state: "applied", observed: 6_900,
            outcome: .applied(.number(6_900))),
        Answer(
            intent: .control(.chargeNow(powerW: 7_000, until: nil)), state: "applied", observed: 4_140,
            outcome: .overtaken(.number(4_140))),
        Answer(
            intent: .control(.chargeNow(powerW: 7_000, until: nil)), state: "superseded", observed: 0,
            outcome: .overtaken(.text("paused"))),
        Answer(
            intent: .control(.pause), state: "applied", observed: 0, outcome: .applied(.text("paused"))),
        Answer(intent: .control(.plan), state: "applied", observed: 0, outcome: .applied(.text("plan"))),
        Answer(
            intent: .control(.plan), state: "applied", observed: 3_680, outcome: .overtaken(.number(3_680))),
        Answer(intent: .surplusOnly(true), state: "applied", observed: 1, outcome: .applied(.flag(true))),
        Answer(intent: .surplusOnly(true), state: "applied", observed: 0, outcome: .overtaken(.flag(false))),
        Answer(intent: .boost(.cancel), state: "applied", observed: 0, outcome: .applied(.flag(false))),
        Answer(
            intent: .boost(.start(seconds: 600, minBatterySoc: 0.5)), state: "applied", observed: 0,
            outcome: .overtaken(.flag(false))),
        Answer(intent: .mode("idle"), state: "applied", observed: 1, outcome: .applied(.text("idle"))),
        Answer(intent: .mode("idle"), state: "applied", observed: 0, outcome: .overtaken(.text("charge"))),
        Answer(intent: .mode("idle"), state: "superseded", observed: -1, outcome: .overtaken(nil)),
        Answer(intent: .mode("idle"), state: "superseded", observed: 0.5, outcome: .overtaken(nil)),
        Answer(
            intent: .level(.exactly(0.62)), state: "rejected",
            refusal: refused("E_UNAVAILABLE", ["reason": "unplugged"]),
            outcome: .refused(
                BoxRefusalReason(kind: .notPluggedIn, boxCode: "E_UNAVAILABLE", detail: "reason=unplugged"))),
        Answer(
            intent: .control(.plan), state: "rejected",
            outcome: .refused(BoxRefusalReason(kind: .unavailable, detail: "the box gave no reason"))),
    ]

    @Test(arguments: answers)
    func doneIsWhatTheBoxReadBack(row: Answer) throws {
        let draft = try OrderDraft(
            row.intent, loadpoint: "garage", fresh: Self.charger { $0.stepsW = [4_140, 6_900, 11_000] },
            modes: ["charge", "idle"])
        var members: [(String, CBORValue)] = [("cmdId", "c"), ("state", .text(row.state))]
        if let observed = row.observed {
            members.append(("observed", ["value": .float(observed), "src": "core", "uptimeMs": 1]))
        }
        if !row.refusal.isNull { members.append(("error", row.refusal)) }
        let result = try CommandResultMessage(body: .map(CBORMap(members)))
        #expect(draft.outcome(of: result) == row.outcome)
    }
}
