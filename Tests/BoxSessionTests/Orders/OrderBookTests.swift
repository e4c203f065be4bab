import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText
import Testing

@testable import BoxSession

/// What is remembered of a box: what it lacks, what broke, when its holds end.
@Suite struct OrderBookTests {
    private func facts(_ build: String, _ capabilities: [String] = ["api.passthrough"]) -> BoxFacts {
        BoxFacts(id: "b", build: build, zone: nil, role: "owner", scopes: nil, capabilities: capabilities)
    }

    // MARK: What the box lacks

    @Test func whatABoxLacksHoldsForItsBuild() {
        var book = OrderBook()
        let isNews = book.learned(lacks: .loadpointSoCSet, build: "1")
        let again = book.learned(lacks: .loadpointSoCSet, build: "1")
        #expect(isNews && !again)
        #expect(book.lacks(.loadpointSoCSet, build: "1") && !book.lacks(.loadpointHold, build: "1"))
        #expect(!book.lacks(.loadpointSoCSet, build: "2") && !book.lacks(.loadpointSoCSet, build: nil))
        #expect(book.unsupported(facts("1")) == [.level])
        #expect(book.unsupported(facts("2")).isEmpty && book.unsupported(nil).isEmpty)
        // The first word of another build forgets the old one.
        _ = book.learned(lacks: .siteModeSet, build: "2")
        #expect(book.unsupported(facts("1")).isEmpty && book.unsupported(facts("2")) == [.mode])
    }

    @Test(arguments: [
        (Contract.Op.loadpointSoCSet, Intent.Kind.level), (.loadpointHold, .control),
        (.loadpointSurplusOnlySet, .surplusOnly), (.loadpointBoost, .boost), (.siteModeSet, .mode),
    ])
    func eachOperationIsBehindOneKindOfIntent(op: Contract.Op, kind: Intent.Kind) {
        var book = OrderBook()
        _ = book.learned(lacks: op, build: "1")
        #expect(book.unsupported(facts("1")) == [kind])
    }

    @Test func withoutThePassthroughThereIsNoGoal() {
        #expect(OrderBook().unsupported(facts("1", [])) == [.goal])
    }

    @Test func itOutlivesARestartAndADamagedFileDoesNotMatter() {
        var book = OrderBook()
        _ = book.learned(lacks: .loadpointSoCSet, build: "1")
        _ = book.learned(lacks: .loadpointBoost, build: "1")
        var second = OrderBook()
        second.recall(book.document)
        #expect(second.lacking == book.lacking)
        for document: JSONValue in [nil, "x", ["build": 1], ["build": "1", "ops": "x"]] {
            var third = OrderBook()
            third.recall(document)
            #expect(third.lacking == OrderBook.Lacking())
        }
        var fourth = OrderBook()
        fourth.recall(["build": "1", "ops": [1, nil, "no.such.op", "loadpoint.hold"]])
        #expect(fourth.lacking.ops == ["loadpoint.hold"])
    }

    // MARK: What broke

    @Test func anOrderThatBrokeIsTakenUpOnceAndTheOldestIsForgotten() {
        var book = OrderBook()
        for number in 0...OrderBook.maxBroken { book.broke("o\(number)", endsAt: .seconds(number)) }
        let forgotten = book.takeBroken("o0")
        let kept = book.takeBroken("o1")
        let again = book.takeBroken("o1")
        #expect(forgotten == nil && kept == .seconds(1) && again == nil)
    }

    @Test func ticketsAreNeverTheSame() {
        var book = OrderBook()
        let tickets = (0..<100).map { _ in book.ticket() }
        #expect(Set(tickets).count == 100)
    }

    @Test func theNextDeadlineIsTheEarliestOfCommandsAndLeases() throws {
        var book = OrderBook()
        #expect(book.nextDeadline == nil)
        book.leases["garage"] = try lease()
        #expect(book.nextDeadline == .seconds(600))
        _ = book.commands.submitted(
            1,
            CommandMessage(
                commandID: "a", operation: "x", args: [:], notValidAfterMs: 1, rev: 1), at: .seconds(10))
        #expect(book.nextDeadline == .seconds(12))
        _ = book.commands.linkLost()
        book.renewing = ["garage"]
        #expect(book.nextDeadline == nil)
    }

    // MARK: When holds end

    private let wall = Date(timeIntervalSince1970: 1_796_023_000)

