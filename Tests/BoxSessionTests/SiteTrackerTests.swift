import BoxLink
import EnergyModel
import FoundationEssentials
import Testing

@testable import BoxSession

/// From wire units to what may be shown.
@Suite struct SiteTrackerTests {
    private let box: FakeBox
    private var tracker = SiteTracker()
    private let wall = Date(timeIntervalSince1970: 1_796_000_000)
    private static let roles: [String: Set<Source.Role>] = [
        "meter": [.meter], "roof": [.solar], "store": [.battery], "car": [.charger],
    ]

    init() throws {
        box = try FakeBox()
        tracker.greeted(try HelloOKMessage(body: box.helloOK()), at: .zero, wall: wall)
        tracker.rolesTold(Self.roles)
    }

    private mutating func apply(_ snap: CBORValue, at second: Double = 0) throws {
        tracker.applied(try SnapMessage(body: snap), at: .seconds(second), wall: wall + second)
    }
    private mutating func apply(delta: CBORValue, at second: Double) throws {
        _ = tracker.applied(try DeltaMessage(body: delta), at: .seconds(second), wall: wall + second)
    }
    private mutating func site(
        at second: Double = 0, state: Link.State = .live, isTableOld: Bool = false
    ) -> SiteState {
        tracker.site(
            link: Link(state: state, since: wall), isTableOld: isTableOld, at: .seconds(second),
            wall: wall + second)
    }

    @Test mutating func beforeASnapshotThereIsNoReading() {
        let site = site()
        #expect(site.power == nil)
        #expect(site.battery == nil)
        #expect(site.control == .unknown)
    }

    @Test mutating func trap16SignsAndUnitsComeOutAsTheModelHasThem() throws {
        try apply(box.snap())
        let site = site()
        #expect(site.power?.solarW == -3_000)
        #expect(site.power?.batteryW == 500)
        #expect(site.power?.carW == 4_000)
        #expect(site.battery?.soc == 0.613)
        #expect(site.power?.at == wall)
    }

    @Test(arguments: [
        ("roof", "solarW"), ("store", "batteryW"), ("car", "carW"), ("meter", "gridW"),
    ])
    mutating func aSourceThatIsDownTakesOnlyItsOwnAndTheHouse(id: String, quantity: String) throws {
        try apply(box.snap(sources: box.table([id: "down"])))
        let power = try #require(site().power)
        #expect((power.gridW == nil) == (quantity == "gridW"))
        #expect((power.solarW == nil) == (quantity == "solarW"))
        #expect((power.batteryW == nil) == (quantity == "batteryW"))
        #expect((power.carW == nil) == (quantity == "carW"))
        #expect(power.houseW == nil)
        #expect((site().battery?.soc == nil) == (quantity == "batteryW"))
    }

    @Test mutating func trap14AZeroOfAnOfflineInverterIsNotShown() throws {
        try apply(box.snap())
        try apply(delta: box.delta(fields: ["3": 0], sources: box.table(["roof": "down"])), at: 1)
        #expect(site(at: 1).power?.solarW == nil)
        try apply(delta: box.delta(fields: ["3": -2_000], sources: box.table()), at: 2)
        #expect(site(at: 2).power?.solarW == nil)
        #expect(site(at: 12).power?.solarW == -2_000)
    }

    @Test mutating func withoutRolesAnyIllSourceTakesSunBatteryAndCarTogether() throws {
        tracker.rolesTold([:])
        try apply(box.snap(sources: box.table(["roof": "down"])))
        let power = try #require(site().power)
        #expect(power.gridW == 1_200)
        #expect(power.solarW == nil)
        #expect(power.batteryW == nil)
        #expect(power.carW == nil)
        #expect(site().battery?.soc == nil)
    }

    @Test mutating func withoutRolesAllIsShownWhileAllIsWell() throws {
        tracker.rolesTold([:])
        try apply(box.snap())
        #expect(site().power?.solarW == -3_000)
        #expect(site().power?.houseW == 700)
    }

