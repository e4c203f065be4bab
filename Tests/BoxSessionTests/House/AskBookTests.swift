import Testing

@testable import BoxSession

@Suite struct AskBookTests {
    typealias Ask = AskBook.Ask
    let all: Set<AskBook.Kind> = [.chargers, .plan]

    /// Both kinds answered at the start.
    private func answered() -> AskBook {
        var book = AskBook()
        _ = book.take(all, at: .zero)
        for kind in AskBook.Kind.allCases { book.answered(kind, at: .zero) }
        return book
    }

    @Test func whatIsNotKnownIsAskedOnceInOrder() {
        var book = AskBook()
        #expect(book.take(all, at: .zero).map(\.kind) == [.chargers, .plan])
        #expect(book.take(all, at: .seconds(1)).isEmpty)
        book.answered(.chargers, at: .seconds(1))
        book.answered(.plan, at: .seconds(1))
        #expect(book.take(all, at: .seconds(9_999)).isEmpty)
        #expect(book.nextDeadline(all) == nil)
    }

    /// Commands one after the other: the chargers are small, a plan is many frames.
    @Test func aPlanIsAskedForAFewTimesInTenSeconds() {
        var book = answered()
        var asked: [(kind: AskBook.Kind, at: Duration)] = []
        func look(_ now: Duration) {
            for ask in book.take(all, at: now) {
                asked.append((ask.kind, now))
                book.answered(ask.kind, at: now)
            }
        }
        for tenth in 1...20 {
            let now = Duration.milliseconds(100 * tenth)
            for kind in all { book.changed(kind, "a command ended") }
            look(now)
        }
        #expect(asked.filter { $0.kind == .chargers }.count == 20)
        // The first was the one at the start.
        #expect(asked.filter { $0.kind == .plan }.map(\.at) == [100, 200, 300].map { .milliseconds($0) })
        // The newest is asked for as soon as it may be, by time alone.
        #expect(book.nextDeadline(all) == .seconds(10))
        look(.milliseconds(9_999))
        #expect(asked.last?.kind == .chargers)
        look(.seconds(10))
        #expect(asked.last?.kind == .plan && book.nextDeadline(all) == nil)
    }

    @Test func whatIsNotWantedWaitsUntilItIs() {
        var book = AskBook()
        #expect(book.take([.chargers], at: .zero).map(\.kind) == [.chargers])
        #expect(book.take([.plan], at: .seconds(5)).map(\.kind) == [.plan])
    }

    @Test func theSameNameIsNotAskedTwiceAndANewOneOnce() {
        var book = answered()
        book.changed(.plan, "the quarter turned")
        book.changed(.plan, "the plan changed")
        #expect(book.take(all, at: .seconds(1)) == [Ask(kind: .plan, why: "the quarter turned")])
        book.answered(.plan, at: .seconds(2))
        #expect(book.take(all, at: .seconds(2)).isEmpty)
    }

    @Test func aNameThatChangesUnderWayIsAskedAfterwardsAndOnlyOnce() {
        var book = answered()
        book.changed(.chargers, "first")
        #expect(book.take(all, at: .seconds(1)).map(\.why) == ["first"])
        book.changed(.chargers, "second")
        book.changed(.chargers, "third")
        #expect(book.take(all, at: .seconds(2)).isEmpty)
        book.answered(.chargers, at: .seconds(3))
        #expect(book.take(all, at: .seconds(3)).map(\.why) == ["second"])
        book.answered(.chargers, at: .seconds(4))
        #expect(book.take(all, at: .seconds(4)).isEmpty)
    }

    @Test(arguments: [(60, false), (61, true)])
    func onlyWhatIsOlderThanItsTimeFallsToALook(age: Int, isAsked: Bool) {
        var book = answered()
        book.looked(at: .seconds(age), "look")
        #expect(book.take(all, at: .seconds(age)).map(\.kind) == (isAsked ? [.chargers] : []))
    }

    @Test func aLookWhileAnAnswerIsUnderWayAsksNothingMore() {
        var book = answered()
        book.changed(.chargers, "first")
        _ = book.take(all, at: .seconds(100))
        book.looked(at: .seconds(101), "look")
        book.answered(.chargers, at: .seconds(102))
        #expect(book.take(all, at: .seconds(102)).isEmpty)
    }

