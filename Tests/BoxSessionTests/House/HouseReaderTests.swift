import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText
import Testing

@testable import BoxSession

@Suite struct HouseReaderTests {
    /// A reader moved by hand, with answers written out.
    struct Bench {
        var reader: HouseReader
        var now = Duration.zero
        var wall: Date
        var rev: UInt64 = 1
        var carW: Double? = 0
        var healthy = ["garage-charger": true, "grid": true]
        var capabilities = ["api.passthrough", "der.ev"]
        var isOpen = true
        var cars: [CarState]?

        /// - Parameter wall: Monday 30 November 2026, 08:16:40 in Stockholm, 800 s before a quarter.
        init(wall: Date = Date(timeIntervalSince1970: 1_796_023_000), wantsPlan: Bool = false) {
            self.wall = wall
            reader = HouseReader(
                settings: .init(readInterval: .seconds(60), zone: .utc, wantsPlan: wantsPlan))
        }

        /// One event of the session: looks, and gives what is asked.
        mutating func turn(after seconds: Double = 0) -> [String] {
            now += .seconds(seconds)
            wall += seconds
            var site = SiteState(link: Link(state: isOpen ? .live : .lost, since: wall))
            site.box = BoxFacts(
                id: nil, build: "x", zone: "Europe/Stockholm", role: nil, scopes: nil,
                capabilities: capabilities)
            site.power = Power(carW: carW, at: wall)
            site.sources = healthy.sorted { $0.key < $1.key }.map { id, isHealthy in
                Source(
                    id: id, name: id, state: isHealthy ? .live : .down, roles: [], lastAnswered: wall,
                    staleAfter: nil, isHealthy: isHealthy)
            }
            reader.observed(.init(site: site, controlRev: rev, isOpen: isOpen), at: now, wall: wall)
            cars = reader.cars(site, boxStartedAt: nil, wall: wall)
            return reader.take(at: now, wall: wall).map { "\($0.kind): \($0.why)" }
        }

        /// The answer about the chargers: one loadpoint with these members beside the usual ones.
        @discardableResult
        mutating func chargers(_ more: [String: JSONValue] = [:]) -> String? {
            let usual: [String: JSONValue] = [
                "id": "garage", "driver_name": "garage-charger", "plugged_in": true, "current_soc": 0.4,
                "soc_source": "inferred", "delivered_wh_session": 0,
            ]
            return answer(
                .chargers,
                ["enabled": true, "loadpoints": [.object(usual.merging(more) { $1 })]])
        }

        @discardableResult
        mutating func answer(_ kind: AskBook.Kind, _ document: JSONValue, status: Int = 200) -> String? {
            reader.finished(
                kind, .success(APIAnswer(status: status, headers: [:], body: document.bytes)), at: now,
                wall: wall)
        }

        mutating func fail(_ kind: AskBook.Kind, _ error: BoxRequestError) -> String? {
            reader.finished(kind, .failure(error), at: now, wall: wall)
        }

        /// A first answer without a goal.
        mutating func start(_ more: [String: JSONValue] = [:]) {
            _ = turn()
            chargers(more)
            _ = turn()
        }
    }

    static let goal: [String: JSONValue] = [
        "target_soc": 0.8, "target_time": "2026-12-01T06:00:00Z",
        "schedule": ["soc": 0.8, "time_of_day_min_utc": 360, "recurring": true],
    ]

    static func windows(_ start: Int64, _ end: Int64) -> [String: JSONValue] {
        goal.merging(["plan_windows": [["start_ms": .int(start * 1_000), "end_ms": .int(end * 1_000)]]]) {
            $1
        }
    }

    // MARK: Whether to ask at all

    @Test(arguments: [
        ([], false), (["der.ev"], false), (["api.passthrough"], false),
        (["api.passthrough", "der.ev"], true),
    ])
    func onlyABoxWithChargersAndTheInterfaceIsAsked(capabilities: [String], isAsked: Bool) {
        var bench = Bench()
        bench.capabilities = capabilities
        #expect(bench.turn().isEmpty != isAsked)
        #expect((bench.reader.nextDeadline(at: bench.now, wall: bench.wall) == nil))
    }

    @Test func withoutAStreamNothingIsAsked() {
        var bench = Bench()
        bench.isOpen = false
        #expect(bench.turn().isEmpty)
        bench.isOpen = true
        #expect(bench.turn() == ["chargers: nothing is known yet"])
    }

    // MARK: Reasons for the chargers

