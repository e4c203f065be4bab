import EnergyModel
import FoundationEssentials
import JSONText
import Testing

@Suite struct LevelTrackerTests {
    private let start = at(1_792_825_500)
    private let new =
        "\"plugged_in\":true,\"capacity_source\":\"configured\",\"vehicle_capacity_wh\":50000,"
        + "\"soc_source\":\"inferred\",\"current_soc\":0.6,\"delivered_wh_session\":1000"

    private func read(
        _ tracker: inout CarLevelTracker, _ fields: String, after seconds: Double, boxStartedAt: Date? = nil
    ) throws -> CarLevel {
        let time = start.addingTimeInterval(seconds)
        return tracker.level(
            CarLevelInput(
                loadpoint: try loadpoint(fields), readAt: time, boxStartedAt: boxStartedAt, now: time))
    }

    private func withNote(startedAt: Date?) -> CarLevelTracker {
        var tracker = CarLevelTracker()
        tracker.personSet(PersonNote(soc: 0.6, at: start, sessionWh: 1_000, boxStartedAt: startedAt))
        return tracker
    }

    @Test func unpluggingForgetsThePersonAndTheCar() throws {
        var tracker = withNote(startedAt: nil)
        #expect(try read(&tracker, new, after: 10).origin == .person)
        #expect(try read(&tracker, "\"plugged_in\":false", after: 20).isUnplugged)
        #expect(tracker.note == nil)
        #expect(try read(&tracker, new, after: 30).origin == .estimated)
    }

    @Test func noLevelFromBeforeATripComesBackWithAFreshTime() throws {
        var tracker = CarLevelTracker()
        let car =
            "\"plugged_in\":true,\"soc_source\":\"vehicle\",\"vehicle_driver\":\"t\",\"vehicle_soc\":0.8"
        #expect(try read(&tracker, car, after: 0).origin == .car)
        _ = try read(&tracker, "\"plugged_in\":false", after: 60)
        let stale =
            "\"plugged_in\":true,\"soc_source\":\"assumed\",\"current_soc\":0.2,\"vehicle_driver\":\"t\","
            + "\"vehicle_stale\":true,\"vehicle_soc\":0.8"
        let level = try read(&tracker, stale, after: 3_600)
        #expect(level.origin == .carOld)
        #expect(level.at == nil)
        #expect(level.outdated)
        #expect(level.planCountsFrom == 0.2)
    }

    @Test func aTripNobodySawIsNoticedByTheSessionsEnergy() throws {
        var tracker = CarLevelTracker()
        let car =
            "\"plugged_in\":true,\"soc_source\":\"vehicle\",\"vehicle_driver\":\"t\",\"vehicle_soc\":0.8"
        _ = try read(&tracker, car + ",\"delivered_wh_session\":9000", after: 0)
        let level = try read(
            &tracker,
            "\"plugged_in\":true,\"soc_source\":\"inferred\",\"current_soc\":0.2,\"vehicle_driver\":\"t\","
                + "\"vehicle_stale\":true,\"vehicle_soc\":0.8,\"delivered_wh_session\":0", after: 3_600)
        #expect(level.origin == .carOld)
        #expect(level.at == nil)
    }

    @Test(arguments: [("session", true), ("unavailable", false), ("error", false), ("pending", false)])
    func aBoxRestartKeepsTheEntryOnlyWhenTheBoxKeptIt(retention: String, isKept: Bool) throws {
        var tracker = withNote(startedAt: start.addingTimeInterval(-50_000))
        let fields = new + ",\"soc_retention\":\"\(retention)\""
        let first = try read(&tracker, fields, after: 10, boxStartedAt: start.addingTimeInterval(-50_001))
        #expect(first.origin == .person)
        let second = try read(&tracker, fields, after: 900, boxStartedAt: start.addingTimeInterval(600))
        #expect(second.origin == (isKept ? .person : .estimated))
        #expect((tracker.note == nil) == !isKept)
    }

    @Test func aBoxRestartThatLostTheLevelLosesTheEntry() throws {
        var tracker = withNote(startedAt: start.addingTimeInterval(-50_000))
        let kept = ",\"soc_retention\":\"session\""
        _ = try read(&tracker, new + kept, after: 10, boxStartedAt: start.addingTimeInterval(-50_000))
        let moved = new.replacing("\"current_soc\":0.6", with: "\"current_soc\":0.3")
        let level = try read(&tracker, moved + kept, after: 900, boxStartedAt: start.addingTimeInterval(600))
        #expect(level.origin == .estimated)
    }

    @Test func theEntrySurvivesARestartOfTheBridge() throws {
        let tracker = withNote(startedAt: start.addingTimeInterval(-50_000))
        var reborn = CarLevelTracker(json: try JSONValue(parsing: tracker.json.bytes))
        let level = try read(&reborn, new, after: 600, boxStartedAt: start.addingTimeInterval(-50_000))
        #expect(level.origin == .person)
        #expect(level.person == CarLevel.PersonSet(soc: 0.6, at: start))
    }

    @Test func thePlansNumberStandsBesideAnOldReport() throws {
        var tracker = CarLevelTracker()
        let level = try read(
            &tracker,
            "\"plugged_in\":true,\"soc_source\":\"inferred\",\"current_soc\":0.47,\"vehicle_driver\":\"t\","
                + "\"vehicle_stale\":true,\"vehicle_soc\":0.4,\"vehicle_soc_age_s\":700", after: 0)
        #expect(level.soc == 0.4)
        #expect(level.planCountsFrom == 0.47)
    }

    @Test(arguments: [
        ("\"soc_source\":\"assumed\",\"current_soc\":0.2", true),
        ("\"soc_source\":\"completed\",\"current_soc\":0.8", true),
        ("\"soc_source\":\"inferred\",\"current_soc\":0.2,\"delivered_wh_session\":0", true),
        ("\"soc_source\":\"inferred\",\"current_soc\":0.5,\"delivered_wh_session\":0", false),
        ("\"soc_source\":\"vehicle\",\"vehicle_soc\":0.5", false),
    ])
    func somebodyIsAskedForTheRealLevelOnlyWhenItIsAGuess(fields: String, isAsked: Bool) throws {
        var tracker = CarLevelTracker()
        #expect(try read(&tracker, "\"plugged_in\":true," + fields, after: 0).needsRealLevel == isAsked)
    }

    @Test(arguments: [
        "null", "7", "[]", "{}", "{\"note\":{\"soc\":9}}", "{\"last_good\":{\"origin\":\"x\"}}",
    ])
    func anUnusableMemoryIsForgotten(text: String) throws {
        #expect(CarLevelTracker(json: try JSONValue(parsing: text)) == CarLevelTracker())
    }
}
