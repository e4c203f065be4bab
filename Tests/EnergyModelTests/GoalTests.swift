import EnergyModel
import FoundationEssentials
import JSONText
import Testing

struct DeadlineRow: Sendable, CustomTestStringConvertible {
    let now: Int
    let stored: String
    let days: Int
    let deadline: Int?
    /// The household's clock at the deadline.
    let local: String?

    var testDescription: String { "\(now) \(stored) days \(days)" }

    init(_ now: Int, _ stored: String, _ days: Int, _ deadline: Int?, _ local: String?) {
        (self.now, self.stored, self.days, self.deadline, self.local) = (now, stored, days, deadline, local)
    }
}

private let fri23 = 1_792_749_600  // Fri 23 Oct 2026 12:00 CEST
private let sat24 = 1_792_864_800  // Sat 24 Oct 20:00 CEST
private let sun25 = 1_792_906_200  // Sun 25 Oct 06:30 CET
private let mon26 = 1_792_992_600  // Mon 26 Oct 06:30 CET
private let fri26 = 1_806_058_800  // Fri 26 Mar 2027 12:00 CET
private let sat27 = 1_806_174_000  // Sat 27 Mar 20:00 CET
private let sun28 = 1_806_208_200  // Sun 28 Mar 06:30 CEST
private let mon29 = 1_806_294_600  // Mon 29 Mar 06:30 CEST

private func utc(_ minute: Int) -> String { "\"time_of_day_min_utc\":\(minute)" }
private func local(_ minute: Int) -> String { "\"time_of_day_min\":\(minute)" }

private let deadlineRows = [
    // The worked examples.
    DeadlineRow(fri23, utc(300), 0, 1_792_818_000, "Sat 07:00"),
    DeadlineRow(fri23, local(420), 0, 1_792_818_000, "Sat 07:00"),
    DeadlineRow(fri23, utc(300), 31, 1_792_990_800, "Mon 06:00"),
    DeadlineRow(fri23, local(420), 31, 1_792_994_400, "Mon 07:00"),
    DeadlineRow(sat24, utc(300), 0, 1_792_904_400, "Sun 06:00"),
    DeadlineRow(sat24, local(420), 0, 1_792_908_000, "Sun 07:00"),
    DeadlineRow(sun25, utc(300), 0, 1_792_990_800, "Mon 06:00"),
    DeadlineRow(sun25, utc(360), 0, 1_792_908_000, "Sun 07:00"),
    DeadlineRow(mon26, utc(300), 31, 1_793_077_200, "Tue 06:00"),
    DeadlineRow(mon26, local(420), 31, 1_792_994_400, "Mon 07:00"),
    DeadlineRow(fri23, utc(1_350), 32, 1_792_794_600, "Sat 00:30"),
    // The local minute wins over the UTC one.
    DeadlineRow(fri23, local(420) + "," + utc(600), 0, 1_792_818_000, "Sat 07:00"),
    // The hour that happens twice.
    DeadlineRow(sat24, local(150), 0, 1_792_888_200, "Sun 02:30"),
    DeadlineRow(sat24, utc(30), 0, 1_792_888_200, "Sun 02:30"),
    DeadlineRow(sat24, utc(90), 0, 1_792_891_800, "Sun 02:30"),
    DeadlineRow(1_792_888_200, local(150), 0, 1_792_978_200, "Mon 02:30"),
    // Spring: what was 07:00 in UTC reads 08:00 after the change.
    DeadlineRow(fri26, utc(360), 0, 1_806_127_200, "Sat 07:00"),
    DeadlineRow(fri26, local(420), 0, 1_806_127_200, "Sat 07:00"),
    DeadlineRow(fri26, utc(360), 31, 1_806_300_000, "Mon 08:00"),
    DeadlineRow(fri26, local(420), 31, 1_806_296_400, "Mon 07:00"),
    DeadlineRow(sat27, utc(360), 0, 1_806_213_600, "Sun 08:00"),
    DeadlineRow(sat27, local(420), 0, 1_806_210_000, "Sun 07:00"),
    DeadlineRow(sun28, utc(300), 0, 1_806_210_000, "Sun 07:00"),
    DeadlineRow(sun28, local(420), 0, 1_806_210_000, "Sun 07:00"),
    DeadlineRow(mon29, local(420), 31, 1_806_296_400, "Mon 07:00"),
    DeadlineRow(mon29, local(390), 31, 1_806_381_000, "Tue 06:30"),
    // The hour that never happens: as many minutes after the gap's start.
    DeadlineRow(sat27, local(150), 0, 1_806_197_400, "Sun 03:30"),
    DeadlineRow(sat27, local(120), 0, 1_806_195_600, "Sun 03:00"),
    DeadlineRow(sat27, utc(90), 0, 1_806_197_400, "Sun 03:30"),
    // Midnight belongs to the day that begins.
    DeadlineRow(fri23, local(0), 0, 1_792_792_800, "Sat 00:00"),
    DeadlineRow(fri23, local(0), 32, 1_792_792_800, "Sat 00:00"),
    DeadlineRow(fri23, local(0), 64, 1_792_879_200, "Sun 00:00"),
    DeadlineRow(fri23, local(1_439), 16, 1_792_792_740, "Fri 23:59"),
    DeadlineRow(fri23, utc(1_320), 64, 1_792_879_200, "Sun 00:00"),
    // Strictly after now.
    DeadlineRow(1_792_818_000, local(420), 0, 1_792_908_000, "Sun 07:00"),
    DeadlineRow(1_792_817_999, local(420), 0, 1_792_818_000, "Sat 07:00"),
    DeadlineRow(1_792_818_000, utc(300), 0, 1_792_904_400, "Sun 06:00"),
    // One day of the week, once it has passed today: a week later.
    DeadlineRow(1_792_818_000, local(420), 32, 1_793_426_400, "Sat 07:00"),
    DeadlineRow(fri23, local(420), 127, 1_792_818_000, "Sat 07:00"),
    DeadlineRow(fri23, local(420), 96, 1_792_818_000, "Sat 07:00"),
    DeadlineRow(fri23, local(780), 16, 1_792_753_200, "Fri 13:00"),
]