    @Test func eachReasonAsksOnce() {
        var bench = Bench()
        bench.start()
        bench.rev = 2
        #expect(bench.turn(after: 1) == ["chargers: something was set at the box"])
        bench.chargers()
        #expect(bench.turn(after: 1).isEmpty)
        bench.healthy["garage-charger"] = false
        #expect(bench.turn(after: 1) == ["chargers: garage-charger stopped answering"])
        bench.chargers()
        bench.healthy["garage-charger"] = true
        #expect(bench.turn(after: 1) == ["chargers: garage-charger answers again"])
        bench.chargers()
        bench.healthy["grid"] = false
        #expect(bench.turn(after: 1).isEmpty)
        bench.reader.commandEnded()
        #expect(bench.turn(after: 1) == ["chargers: a command ended"])
        bench.chargers()
        bench.reader.refresh()
        #expect(bench.turn(after: 1) == ["chargers: asked for"])
        bench.chargers()
        bench.reader.planPushed(rev: 7)
        #expect(bench.turn(after: 1) == ["chargers: the box pushed a plan"])
        bench.chargers()
        #expect(bench.turn(after: 59).isEmpty)
        #expect(bench.turn(after: 1) == ["chargers: the interval is over"])
    }

    @Test(arguments: [(100.0, false), (101.0, true)])
    func aCarDrawsAboveAHundredWatts(watts: Double, draws: Bool) {
        var bench = Bench()
        bench.start()
        bench.carW = watts
        #expect(bench.turn(after: 1) == (draws ? ["chargers: a car began to draw"] : []))
        bench.chargers()
        #expect(bench.turn(after: 15) == (draws ? ["chargers: once more after a car began to draw"] : []))
    }

    @Test func powerThatDancesAroundTheBoundDoesNotAskEverySecond() {
        var bench = Bench()
        bench.start()
        var count = 0
        for second in 0..<60 {
            bench.carW = second.isMultiple(of: 2) ? 150 : 50
            count += bench.turn(after: 1).count
            bench.chargers()
        }
        #expect(count <= 16)
    }

    @Test func powerOfAnIllSourceIsNoReason() {
        var bench = Bench()
        bench.start()
        bench.carW = nil
        #expect(bench.turn(after: 1).isEmpty)
        bench.carW = 0
        #expect(bench.turn(after: 1).isEmpty)
    }

    // MARK: Reasons for the plan

    @Test func onlyACarWithAGoalNeedsThePlan() {
        var bench = Bench()
        _ = bench.turn()
        bench.chargers(Self.goal)
        #expect(bench.turn() == ["plan: nothing is known yet"])
        var none = Bench()
        _ = none.turn()
        none.chargers(Self.goal.merging(["plugged_in": false]) { $1 })
        #expect(none.turn().isEmpty)
    }

    @Test func aPlanThatIsShownIsReadWithoutAGoal() {
        var bench = Bench(wantsPlan: true)
        #expect(bench.turn() == ["chargers: nothing is known yet", "plan: nothing is known yet"])
    }

    @Test func windowsThatMerelyShrinkAreNoNews() {
        let begin: Int64 = 1_796_023_000 - 60
        var bench = Bench()
        bench.start(Self.windows(begin, begin + 3_600))
        bench.answer(.plan, ["enabled": true])
        #expect(bench.turn(after: 60) == ["chargers: the interval is over"])
        // What has begun is now told from the present on.
        bench.chargers(Self.windows(begin + 120, begin + 3_600))
        #expect(bench.turn(after: 1).isEmpty)
        bench.reader.refresh()
        _ = bench.turn()
        bench.chargers(Self.windows(begin + 120, begin + 7_200))
        #expect(bench.turn(after: 1) == ["plan: the chargers tell of another plan"])
    }

    @Test func afterACommandThePlanIsReadOnceItIsMade() {
        var bench = Bench()
        bench.start(Self.goal)
        bench.answer(.plan, ["enabled": true])
        bench.reader.commandEnded()
        #expect(bench.turn(after: 1) == ["chargers: a command ended"])
        bench.chargers(Self.goal.merging(["plan_pending": true]) { $1 })
        #expect(bench.turn(after: 1).isEmpty)
        #expect(bench.cars?.first?.readiness.state == .replanning)
        bench.reader.refresh()
        _ = bench.turn()
        bench.chargers(Self.goal.merging(["plan_pending": false]) { $1 })
        #expect(bench.turn(after: 1) == ["plan: the chargers tell of another plan"])
    }

    @Test func aCommandWithoutANewPlanInSightReadsItAllTheSame() {
        var bench = Bench()
        bench.start(Self.goal)
        bench.answer(.plan, ["enabled": true])
        bench.reader.commandEnded()
        _ = bench.turn(after: 1)
        bench.chargers(Self.goal)
        #expect(bench.turn(after: 1) == ["plan: a command ended"])
    }

    @Test func theTurnOfAQuarterWakesTheSession() {
        var bench = Bench()
        bench.start(Self.goal)
        bench.answer(.plan, ["enabled": true])
        bench.reader.setReadInterval(.seconds(10_000))
        bench.reader.refresh()
        _ = bench.turn()
        bench.chargers(Self.goal)
        _ = bench.turn()
        // 1796023000 is 800 s before a quarter.
        #expect(bench.reader.nextDeadline(at: bench.now, wall: bench.wall) == bench.now + .seconds(800))
        #expect(bench.turn(after: 800) == ["plan: the quarter turned"])
    }

    // MARK: Answers

