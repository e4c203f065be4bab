import EnergyModel
import FoundationEssentials
import JSONText
import Testing

@testable import BoxSession

/// A wish merged into what the box holds: written whole, and known again.
@Suite struct GoalEditTests {
    private func zone(_ name: String = "Europe/Stockholm") throws -> HouseholdZone {
        HouseholdZone(boxZone: nil, configured: try #require(Zone(named: name)))
    }

    /// 15 January and 15 July 2026, 08:00 UTC.
    private let winter = Date(timeIntervalSince1970: 1_768_464_000)
    private let summer = Date(timeIntervalSince1970: 1_784_102_400)

    private static let held = Schedule(
        soc: 0.8, localMinute: 420, utcMinute: 300, recurring: true, days: .weekdays, surplusUnlockSoc: 0.9)

    private func edit(
        _ soc: Double? = nil, _ minute: Int? = nil, _ days: Int? = nil, _ recurring: Bool? = nil,
        into read: Schedule? = Self.held, at now: Date? = nil
    ) throws -> GoalEdit {
        try GoalEdit(
            .change(soc: soc, minuteOfDay: minute, days: days, isRecurring: recurring), into: read,
            zone: zone(), now: now ?? winter)
    }

    @Test func bothTimesAreWrittenAndTheSunRuleIsCarriedOver() throws {
        for (now, utc) in [(winter, Int64(250)), (summer, 190)] {
            let body = try edit(0.6, 310, at: now).body
            #expect(body["soc"]?.doubleValue == 0.6)
            #expect(body["time_of_day_min"] == .int(310) && body["time_of_day_min_utc"] == .int(utc))
            #expect(body["recurring"] == true && body["days"] == .int(31))
            #expect(body["surplus_unlock_bat_soc"]?.doubleValue == 0.9)
        }
    }

    @Test func whatIsNotNamedStays() throws {
        #expect(
            try edit(0.6).wanted == GoalRequest(soc: 0.6, minuteOfDay: 420, recurring: true, days: .weekdays))
        #expect(try edit(nil, 310).wanted?.soc == 0.8)
        #expect(try edit(nil, nil, 96).wanted?.days == .weekends)
        #expect(try edit(nil, nil, nil, false).wanted?.recurring == false)
    }

    @Test func aNewGoalIsForOnceUnlessDaysAreNamed() throws {
        #expect(try edit(0.6, 310, into: nil).wanted?.recurring == false)
        #expect(try edit(0.6, 310, 31, into: Schedule()).wanted?.recurring == true)
        #expect(try edit(0.6, 310, 31, false, into: Schedule()).wanted?.recurring == false)
    }

    @Test func aNamedLevelEndsTheCarsOwnDecision() throws {
        let car = Schedule(soc: 0, localMinute: 420, recurring: true, finishAtVehicleLimit: true)
        #expect(try edit(0.6, into: car).body["finish_at_vehicle_limit"]?.boolValue != true)
        #expect(try edit(nil, 400, into: car).body["finish_at_vehicle_limit"] == true)
    }

    @Test(arguments: [
        (nil as Double?, 310 as Int?, nil as Int?, BoxRefusalReason.Kind.precondition),
        (0.5, nil, nil, .precondition), (0, 310, nil, .outOfRange), (1.01, 310, nil, .outOfRange),
        (.nan, 310, nil, .outOfRange), (0.5, 1_440, nil, .outOfRange), (0.5, -1, nil, .outOfRange),
        (0.5, 310, 128, .outOfRange), (0.5, 310, -1, .outOfRange),
    ])
    func aGoalThatIsNoneIsRefused(soc: Double?, minute: Int?, days: Int?, kind: BoxRefusalReason.Kind) {
        do {
            _ = try edit(soc, minute, days, into: Schedule(surplusUnlockSoc: 0.5))
            Issue.record("no refusal")
        } catch let refused as OrderRefused {
            #expect(refused.reason.kind == kind)
        } catch { Issue.record("\(error)") }
    }