    @Test func theLongestTimeIsThePlans() {
        var book = answered()
        book.looked(at: .seconds(901), "look")
        #expect(book.take(all, at: .seconds(901)).map(\.kind) == [.chargers, .plan])
    }

    @Test func failuresPauseFromHalfAMinuteToAQuarterOfAnHour() {
        var book = AskBook()
        var now = Duration.zero
        var pauses: [Int64] = []
        _ = book.take([.chargers], at: now)
        for _ in 0..<7 {
            book.failed(.chargers, at: now)
            #expect(book.hasFailed(.chargers))
            let retryAt = book.nextDeadline([.chargers]) ?? .zero
            pauses.append((retryAt - now).components.seconds)
            #expect(book.take([.chargers], at: retryAt - .milliseconds(1)).isEmpty)
            now = retryAt
            #expect(book.take([.chargers], at: now).map(\.why) == ["again after a failure"])
        }
        #expect(pauses == [30, 60, 120, 240, 480, 900, 900])
        book.answered(.chargers, at: now)
        #expect(!book.hasFailed(.chargers))
        book.changed(.chargers, "x")
        _ = book.take([.chargers], at: now)
        book.failed(.chargers, at: now)
        #expect(book.nextDeadline([.chargers]) == now + .seconds(30))
    }

    @Test func aReconnectForgetsThePauseAndWhatWasUnderWay() {
        var book = AskBook()
        for _ in 0..<4 {
            _ = book.take([.chargers], at: .seconds(9_000))
            book.failed(.chargers, at: .zero)
        }
        book.reconnected(at: .seconds(9_001))
        #expect(book.take([.chargers], at: .seconds(9_001)).map(\.kind) == [.chargers])
        book.reconnected(at: .seconds(9_002))
        #expect(book.take([.chargers], at: .seconds(9_002)).map(\.kind) == [.chargers])
        book.failed(.chargers, at: .seconds(9_002))
        #expect(book.nextDeadline([.chargers]) == .seconds(9_032))
    }

    @Test func aNewNameDoesNotBreakThePauseAfterAFailure() {
        var book = AskBook()
        _ = book.take([.chargers], at: .zero)
        book.failed(.chargers, at: .zero)
        book.changed(.chargers, "a car began to draw")
        #expect(book.take([.chargers], at: .seconds(29)).isEmpty)
        #expect(book.take([.chargers], at: .seconds(30)).count == 1)
    }

    @Test func anIntervalRunsFromTheNewestQuestion() {
        var book = AskBook()
        _ = book.take([.chargers], at: .zero)
        book.answered(.chargers, at: .seconds(2), standsFor: .seconds(60))
        #expect(book.nextDeadline(all) == .seconds(60))
        book.changed(.chargers, "x")
        _ = book.take([.chargers], at: .seconds(10))
        book.answered(.chargers, at: .seconds(10), standsFor: .seconds(60))
        #expect(book.nextDeadline(all) == .seconds(70))
        #expect(book.take([.chargers], at: .seconds(70)).map(\.why) == ["the interval is over"])
    }

    @Test func aSecondLookComesInTimeAndTheEarlierOneStays() {
        var book = answered()
        book.changes(.chargers, at: .seconds(15), "once more")
        book.changes(.chargers, at: .seconds(18), "later")
        #expect(book.nextDeadline(all) == .seconds(15))
        #expect(book.take(all, at: .seconds(14)).isEmpty)
        #expect(book.take(all, at: .seconds(15)).map(\.why) == ["once more"])
    }

    @Test func anAnswerNobodyAskedForChangesNothing() {
        var book = answered()
        let before = book
        book.answered(.plan, at: .seconds(9))
        #expect(book == before)
    }

    @Test func anAnswerLostWithTheLinkIsNoFailure() {
        var book = answered()
        book.changed(.chargers, "x")
        _ = book.take(all, at: .seconds(1))
        book.lost(.chargers)
        #expect(!book.hasFailed(.chargers))
        #expect(book.take(all, at: .seconds(2)).map(\.kind) == [.chargers])
    }

    @Test func aRestartVoidsEveryAnswer() {
        var book = answered()
        book.restarted()
        #expect(book.take(all, at: .seconds(1)).map(\.why) == ["the box restarted", "the box restarted"])
    }
}
