import BoxSimulator
import EnergyModel
import FoundationEssentials
import JSONText
import TestSupport
import Testing

@testable import BoxSession

/// Every situation of a car, from the box's document to what is shown.
@Suite struct CarSituationTests {
    /// Monday 30 November 2026, 20:01:40 in the house: tomorrow's prices are known.
    static let evening = Date(timeIntervalSince1970: 1_796_065_300)
    /// Tuesday 07:00 in the house.
    static let morning = Date(timeIntervalSince1970: 1_796_104_800)

    struct Row: Sendable, CustomTestStringConvertible {
        var situation: CarSituation
        var vintage = BoxVintage.soc
        var origin = CarLevel.Origin.car
        var soc: Double?
        /// Seconds before the read; `nil` when no time is told.
        var age: Double?
        var outdated = false
        var needsRealLevel = false
        var goal: Double? = 0.8
        var state = Readiness.State.onTrack
        var reason: Readiness.Reason?
        var testDescription: String { "\(situation) on \(vintage)" }
    }

    static let rows: [Row] = [
        Row(
            situation: .unplugged, origin: .unknown, state: .unknown, reason: .unplugged),
        Row(situation: .assumed, origin: .assumed, soc: 0.2, needsRealLevel: true),
        Row(situation: .estimated(0.55), origin: .estimated, soc: 0.55),
        Row(situation: .carLive(0.63), soc: 0.63, age: 0),
        Row(situation: .carLive(0.63), vintage: .late, soc: 0.63, age: 4),
        Row(
            situation: .carLive(0.63), vintage: .base, soc: 0.63, age: 0),
        Row(
            situation: .carOld(0.5, ageSeconds: 900), vintage: .late, origin: .carOld, soc: 0.5, age: 900,
            outdated: true),
        Row(situation: .carOld(0.5, ageSeconds: 900), origin: .estimated, soc: 0.5),
        Row(
            situation: .carFlaggedOld(0.5), vintage: .late, origin: .carOld, soc: 0.5, age: 30, outdated: true
        ),
        Row(situation: .personSet(0.6), origin: .estimated, soc: 0.6),
        Row(situation: .late(shortfallWh: 13_500), soc: 0.3, age: 0, state: .late),
        Row(situation: .noGoal, soc: 0.5, age: 0, goal: nil, state: .noGoal, reason: .noGoal),
        Row(situation: .holding(7_400), soc: 0.5, age: 0, state: .onHold, reason: .hold),
        Row(situation: .holding(0), soc: 0.5, age: 0, state: .onHold, reason: .hold),
        Row(situation: .replanning, soc: 0.5, age: 0, state: .replanning, reason: .planning),
        Row(situation: .noPlan, soc: 0.5, age: 0, state: .unknown, reason: .noPlan),
        Row(situation: .twoChargers, soc: 0.5, age: 0),
        Row(
            situation: .oldBox, vintage: .base, origin: .estimated, soc: 0.2, needsRealLevel: true),
    ]

    @Test(arguments: rows)
    func aSituationIsShownAsItIs(row: Row) async throws {
        var setup = HouseStage.Plan()
        setup.vintage = row.vintage
        setup.situation = row.situation
        setup.wall = Self.evening
        try await HouseStage.run(setup) { stage in
            let car = try #require(await stage.car())
            #expect(car.isCurrent)
            #expect(car.level.origin == row.origin)
            #expect(rounded(car.level.soc) == row.soc)
            #expect(car.level.isUnplugged == (row.situation == .unplugged))
            // An old word was said before the situation was arranged, a live one before the read.
            let age = car.level.at.map { (row.outdated ? Self.evening : car.readAt).timeIntervalSince($0) }
            #expect(age == row.age)
            #expect(car.level.outdated == row.outdated)
            #expect(car.level.needsRealLevel == row.needsRealLevel)
            #expect(car.goal?.soc == row.goal)
            #expect(car.goal?.nextDeadline == (row.goal == nil ? nil : Self.morning))
            #expect(car.readiness.state == row.state)
            #expect(car.readiness.reason == row.reason)
            #expect(car.goal.map { $0.minuteOfDay } == (row.goal == nil ? nil : 420))
        }
    }

    private func rounded(_ soc: Double?) -> Double? { soc.map { ($0 * 1_000).rounded() / 1_000 } }

    @Test func whatIsMissingAndWhenItChargesComeFromThePlan() async throws {
        var setup = HouseStage.Plan()
        setup.situation = .late(shortfallWh: 13_500)
        setup.wall = Self.evening
        try await HouseStage.run(setup) { stage in
            let late = try #require(await stage.car()).readiness
            #expect(late.shortfallWh == 13_500)
            #expect(late.expectedSoc.map { ($0 * 1_000).rounded() } == 575)
            #expect(late.by == Self.morning)
            #expect(!late.windows.isEmpty)
            #expect(late.assumedFrom == nil)
        }
    }

    @Test func whatBuildsOnAGuessSaysSo() async throws {
        var setup = HouseStage.Plan()
        setup.situation = .assumed
        setup.wall = Self.evening
        try await HouseStage.run(setup) { stage in
            #expect(await stage.car()?.readiness.assumedFrom == 0.2)
        }
    }