@Suite struct GoalTests {
    private let dayNames = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

    @Test(arguments: deadlineRows)
    func theNextDeadlineIsTheInstantTheBoxMeans(row: DeadlineRow) throws {
        let lp = try loadpoint(
            "\"schedule\":{\"soc\":0.8,\(row.stored),\"recurring\":true,\"days\":\(row.days)},"
                + "\"target_time\":\"0001-01-01T00:00:00Z\"")
        let goal = try #require(Goal(of: lp, zone: home(), now: at(row.now)))
        #expect(goal.nextDeadline == row.deadline.map(at))
        let zone = try stockholm()
        let text = goal.nextDeadline.map { "\(dayNames[zone.day(of: $0).weekday]) \(zone.clock($0))" }
        #expect(text == row.local)
    }

    @Test func theTablesAreLongEnough() { #expect(deadlineRows.count >= 40) }

    @Test(arguments: [
        (1_792_800_000, "\"time_of_day_min_utc\":300", 420),
        (1_792_900_000, "\"time_of_day_min_utc\":300", 360),
        (sat24, "\"time_of_day_min_utc\":300", 420), (sun25, "\"time_of_day_min_utc\":300", 360),
        (fri26, "\"time_of_day_min_utc\":360", 420), (mon29, "\"time_of_day_min_utc\":360", 480),
        (sun25, "\"time_of_day_min\":420,\"time_of_day_min_utc\":300", 420),
        (fri23, "\"time_of_day_min_utc\":1350", 30), (fri23, "\"time_of_day_min\":0", 0),
    ])
    func theClockTimeIsRightForTodaysOffset(now: Int, stored: String, minute: Int) throws {
        let lp = try loadpoint("\"schedule\":{\"soc\":0.8,\(stored),\"recurring\":true}")
        #expect(try #require(Goal(of: lp, zone: home(), now: at(now))).minuteOfDay == minute)
    }

    @Test(arguments: [
        (
            1_792_840_000,
            "{\"days\":31,\"recurring\":true,\"soc\":0.8,\"time_of_day_min\":420,\"time_of_day_min_utc\":300}"
        ),
        (
            sun25,
            "{\"days\":31,\"recurring\":true,\"soc\":0.8,\"time_of_day_min\":420,\"time_of_day_min_utc\":360}"
        ),
        (
            1_792_880_000,
            "{\"days\":31,\"recurring\":true,\"soc\":0.8,\"time_of_day_min\":420,\"time_of_day_min_utc\":360}"
        ),
        (
            fri26,
            "{\"days\":31,\"recurring\":true,\"soc\":0.8,\"time_of_day_min\":420,\"time_of_day_min_utc\":360}"
        ),
        (
            sun28,
            "{\"days\":31,\"recurring\":true,\"soc\":0.8,\"time_of_day_min\":420,\"time_of_day_min_utc\":300}"
        ),
    ])
    func aSaveSendsBothSpellingsOfTheTime(now: Int, body: String) throws {
        let request = GoalRequest(soc: 0.8, minuteOfDay: 420, recurring: true, days: .weekdays)
        #expect(try request.body(carrying: nil, zone: stockholm(), now: at(now)).text == body)
    }

    @Test func aSaveCarriesOverWhatItWouldErase() throws {
        let lp = try loadpoint(
            "\"schedule\":{\"soc\":0.5,\"time_of_day_min\":300,\"time_of_day_min_utc\":180,\"recurring\":true,"
                + "\"surplus_unlock_bat_soc\":0.7,\"finish_at_vehicle_limit\":true}")
        let request = GoalRequest(soc: 0.8, minuteOfDay: 30, recurring: false)
        let body = try request.body(carrying: lp.schedule, zone: stockholm(), now: at(fri23))
        #expect(
            body == [
                "soc": 0.8, "time_of_day_min": 30, "time_of_day_min_utc": 1_350, "recurring": false,
                "surplus_unlock_bat_soc": 0.7, "finish_at_vehicle_limit": true,
            ])
    }