    private func lease() throws -> Lease {
        try #require(
            Lease(
                number: 9, loadpoint: "garage", powerW: 7_000, phaseMode: nil, stepsW: [], heldW: 7_000,
                holdSeconds: 1_800, endsAt: .seconds(7_200), at: .zero, wall: wall))
    }

    private func car(_ change: (inout Loadpoint) -> Void) -> CarState {
        var loadpoint = Loadpoint(id: "garage")
        loadpoint.manualActive = true
        loadpoint.manualW = 7_000
        change(&loadpoint)
        var car = CarState.unknown(loadpoint: loadpoint)
        car.isCurrent = true
        return car
    }

    private func detail(_ powerW: Double = 7_000, until: Date?, began: Date? = nil) throws -> ManualHoldDetail
    {
        func ms(_ date: Date?) -> JSONValue {
            date.map { .double($0.timeIntervalSince1970 * 1_000) } ?? .null
        }
        return try #require(
            ManualHoldDetail([
                "active": true, "power_w": .double(powerW), "expires_at_ms": ms(until),
                "started_at_ms": ms(began),
            ]))
    }

    private func ends(_ book: OrderBook, _ cars: [CarState]) -> [String: Date] {
        book.holdEnds(cars, at: .zero, wall: wall)
    }

    @Test func aNewHoldIsAskedAboutOnce() throws {
        var book = OrderBook()
        let held = [car { _ in }]
        let first = book.holdsSeen(held)
        let again = book.holdsSeen(held)
        #expect(first.map(\.id) == ["garage"] && again.isEmpty)
        let end = wall + 600
        book.holdEnds("garage", first[0].number, try detail(until: end))
        #expect(ends(book, held) == ["garage": end])
        // Once it is past, nothing is said of it.
        #expect(book.holdEnds(held, at: .zero, wall: end).isEmpty)
        let other = [car { $0.manualW = 3_680 }]
        let changed = book.holdsSeen(other)
        #expect(changed.count == 1)
        // An answer about the hold before is too late.
        book.holdEnds("garage", first[0].number, try detail(until: end))
        #expect(ends(book, other).isEmpty)
    }

    /// Somebody's pause during a timed hold is shown before it has been asked about.
    @Test func anEndIsNotGivenToTheHoldThatTookItsPlace() throws {
        var book = OrderBook()
        let held = [car { _ in }]
        let first = book.holdsSeen(held)
        book.holdEnds("garage", first[0].number, try detail(until: wall + 600))
        #expect(ends(book, [car { $0.manualW = 0 }]).isEmpty)
        #expect(ends(book, [car { $0.manualActive = false }]).isEmpty)
        #expect(ends(book, held) == ["garage": wall + 600])
    }

    /// The box may answer of a hold that is newer than the reading.
    @Test func anAnswerAboutAnotherHoldSaysNothing() throws {
        var book = OrderBook()
        let paused = [car { $0.manualW = 0 }]
        var look = book.holdsSeen(paused)
        book.holdEnds("garage", look[0].number, try detail(until: wall + 600))
        #expect(ends(book, paused).isEmpty)
        let began = [
            car {
                $0.manual = Loadpoint.ManualAccount()
                $0.manual?.startedAt = wall
            }
        ]
        look = book.holdsSeen(began)
        book.holdEnds("garage", look[0].number, try detail(until: wall + 600, began: wall + 5))
        #expect(ends(book, began).isEmpty)
        book.holdEnds("garage", look[0].number, try detail(until: wall + 600, began: wall))
        #expect(ends(book, began) == ["garage": wall + 600])
    }

    /// Until the box was read after our order, what is shown is what was there before.
    @Test func theEndOfAnOrderIsNotThatOfTheHoldBeforeIt() throws {
        var book = OrderBook()
        book.leases["garage"] = try lease()
        var old = car { $0.manualW = 0 }
        old.readAt = wall - 5
        #expect(ends(book, [old]).isEmpty)
        var same = car { _ in }
        same.readAt = wall - 5
        #expect(ends(book, [same]).isEmpty)
        same.readAt = wall + 1
        #expect(ends(book, [same]) == ["garage": wall + 7_200])
        // Renewed, it is the same hold.
        _ = book.leases["garage"]?.renewed(heldW: 7_000, seconds: 1_800, at: .seconds(600), wall: wall + 600)
        #expect(ends(book, [same]) == ["garage": wall + 7_200])
        var pause = old
        pause.readAt = wall + 700
        #expect(ends(book, [pause]).isEmpty)
    }

    @Test func aFractionOfASecondIsNoLease() {
        let short = Lease(
            number: 9, loadpoint: "garage", powerW: 7_000, phaseMode: nil, stepsW: [], heldW: 7_000,
            holdSeconds: 60, endsAt: .milliseconds(60_400), at: .zero, wall: wall)
        #expect(short == nil)
    }

    @Test func aNewSessionAsksOnceMoreAndKeepsWhatIsKnown() throws {
        var book = OrderBook()
        let held = [car { _ in }]
        let first = book.holdsSeen(held)
        book.holdEnds("garage", first[0].number, try detail(until: wall + 600))
        book.sessionStarted()
        let again = book.holdsSeen(held)
        let quiet = book.holdsSeen(held)
        #expect(again.count == 1 && quiet.isEmpty)
        #expect(ends(book, held) == ["garage": wall + 600])
        book.holdEnds("garage", again[0].number, try detail(until: nil))
        #expect(ends(book, held).isEmpty)
    }

    @Test func aChargerThatIsGoneIsForgotten() throws {
        var book = OrderBook()
        let held = [car { _ in }]
        let first = book.holdsSeen(held)
        book.holdEnds("garage", first[0].number, try detail(until: wall + 600))
        let none = book.holdsSeen([])
        #expect(none.isEmpty && ends(book, held).isEmpty)
    }

    @Test func whatIsNotAHoldIsNotAskedAbout() throws {
        var book = OrderBook()
        let none = book.holdsSeen([
            car { $0.manualActive = false }, car { $0.manualActive = nil },
            car { $0.manualRestoreUnconfirmed = true },
        ])
        #expect(none.isEmpty)
        var old = car { _ in }
        old.isCurrent = false
        let unseen = book.holdsSeen([old])
        #expect(unseen.isEmpty)
        // One that we keep alive ends when we say so.
        book.leases["garage"] = try lease()
        var held = car { _ in }
        held.readAt = wall + 1
        let ours = book.holdsSeen([held])
        #expect(ours.isEmpty)
        #expect(book.holdEnds([held], at: .seconds(200), wall: wall) == ["garage": wall + 7_000])
    }
}
