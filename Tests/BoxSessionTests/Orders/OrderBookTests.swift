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

    @Test func aNewHoldIsAskedAboutOnce() {
        var book = OrderBook()
        let first = book.holdsSeen([car { _ in }])
        let again = book.holdsSeen([car { _ in }])
        #expect(first.map(\.id) == ["garage"] && again.isEmpty)
        let end = wall + 600
        book.holdEnds("garage", first[0].number, at: end)
        #expect(book.holdEnds(at: .zero, wall: wall) == ["garage": end])
        // Once it is past, nothing is said of it.
        #expect(book.holdEnds(at: .zero, wall: end).isEmpty)
        let changed = book.holdsSeen([car { $0.manualW = 3_680 }])
        #expect(changed.count == 1)
        // An answer about the hold before is too late.
        book.holdEnds("garage", first[0].number, at: end)
        #expect(book.holdEnds(at: .zero, wall: wall).isEmpty)
    }

    @Test func aNewSessionAsksOnceMoreAndKeepsWhatIsKnown() {
        var book = OrderBook()
        let first = book.holdsSeen([car { _ in }])
        book.holdEnds("garage", first[0].number, at: wall + 600)
        book.sessionStarted()
        let again = book.holdsSeen([car { _ in }])
        let quiet = book.holdsSeen([car { _ in }])
        #expect(again.count == 1 && quiet.isEmpty)
        #expect(book.holdEnds(at: .zero, wall: wall) == ["garage": wall + 600])
        book.holdEnds("garage", again[0].number, at: nil)
        #expect(book.holdEnds(at: .zero, wall: wall).isEmpty)
    }

    @Test func aChargerThatIsGoneIsForgotten() {
        var book = OrderBook()
        let first = book.holdsSeen([car { _ in }])
        book.holdEnds("garage", first[0].number, at: wall + 600)
        let none = book.holdsSeen([])
        #expect(none.isEmpty && book.holdEnds(at: .zero, wall: wall).isEmpty)
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
        let ours = book.holdsSeen([car { _ in }])
        #expect(ours.isEmpty)
        #expect(book.holdEnds(at: .seconds(200), wall: wall) == ["garage": wall + 7_000])
    }
}