    @Test func clearingKeepsTheRuleForSpareSun() throws {
        #expect(GoalRequest.clearingBody(carrying: nil) == .null)
        #expect(GoalRequest.clearingBody(carrying: Schedule(soc: 0.8)) == .null)
        let body = GoalRequest.clearingBody(carrying: Schedule(soc: 0.8, surplusUnlockSoc: 0.6))
        #expect(body["surplus_unlock_bat_soc"] == 0.6)
        #expect(body["soc"] == 0)
    }

    @Test(arguments: [
        "", "\"schedule\":null", "\"schedule\":{}", "\"schedule\":{\"surplus_unlock_bat_soc\":0.7}",
        "\"schedule\":{\"soc\":0,\"time_of_day_min_utc\":300}", "\"schedule\":7",
        "\"target_soc\":0.8,\"target_time\":\"0001-01-01T00:00:00Z\"",
        "\"target_soc\":0,\"target_time\":\"2026-10-24T05:00:00Z\"",
    ])
    func aRuleOrNothingIsNoGoal(fields: String) throws {
        #expect(try Goal(of: loadpoint(fields), zone: home(), now: at(fri23)) == nil)
    }

    @Test func theBoxesOwnDeadlineIsBelieved() throws {
        let lp = try loadpoint(
            "\"schedule\":{\"soc\":0.8,\"time_of_day_min_utc\":300,\"recurring\":true},\"target_soc\":0.75,"
                + "\"target_time\":\"2026-10-24T05:30:00.123456789Z\",\"vehicle_charge_limit\":0.7")
        let goal = try #require(Goal(of: lp, zone: home(), now: at(fri23)))
        #expect(goal.nextDeadline.map { $0.timeIntervalSince1970.rounded(.down) } == 1_792_819_800)
        #expect(goal.soc == 0.7)
        #expect(goal.recurring)
    }