    @Test(arguments: [
        BoxRequestError.timedOut, .tooLarge(limit: 9), .malformedAnswer, .queueFull,
    ])
    func whatIsNoAnswerMarksTheLastOneOld(error: BoxRequestError) {
        var bench = Bench()
        bench.start()
        #expect(bench.cars?.first?.isCurrent == true)
        _ = bench.turn(after: 60)
        #expect(bench.fail(.chargers, error) == error.description)
        #expect(bench.turn(after: 1).isEmpty)
        #expect(bench.cars?.first?.isCurrent == false)
        #expect(bench.turn(after: 29) == ["chargers: again after a failure"])
    }

    @Test func anAnswerThatWasLostWithTheLinkIsNoFault() {
        var bench = Bench()
        bench.start()
        _ = bench.turn(after: 60)
        #expect(bench.fail(.chargers, .linkLost) == nil)
        #expect(bench.turn(after: 1) == ["chargers: the interval is over"])
        #expect(bench.cars?.first?.isCurrent == true)
    }

    @Test func anAnswerNoneReadForTooLongIsNotOfNow() {
        var bench = Bench()
        bench.start()
        let readAt = bench.wall
        // The interface has gone without a word; the stream goes on.
        bench.capabilities = ["der.ev"]
        _ = bench.turn(after: 180)
        #expect(bench.cars?.first?.isCurrent == true)
        #expect(bench.turn(after: 1).isEmpty)
        #expect(bench.cars?.first?.isCurrent == false)
        #expect(bench.cars?.first?.level.at == readAt)
    }

    @Test func aChargerThatNeverAnsweredIsNotShownAsNow() {
        var bench = Bench()
        bench.healthy = ["grid": true]
        bench.start()
        #expect(bench.cars?.first?.isCurrent == false)
        // A newer box says itself whether the charger is there.
        bench.reader.refresh()
        _ = bench.turn()
        bench.chargers(["charger": ["known": true, "available": true]])
        _ = bench.turn()
        #expect(bench.cars?.first?.isCurrent == true)
    }

    @Test func unusableFieldsAreNamedOnce() {
        var bench = Bench()
        bench.start(["current_soc": 1.2])
        #expect(bench.reader.newFaults() == ["garage: current_soc"])
        bench.reader.refresh()
        _ = bench.turn()
        bench.chargers(["current_soc": 1.2])
        #expect(bench.reader.newFaults().isEmpty)
    }

    // MARK: Memory

    @Test func aNoteMadeWhileAnAnswerIsUnderWayIsNotJudgedByIt() {
        var bench = Bench()
        bench.start()
        bench.reader.refresh()
        _ = bench.turn(after: 5)
        bench.now += .seconds(1)
        bench.wall += 1
        bench.reader.personSet(loadpoint: "garage", soc: 0.62, boxStartedAt: nil, wall: bench.wall)
        // The old level, read before the box took the new one.
        bench.chargers(["current_soc": 0.4])
        #expect(bench.turn() == ["chargers: a person set the level"])
        bench.chargers(["current_soc": 0.62])
        _ = bench.turn()
        #expect(bench.cars?.first?.level.origin == .person)
    }

    @Test func savesAreRareUnlessAPersonSpoke() {
        var bench = Bench()
        #expect(bench.reader.unsaved(at: bench.now) == nil)
        bench.start()
        #expect(bench.reader.unsaved(at: bench.now) != nil)
        #expect(bench.reader.unsaved(at: bench.now + .seconds(899)) == nil)
        bench.reader.personSet(loadpoint: "garage", soc: 0.4, boxStartedAt: nil, wall: bench.wall)
        #expect(bench.reader.unsaved(at: bench.now + .seconds(1)) != nil)
        #expect(bench.reader.unsaved(at: bench.now + .seconds(2)) == nil)
        #expect(bench.reader.unsaved(at: bench.now + .seconds(901)) != nil)
        #expect(bench.reader.unsaved(at: bench.now + .seconds(902), isLast: true) != nil)
    }

    @Test(arguments: [
        JSONValue.null, [], ["garage": 3], ["garage": ["note": "x", "last_good": ["origin": "moon"]]],
    ])
    func aDamagedMemoryIsNone(memory: JSONValue) {
        var bench = Bench()
        bench.reader.remember(memory)
        bench.start()
        #expect(bench.cars?.first?.level.origin == .estimated)
    }

    @Test func aLevelThatIsNoneIsNotNoted() {
        var bench = Bench()
        bench.start()
        for soc in [-0.1, 1.1, .nan, .infinity] {
            bench.reader.personSet(loadpoint: "garage", soc: soc, boxStartedAt: nil, wall: bench.wall)
        }
        #expect(bench.reader.board.notes.isEmpty)
    }

    // MARK: Clocks

    @Test func aClockThatIsSetBackChangesAges() {
        var bench = Bench()
        bench.start(["soc_source": "vehicle", "vehicle_soc": 0.5, "vehicle_driver": "car"])
        bench.wall += 400
        _ = bench.turn()
        #expect(bench.cars?.first?.level.outdated == true)
        bench.wall -= 400
        _ = bench.turn()
        #expect(bench.cars?.first?.level.outdated == false)
    }
}