    @Test func twoChargersAreTwoCars() async throws {
        var setup = HouseStage.Plan()
        setup.situation = .twoChargers
        setup.wall = Self.evening
        try await HouseStage.run(setup) { stage in
            let cars = await stage.cars
            #expect(cars.map(\.loadpoint.id) == ["garage", "carport"])
            #expect(cars.map { ($0.level.soc ?? 0) } == [0.5, 0.66])
            // Only the one whose charger is ill turns old.
            await stage.box.setSource("carport-charger", .offline)
            await stage.pass(3)
            #expect(await stage.cars.map(\.isCurrent) == [true, false])
            #expect(await stage.cars.map(\.level.outdated) == [false, true])
            #expect(await stage.cars.map(\.level.soc) == [0.5, 0.66])
        }
    }

    @Test func theCarsWordGrowsOldWhileNobodyReadsAgain() async throws {
        var setup = HouseStage.Plan()
        setup.situation = .carLive(0.63)
        setup.readInterval = .seconds(600)
        try await HouseStage.run(setup) { stage in
            let readAt = try #require(await stage.car()).readAt
            let left = 300 - Int(stage.time.wall.timeIntervalSince(readAt))
            await stage.pass(left)
            #expect(await stage.car()?.level.origin == .car)
            await stage.pass(1)
            let old = try #require(await stage.car())
            #expect(old.level.origin == .carOld && old.level.outdated && old.level.at == readAt)
            #expect(old.readAt == readAt)
        }
    }

    @Test func theDeadlinePassesWithoutARead() async throws {
        var setup = HouseStage.Plan()
        setup.situation = .carLive(0.63)
        setup.readInterval = .seconds(600)
        setup.wall = Self.morning.addingTimeInterval(-30)
        try await HouseStage.run(setup) { stage in
            #expect(await stage.car()?.goal?.nextDeadline == Self.morning)
            await stage.box.clearLog()
            await stage.pass(27)
            #expect(await stage.car()?.goal?.nextDeadline == Self.morning)
            #expect(await stage.asked.isEmpty)
            await stage.pass(1)
            #expect(
                await stage.car()?.goal?.nextDeadline == Self.morning.addingTimeInterval(86_400))
        }
    }

    @Test func aCarThatLeavesTakesItsLevelAlong() async throws {
        var setup = HouseStage.Plan()
        setup.situation = .carLive(0.63)
        try await HouseStage.run(setup) { stage in
            await stage.box.setCar(.unplugged)
            await stage.pass(60)
            #expect(await stage.car()?.level == CarLevel(isUnplugged: true))
            await stage.box.setCar(.assumed)
            await stage.pass(60)
            let level = try #require(await stage.car()).level
            #expect(level.origin == .assumed && level.soc == 0.2 && level.at == nil)
        }
    }

    // MARK: The household's zone

    @Test(arguments: [
        ("Europe/Stockholm", false, 420), ("Local", true, 480), ("UTC", true, 480), ("", true, 480),
        ("Nowhere/Atlantis", true, 480),
    ])
    func readyTimesAreOnTheHouseholdsClock(box: String, isHomeTime: Bool, minute: Int) async throws {
        var setup = HouseStage.Plan()
        setup.situation = .carLive(0.5)
        setup.zoneName = box
        setup.zone = try #require(Zone(named: "Europe/Helsinki"))
        try await HouseStage.run(setup) { stage in
            let goal = try #require(await stage.car()?.goal)
            #expect(goal.zone.isHomeTime == isHomeTime)
            #expect(goal.minuteOfDay == minute)
            #expect(goal.nextDeadline == Self.morning)
        }
    }

    // MARK: What a person entered

    @Test func aPersonsLevelIsRememberedOverARestart() async throws {
        var setup = HouseStage.Plan()
        setup.situation = .personSet(0.6)
        let setAt = try await {
            var at: Date?
            try await HouseStage.run(setup) { stage in
                await stage.session.personSet(loadpoint: "garage", soc: 0.6)
                at = stage.time.wall
                await stage.pass(2)
                let level = try #require(await stage.car()).level
                #expect(level.origin == .person && level.at == at)
                #expect(stage.memory.saves >= 2)
            }
            return at
        }()
        // The bridge starts again; the box and the car stayed as they were.
        setup.wall += 60
        try await HouseStage.run(setup) { stage in
            let level = try #require(await stage.car()).level
            #expect(level.origin == .person)
            #expect(level.person == setAt.map { CarLevel.PersonSet(soc: 0.6, at: $0) })
            // The car speaks: it knows better, for good.
            await stage.box.setCar(.carLive(0.58))
            await stage.pass(60)
            #expect(await stage.car()?.level.origin == .car)
            await stage.box.setCar(.estimated(0.6))
            await stage.pass(60)
            #expect(await stage.car()?.level.origin == .estimated)
        }
    }

    @Test func aNoteOfAnotherBoxIsNotOurs() async throws {
        let memory = HouseStage.KeptMemory()
        memory.save(
            "car_levels",
            [
                "box": "another",
                "cars": ["garage": ["note": ["soc": 0.6, "at_ms": 1_796_022_000_000]]],
            ])
        var setup = HouseStage.Plan()
        setup.situation = .personSet(0.6)
        setup.memory = memory
        try await HouseStage.run(setup) { stage in
            #expect(await stage.car()?.level.origin == .estimated)
        }
    }

    @Test func somebodyElseWhoMovesTheLevelEndsTheNote() async throws {
        var setup = HouseStage.Plan()
        setup.situation = .personSet(0.6)
        try await HouseStage.run(setup) { stage in
            await stage.session.personSet(loadpoint: "garage", soc: 0.6)
            await stage.pass(2)
            #expect(await stage.car()?.level.origin == .person)
            await stage.box.setCar(.estimated(0.7))
            await stage.pass(60)
            #expect(await stage.car()?.level.origin == .estimated)
        }
    }
}
