import EnergyModel
import FoundationEssentials
import Testing

@testable import BoxSession

/// An order that was cut off, compared with a loadpoint read afterwards.
@Suite struct BoxReadBackTests {
    private static func car(_ change: (inout Loadpoint) -> Void = { _ in }) -> Loadpoint {
        var loadpoint = OrderDraftTests.charger()
        loadpoint.manualActive = false
        loadpoint.surplusOnly = false
        loadpoint.boost = .init()
        loadpoint.boost?.active = false
        change(&loadpoint)
        return loadpoint
    }

    private static func held(_ powerW: Double?) -> Loadpoint {
        car {
            $0.manualActive = true
            $0.manualW = powerW
            $0.stepsW = [6_900, 11_000]
        }
    }

    struct Row: Sendable {
        var intent: Intent
        var loadpoint: Loadpoint
        var answer: BoxReadBack
    }

    static let rows: [Row] = [
        Row(intent: .level(.exactly(0.4)), loadpoint: car(), answer: .matches(.number(0.4))),
        // It may have charged a little since.
        Row(intent: .level(.exactly(0.395)), loadpoint: car(), answer: .matches(.number(0.4))),
        // Within a percent it may as well be what was there before.
        Row(intent: .level(.exactly(0.392)), loadpoint: car(), answer: .differs(.number(0.4))),
        Row(intent: .level(.exactly(0.404)), loadpoint: car(), answer: .differs(.number(0.4))),
        Row(intent: .level(.exactly(0.5)), loadpoint: car(), answer: .differs(.number(0.4))),
        Row(intent: .level(.exactly(0.4)), loadpoint: car { $0.pluggedIn = false }, answer: .differs(nil)),
        Row(intent: .level(.exactly(0.4)), loadpoint: car { $0.currentSoc = nil }, answer: .differs(nil)),
        Row(intent: .level(.step(0.05)), loadpoint: car(), answer: .unknown),
        Row(intent: .control(.plan), loadpoint: car(), answer: .matches(.text("plan"))),
        Row(intent: .control(.plan), loadpoint: held(7_000), answer: .differs(.number(7_000))),
        Row(intent: .control(.pause), loadpoint: held(nil), answer: .matches(.text("paused"))),
        Row(intent: .control(.pause), loadpoint: car(), answer: .differs(.text("plan"))),
        Row(
            intent: .control(.pause), loadpoint: car { $0.manualRestoreUnconfirmed = true },
            answer: .differs(.text("paused"))),
        Row(
            intent: .control(.chargeNow(powerW: nil, until: nil)), loadpoint: held(11_000),
            answer: .matches(.number(11_000))),
        Row(
            intent: .control(.chargeNow(powerW: 7_000, until: nil)), loadpoint: held(6_900),
            answer: .matches(.number(6_900))),
        Row(
            intent: .control(.chargeNow(powerW: 7_000, until: nil)), loadpoint: held(11_000),
            answer: .differs(.number(11_000))),
        Row(
            intent: .control(.chargeNow(powerW: 7_000, until: nil)), loadpoint: car(),
            answer: .differs(.text("plan"))),
        Row(intent: .control(.plan), loadpoint: car { $0.manualActive = nil }, answer: .unknown),
        Row(intent: .surplusOnly(false), loadpoint: car(), answer: .matches(.flag(false))),
        Row(intent: .surplusOnly(true), loadpoint: car(), answer: .differs(.flag(false))),
        Row(intent: .surplusOnly(true), loadpoint: car { $0.surplusOnly = nil }, answer: .unknown),
        Row(intent: .boost(.cancel), loadpoint: car(), answer: .matches(.flag(false))),
        Row(
            intent: .boost(.start(seconds: 600, minBatterySoc: 0.5)), loadpoint: car(),
            answer: .differs(.flag(false))),
        Row(
            intent: .boost(.start(seconds: 600, minBatterySoc: 0.5)),
            loadpoint: car { $0.boost?.active = true }, answer: .matches(.flag(true))),
        Row(intent: .boost(.cancel), loadpoint: car { $0.boost = nil }, answer: .unknown),
        Row(intent: .goal(.clear), loadpoint: car(), answer: .matches(.text("none"))),
        Row(
            intent: .goal(.clear), loadpoint: car { $0.schedule = Schedule(soc: 0.8, localMinute: 420) },
            answer: .differs(.text("80% 07:00 once"))),
        Row(
            intent: .goal(.change(soc: 0.8, minuteOfDay: 420, days: nil, isRecurring: nil)),
            loadpoint: car { $0.schedule = Schedule(soc: 0.8, localMinute: 420) },
            answer: .matches(.text("80% 07:00 once"))),
        Row(intent: .mode("idle"), loadpoint: car(), answer: .unknown),
    ]

    @Test(arguments: rows)
    func theBoxIsComparedByValue(row: Row) {
        let zone = HouseholdZone(boxZone: nil, configured: .utc)
        let now = Date(timeIntervalSince1970: 1_796_023_000)
        #expect(BoxReadBack(row.intent, row.loadpoint, zone: zone, now: now) == row.answer)
    }
}
