import EnergyModel
import FoundationEssentials
import Testing

/// 09:05 on Saturday 24 October 2026 in Stockholm; that night the clocks go back.
private let now = at(1_792_825_500)

@Suite struct SentenceTimeTests {
    private func both(_ sentence: Sentence) throws -> [String] {
        let zone = try stockholm()
        return Language.allCases.map { sentence.text($0, zone: zone, now: now) }
    }

    /// Seconds since midnight of 25 October: the clock shows 02:00 after two hours and after three.
    @Test(arguments: [
        (6_300, 7_200, "01:45–02:00 summer time", "01:45–02:00 sommartid"),
        (7_200, 10_800, "02:00 summer time–02:00 winter time", "02:00 sommartid–02:00 vintertid"),
        (9_900, 10_800, "02:45 summer time–02:00 winter time", "02:45 sommartid–02:00 vintertid"),
        (8_100, 9_900, "02:15–02:45 summer time", "02:15–02:45 sommartid"),
        (11_700, 13_500, "02:15–02:45 winter time", "02:15–02:45 vintertid"),
        (13_500, 14_400, "02:45 winter time–03:00", "02:45 vintertid–03:00"),
        (3_600, 14_400, "01:00–03:00", "01:00–03:00"),
    ])
    func theHourThatIsThereTwiceIsNamed(start: Int, end: Int, en: String, sv: String) throws {
        let midnight = 1_792_879_200
        let window = ChargingWindow(start: at(midnight + start), end: at(midnight + end))
        #expect(
            try both(.charging(.waiting(window)))
                == ["Next charging tomorrow \(en).", "Nästa laddning i morgon \(sv)."])
        let (zone, now) = (try stockholm(), at(midnight))
        #expect(
            Sentence.charging(.waiting(window)).text(.en, zone: zone, now: now) == "Next charging \(en).")
    }

    @Test func everySentenceNamesTheHourThatIsThereTwice() throws {
        let (first, second) = (at(1_792_879_200 + 9_000), at(1_792_879_200 + 12_600))
        let goal = Goal(soc: 0.8, minuteOfDay: 150, recurring: false, nextDeadline: second, zone: try home())
        var ready = Readiness(state: .onTrack)
        (ready.by, ready.goalSoc) = (first, 0.8)
        let sentences: [Sentence] = [
            .goal(goal), .readiness(ready), .planned(at: first),
            .price(perKWh: 1, unit: "SEK/kWh", until: second),
            .control(.unknown, blockedBy: [], quiet: [], lastWord: second),
            .level(CarLevel(soc: 0.5, origin: .carOld, at: first)),
        ]
        for sentence in sentences {
            let said = try both(sentence)
            #expect(said[0].contains("02:30 summer time") || said[0].contains("02:30 winter time"), "\(said)")
            #expect(said[1].contains("02:30 sommartid") || said[1].contains("02:30 vintertid"), "\(said)")
        }
    }

    /// On 28 March 2027 the clock goes from 02:00 to 03:00: nothing is there twice.
    @Test func aSkippedHourNeedsNoName() throws {
        let zone = try stockholm()
        let midnight = zone.start(of: LocalDay(year: 2027, month: 3, day: 28))
        let window = ChargingWindow(
            start: midnight.addingTimeInterval(6_300), end: midnight.addingTimeInterval(8_100))
        let waiting = Sentence.charging(.waiting(window))
        #expect(waiting.text(.en, zone: zone, now: midnight) == "Next charging 01:45–03:15.")
        #expect(waiting.text(.sv, zone: zone, now: midnight) == "Nästa laddning 01:45–03:15.")
        for quarter in 0..<92 {
            #expect(zone.turn(of: midnight.addingTimeInterval(Double(quarter) * 900)) == nil)
        }
    }

    /// Seconds from 09:05 on the 24th; a date only beyond the days that have a name.
    @Test(arguments: [
        (3_300, 14_100, "10:00 to 13:00", "10:00 till 13:00"),
        (50_100, 57_300, "23:00 to tomorrow 01:00", "23:00 till i morgon 01:00"),
        (57_300, 71_700, "tomorrow 01:00 to 04:00", "i morgon 01:00 till 04:00"),
        (60_900, 68_100, "tomorrow 02:00 summer time to 03:00", "i morgon 02:00 sommartid till 03:00"),
        (154_500, 161_700, "Monday 03:00 to 05:00", "måndag 03:00 till 05:00"),
        (777_300, 784_500, "2 Nov 08:00 to 10:00", "2 nov 08:00 till 10:00"),
    ])
    func theCheapestHoursAreSaidAsPeopleNameDays(start: Int, end: Int, en: String, sv: String) throws {
        let (start, end) = (now.addingTimeInterval(Double(start)), now.addingTimeInterval(Double(end)))
        #expect(
            try both(.cheapest(hours: 3, start: start, end: end, isRunning: false))
                == ["The cheapest 3 h run from \(en).", "De billigaste 3 h är från \(sv)."])
        let running = try both(.cheapest(hours: 3, start: now, end: at(1_792_882_800), isRunning: true))
        #expect(
            running == [
                "The cheapest 3 h run until tomorrow 01:00.", "De billigaste 3 h pågår till i morgon 01:00.",
            ])
        #expect(
            try both(.noCheapest(hours: 3, knownHours: 1.75))
                == [
                    "Prices are known for at most 1.75 h in a row; 3 h are needed.",
                    "Priser är kända för högst 1,75 h i följd; 3 h behövs.",
                ])
    }
}