    @Test mutating func trap15ASiteWithoutBatteryOrChargerHasNeither() throws {
        let meterOnly: CBORValue = [
            "meter": ["kind": "driver", "name": "meter", "lastOkMs": 1, "staleAfterMs": 1, "state": "live"]
        ]
        try apply(box.snap(fields: ["1": 0, "2": 5, "3": 0, "4": 0, "6": 5], sources: meterOnly))
        let site = site()
        #expect(site.battery == nil)
        #expect(site.power?.carW == nil)
        #expect(site.power?.batteryW == nil)
        #expect(site.power?.solarW == nil)
        #expect(site.power?.gridW == 5)
        #expect(site.power?.houseW == 5)
    }

    @Test(arguments: [-1, 1_001, 32_768])
    mutating func aLevelOutOfRangeIsUnknown(permille: Int64) throws {
        try apply(box.snap(fields: ["1": 0, "2": 0, "5": .int(permille)]))
        #expect(site().battery == Battery(soc: nil, at: wall))
    }

    // MARK: Mode

    @Test(arguments: [(0, "planner_self"), (1, "idle"), (2, nil), (-1, nil), (99, nil)])
    mutating func trap17TheModeIsAnIndexIntoThisSessionsList(index: Int64, key: String?) throws {
        try apply(box.snap(fields: ["1": .int(index), "2": 0]))
        #expect(site().mode?.current?.key == key)
        #expect(site().mode?.catalogue.map(\.key) == ["planner_self", "idle"])
    }

    // MARK: Box facts

    @Test(arguments: [("Local", nil), ("", nil), ("UTC", "UTC"), ("Europe/Stockholm", "Europe/Stockholm")])
    mutating func trap27TheZoneMayBeNoZone(zone: String, expected: String?) throws {
        var hello = try HelloOKMessage(body: box.helloOK())
        hello.zone = zone
        hello.boxID = ""
        tracker.greeted(hello, at: .zero, wall: wall)
        #expect(tracker.facts?.zone == expected)
        #expect(tracker.facts?.id == nil)
    }

    // MARK: Ages

    @Test mutating func trap13AHealthySourceDoesNotAge() throws {
        try apply(box.snap())
        for second in 1...600 { try apply(delta: box.delta(), at: Double(second)) }
        let source = try #require(site(at: 600).sources.first)
        #expect(source.isHealthy)
        #expect(source.lastAnswered == wall - 0.5)
    }

    @Test mutating func aSourceThatNeverAnsweredHasNoTime() throws {
        let table: CBORValue = [
            "meter": ["kind": "driver", "name": "m", "lastOkMs": 0, "staleAfterMs": 0, "state": "never"],
            "old": [
                "kind": "driver", "name": "o", "lastOkMs": .int(box.uptimeMs + 1), "staleAfterMs": 5,
                "state": "live",
            ],
        ]
        try apply(box.snap(sources: table))
        let sources = site().sources
        #expect(sources.map(\.lastAnswered) == [nil, nil])
        #expect(sources.map(\.staleAfter) == [nil, .milliseconds(5)])
    }

    // MARK: Control

    @Test mutating func controlIsYesOnlyWhileEverythingSpeaks() throws {
        try apply(box.snap())
        #expect(site(at: 1).control == Control(answer: .yes, since: wall + 1))
        #expect(site(at: 9).control.since == wall + 1)
        #expect(site(at: 10, state: .lost).control.answer == .unknown)
        #expect(site(at: 11, isTableOld: true).control.answer == .unknown)
    }

    @Test mutating func aSilentSourceMakesItPartly() throws {
        try apply(box.snap(sources: box.table(["roof": "stale", "car": "lagging"])))
        #expect(site().control == Control(answer: .partly, quiet: ["roof"], since: wall))
    }