    @Test func aGoalForOnceIsSpentWhenItsTimeHasPassed() throws {
        let fields = "\"schedule\":{\"soc\":0.8,\"time_of_day_min_utc\":300},\"target_soc\":0.8,"
        let before = try loadpoint(fields + "\"target_time\":\"2026-10-24T05:00:00Z\"")
        let goal = try #require(Goal(of: before, zone: home(), now: at(fri23)))
        #expect(!goal.isSpent)
        #expect(goal.nextDeadline == at(1_792_818_000))
        let after = try #require(Goal(of: before, zone: home(), now: at(1_792_818_000)))
        #expect(after.isSpent)
        #expect(after.nextDeadline == nil)
    }

    @Test func aRecurringGoalRollsOver() throws {
        let lp = try loadpoint(
            "\"schedule\":{\"soc\":0.8,\"time_of_day_min\":420,\"recurring\":true},\"target_soc\":0.8,"
                + "\"target_time\":\"2026-10-24T05:00:00Z\"")
        let goal = try #require(Goal(of: lp, zone: home(), now: at(1_792_818_000)))
        #expect(goal.nextDeadline == at(1_792_908_000))
    }

    @Test func aGoalSetPastTheScheduleIsSeen() throws {
        let lp = try loadpoint("\"target_soc\":0.8,\"target_time\":\"2026-10-24T05:00:00Z\"")
        let goal = try #require(Goal(of: lp, zone: home(), now: at(fri23)))
        #expect(goal.minuteOfDay == 420)
        #expect(!goal.recurring)
        #expect(goal.nextDeadline == at(1_792_818_000))
    }

    @Test func untilTheCarStopsIsAGoalWithoutALevel() throws {
        let lp = try loadpoint(
            "\"schedule\":{\"soc\":0,\"time_of_day_min\":420,\"recurring\":true,\"finish_at_vehicle_limit\":true}"
        )
        let goal = try #require(Goal(of: lp, zone: home(), now: at(fri23)))
        #expect(goal.soc == nil)
        #expect(goal.finishesAtVehicleLimit)
        let limited = try loadpoint(
            "\"schedule\":{\"finish_at_vehicle_limit\":true},\"vehicle_charge_limit\":0.9")
        #expect(try #require(Goal(of: limited, zone: home(), now: at(fri23))).soc == 0.9)
    }

    @Test(arguments: [
        ("Europe/Stockholm", "Europe/Stockholm", false), ("Europe/Helsinki", "Europe/Helsinki", false),
        ("Local", "Europe/London", true), ("UTC", "Europe/London", true), ("", "Europe/London", true),
        ("Nope/Zone", "Europe/London", true), (nil, "Europe/London", true), ("Etc/UTC", "Etc/UTC", false),
    ])
    func theHouseholdsZoneIsTheBoxesIfItNamesOne(box: String?, name: String, isHomeTime: Bool) throws {
        let configured = try #require(Zone(named: "Europe/London"))
        let zone = HouseholdZone(boxZone: box, configured: configured)
        #expect(zone.zone.name == name)
        #expect(zone.isHomeTime == isHomeTime)
    }

    @Test func aBoxOnUTCCountsItsWeekdaysThere() throws {
        let lp = try loadpoint(
            "\"schedule\":{\"soc\":0.8,\"time_of_day_min_utc\":1350,\"recurring\":true,\"days\":16}")
        let zone = HouseholdZone(boxZone: "UTC", configured: try stockholm())
        let goal = try #require(Goal(of: lp, zone: zone, now: at(fri23)))
        #expect(goal.nextDeadline == at(1_792_794_600))
    }

    @Test(arguments: ["-1", "128", "255", "1.5", "\"31\""])
    func daysThatAreNoneLeaveTheDeadlineUnknown(days: String) throws {
        let lp = try loadpoint(
            "\"schedule\":{\"soc\":0.8,\"time_of_day_min\":420,\"recurring\":true,\"days\":\(days)}")
        let goal = try #require(Goal(of: lp, zone: home(), now: at(fri23)))
        #expect(goal.days == nil)
        #expect(goal.nextDeadline == nil)
        #expect(lp.faults == ["schedule.days"])
    }
}