    @Test func daysThatCannotBeReadAreNotGuessed() throws {
        var odd = Self.held
        odd.days = nil
        #expect(throws: OrderRefused.self) { try edit(0.5, into: odd) }
        #expect(try edit(0.5, nil, 0, into: odd).wanted?.days == .everyDay)
    }

    @Test func clearingKeepsTheSunRule() throws {
        let edit = try GoalEdit(.clear, into: Self.held, zone: zone(), now: winter)
        #expect(edit.wanted == nil)
        #expect(edit.body["soc"]?.doubleValue == 0 && edit.body["surplus_unlock_bat_soc"]?.doubleValue == 0.9)
        #expect(try GoalEdit(.clear, into: nil, zone: zone(), now: winter).body.isNull)
        #expect(edit.matches(nil) && edit.matches(Schedule(surplusUnlockSoc: 0.9)))
        #expect(!edit.matches(Self.held))
    }

    // MARK: By value

    @Test func whatIsReadBackIsComparedByValue() throws {
        let edit = try edit(0.6, 310)
        func held(_ change: (inout Schedule) -> Void) -> Schedule {
            var schedule = Schedule(
                soc: 0.6, localMinute: 310, utcMinute: 250, recurring: true, days: .weekdays)
            change(&schedule)
            return schedule
        }
        #expect(edit.matches(held { _ in }))
        #expect(edit.matches(held { $0.soc = 0.6004 }))
        // A box that knows the local time is compared by it alone, an older one by the other.
        #expect(edit.matches(held { $0.utcMinute = 999 }))
        #expect(edit.matches(held { $0.localMinute = nil }))
        let wrong: [(inout Schedule) -> Void] = [
            { $0.soc = 0.61 }, { $0.soc = 0 }, { $0.localMinute = 311 }, { $0.recurring = false },
            { $0.days = .everyDay }, { $0.days = nil },
            {
                $0.localMinute = nil
                $0.utcMinute = 251
            },
        ]
        for change in wrong { #expect(!edit.matches(held(change))) }
        #expect(!edit.matches(nil))
        let daily = try self.edit(0.6, 310, 127)
        #expect(daily.matches(held { $0.days = .everyDay }))
    }

    @Test func aWishCutOffIsKnownByWhatItNamed() throws {
        let zone = try zone()
        func holds(_ wish: Intent.GoalWish, _ schedule: Schedule? = Self.held) -> Bool {
            GoalEdit.holds(wish, schedule, zone: zone, now: winter)
        }
        #expect(holds(.change(soc: 0.8, minuteOfDay: nil, days: nil, isRecurring: nil)))
        #expect(holds(.change(soc: nil, minuteOfDay: 420, days: 31, isRecurring: true)))
        #expect(!holds(.change(soc: 0.7, minuteOfDay: nil, days: nil, isRecurring: nil)))
        #expect(!holds(.change(soc: nil, minuteOfDay: 421, days: nil, isRecurring: nil)))
        #expect(!holds(.change(soc: nil, minuteOfDay: nil, days: 96, isRecurring: nil)))
        #expect(!holds(.change(soc: nil, minuteOfDay: nil, days: 999, isRecurring: nil)))
        #expect(!holds(.change(soc: nil, minuteOfDay: nil, days: nil, isRecurring: false)))
        #expect(!holds(.change(soc: 0.8, minuteOfDay: nil, days: nil, isRecurring: nil), nil))
        #expect(holds(.clear, nil) && !holds(.clear))
    }

    @Test func aGoalIsOneLine() throws {
        let zone = try zone()
        func text(_ schedule: Schedule?) -> String { GoalEdit.text(schedule, zone: zone, now: winter) }
        #expect(text(Self.held) == "80% 07:00 mon,tue,wed,thu,fri")
        #expect(text(Schedule(soc: 0.625, localMinute: 310)) == "62.5% 05:10 once")
        #expect(text(Schedule(soc: 0.5, utcMinute: 300, recurring: true)) == "50% 06:00 daily")
        #expect(text(nil) == "none" && text(Schedule(surplusUnlockSoc: 0.4)) == "none")
        #expect(text(Schedule(soc: 7, localMinute: 0)) == "100% 00:00 once")
    }
}