    @Test mutating func aBlockedBoxIsNotInControl() throws {
        try apply(box.snap(sources: box.table(["meter": "down"]), blocked: ["meter"]))
        #expect(site().control == Control(answer: .no, blockedBy: ["meter"], since: wall))
    }

    @Test mutating func afterARestartNothingOfTheOldRunIsShown() throws {
        try apply(box.snap())
        #expect(site().power != nil)
        tracker.restarted()
        #expect(site().power == nil)
        #expect(site().sources.isEmpty)
        box.uptimeMs = 3_000
        let zero: CBORValue = ["1": 0, "2": 0, "3": 0, "4": 0, "6": 0]
        let table: CBORValue = [
            "meter": ["kind": "driver", "name": "m", "lastOkMs": 0, "staleAfterMs": 0, "state": "never"]
        ]
        try apply(box.snap(fields: zero, sources: table), at: 5)
        #expect(site(at: 5).power == nil)
        #expect(site(at: 5).mode?.current == nil)
        #expect(site(at: 5).control.answer == .unknown)
    }

    // MARK: Roles

    @Test func rolesAreReadFromTheRecordedStatus() throws {
        let answer = APIAnswer(status: 200, headers: [:], body: try Recording.file("api-status.json"))
        #expect(
            RoleReader.roles(in: answer) == [
                "grid-meter": [.meter], "roof-pv": [.solar], "house-battery": [.battery],
                "garage-charger": [.charger],
            ])
    }

    @Test(arguments: [(500, "{}"), (200, "{}"), (200, "no json"), (200, #"{"drivers":[]}"#)])
    func anAnswerWithoutDriversTellsNothing(status: Int, body: String) {
        #expect(RoleReader.roles(in: APIAnswer(status: status, headers: [:], body: Array(body.utf8))) == nil)
    }

    @Test func theRolesAreAskedOncePerRunAndSetOfSources() {
        var ask = RoleAsk()
        #expect(!ask.isDue(at: .zero))
        ask.observed(ids: ["a", "b"], healthyWithoutRole: ["a", "b"])
        #expect(ask.isDue(at: .zero))
        ask.sent()
        #expect(!ask.isDue(at: .zero))
        ask.succeeded()
        ask.observed(ids: ["a", "b"], healthyWithoutRole: [])
        #expect(!ask.isDue(at: .seconds(9_999)))
        ask.observed(ids: ["a", "b", "c"], healthyWithoutRole: [])
        #expect(ask.isDue(at: .zero))
        ask.sent()
        ask.succeeded()
        // A source nobody could name comes to life: once more, and not each time it flaps.
        for isUp in [true, false, true] {
            ask.observed(ids: ["a", "b", "c"], healthyWithoutRole: isUp ? ["c"] : [])
            if ask.isDue(at: .zero) {
                ask.sent()
                ask.succeeded()
            }
        }
        #expect(!ask.isDue(at: .zero))
        ask.restarted()
        ask.observed(ids: ["a", "b", "c"], healthyWithoutRole: [])
        #expect(ask.isDue(at: .zero))
    }

    @Test func aFailedQuestionForRolesWaitsLongerAndLonger() {
        var ask = RoleAsk()
        ask.observed(ids: ["a"], healthyWithoutRole: [])
        var now = Duration.zero
        var pauses: [Duration] = []
        for _ in 0..<7 {
            ask.sent()
            ask.failed(at: now)
            let retryAt = ask.nextDeadline ?? .zero
            pauses.append(retryAt - now)
            #expect(!ask.isDue(at: retryAt - .milliseconds(1)))
            now = retryAt
            #expect(ask.isDue(at: now))
        }
        #expect(pauses == [30, 60, 120, 240, 480, 900, 900].map { .seconds($0) })
        ask.sent()
        ask.failed(at: now)
        ask.sessionStarted()
        #expect(ask.isDue(at: now))
    }
}
