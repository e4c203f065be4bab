import EnergyModel
import FoundationEssentials
import Testing

private let now = levelNow

@Suite struct LevelTableTests {
    @Test func theTableIsLongEnough() { #expect(levelRows.count >= 60) }

    @Test(arguments: levelRows)
    func fieldsBecomeALevelWithItsOrigin(row: LevelRow) throws {
        var tracker = CarLevelTracker()
        try prepare(&tracker, row.before)
        let input = CarLevelInput(
            loadpoint: try loadpoint(row.fields), readAt: now.addingTimeInterval(-row.readAgo),
            isOfThisRun: row.isThisRun, isChargerHealthy: row.isHealthy, now: now)
        let level = tracker.level(input)

        #expect(level.origin == row.origin)
        if let percent = row.percent {
            let soc = try #require(level.soc)
            #expect(abs(soc * 100 - percent) < 1e-6)
        } else {
            #expect(level.soc == nil)
        }
        if let ago = row.ago {
            let at = try #require(level.at)
            #expect(abs(now.timeIntervalSince(at) - ago) < 1e-3)
        } else {
            #expect(level.at == nil)
        }
        #expect(level.outdated == row.outdated)
        let zone = try stockholm()
        #expect(Sentence.level(level).text(.en, zone: zone, now: now) == row.en)
        #expect(Sentence.level(level).text(.sv, zone: zone, now: now) == row.sv)
    }

    /// What is written to disk and read again gives the same answer.
    @Test(arguments: levelRows)
    func aRestartChangesNothing(row: LevelRow) throws {
        var tracker = CarLevelTracker()
        try prepare(&tracker, row.before)
        var reborn = CarLevelTracker(json: tracker.json)
        let input = CarLevelInput(
            loadpoint: try loadpoint(row.fields), readAt: now.addingTimeInterval(-row.readAgo),
            isOfThisRun: row.isThisRun, isChargerHealthy: row.isHealthy, now: now)
        #expect(reborn.level(input) == tracker.level(input))
        #expect(reborn.json == tracker.json)
    }

    private func prepare(_ tracker: inout CarLevelTracker, _ before: Before) throws {
        switch before {
        case .nothing: break
        case .car(let percent, let ago): try seeCar(&tracker, percent, ago)
        case .person(let percent, let ago): person(&tracker, percent, ago)
        case .carThenPerson(let carAgo, let personAgo):
            try seeCar(&tracker, 50, carAgo)
            person(&tracker, 60, personAgo)
        case .read(let fields, let ago):
            let time = now.addingTimeInterval(-Double(ago))
            _ = tracker.level(CarLevelInput(loadpoint: try loadpoint(fields), readAt: time, now: time))
        }
    }

    private func seeCar(_ tracker: inout CarLevelTracker, _ percent: Int, _ ago: Int) throws {
        let time = now.addingTimeInterval(-Double(ago))
        let lp = try loadpoint(
            "\(liveCar),\"vehicle_soc\":\(Double(percent) / 100),\"delivered_wh_session\":500")
        _ = tracker.level(CarLevelInput(loadpoint: lp, readAt: time, now: time))
    }

    private func person(_ tracker: inout CarLevelTracker, _ percent: Int, _ ago: Int) {
        tracker.personSet(
            PersonNote(
                soc: Double(percent) / 100, at: now.addingTimeInterval(-Double(ago)), sessionWh: 1_000,
                boxStartedAt: nil))
    }
}
