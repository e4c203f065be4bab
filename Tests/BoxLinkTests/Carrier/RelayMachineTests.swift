import FoundationEssentials
import Testing

@testable import BoxLink

@Suite struct RelayMachineTests {
    /// Hour 500 000, and 100 s into it.
    static let hour: Int64 = 500_000
    static func moment(_ seconds: Double, chance: Double = 0.5) -> RelayMachine.Moment {
        .init(
            monotonic: .seconds(seconds),
            wall: Date(timeIntervalSince1970: Double(hour) * 3_600 + 100 + seconds), chance: chance)
    }
    /// A machine whose first socket is open since second 0.
    static func open(end: RelaySettings.End = .app) -> RelayMachine {
        var machine = RelayMachine(numbers: .init(end: end))
        _ = machine.handle(.started, at: moment(0))
        _ = machine.handle(.socket(1, .opened), at: moment(0))
        return machine
    }
    static func loss(_ actions: [RelayMachine.Action]) -> CarrierLoss? {
        for case .emit(.lost(let loss)) in actions { return loss }
        return nil
    }

    @Test func theFirstDialIsForTheHourOfTheClock() {
        var machine = RelayMachine(numbers: .init())
        #expect(machine.handle(.started, at: Self.moment(0)) == [.dial(1, epoch: Self.hour)])
        #expect(machine.handle(.started, at: Self.moment(0)) == [])
    }

    @Test func wordsAndMessagesArePassedOnAndUnknownWordsAreNot() {
        var machine = Self.open()
        let seen = [.text("ready"), .text("later"), .message([1]), .text("gone"), .pong, .text("ready")]
            .flatMap { (event: WebSocketEvent) in machine.handle(.socket(1, event), at: Self.moment(1)) }
        #expect(seen == [.emit(.ready), .emit(.message([1])), .emit(.gone), .emit(.ready)])
    }

    @Test(
        arguments: [
            (4400, "join", CarrierLoss.Cause.refused(code: 4400)),
            (4400, "binary only", .refused(code: 4400)),
            (4400, "oversize", .refused(code: 4400)),
            (4409, "garbage", .refused(code: 4409)),
            (4409, "500002", .clockWrong),
            (4409, "499998", .clockWrong),
            (4409, "99999999999999999999999", .clockWrong),
            (4410, "500002", .clockWrong),
            (4410, "", .rotated),
            (4429, "full", .refused(code: 4429)),
            (4429, "slow down", .refused(code: 4429)),
            (4429, "streams", .refused(code: 4429)),
            (4429, "rate", .refused(code: 4429)),
            (4429, "slow reader", .refused(code: 4429)),
            (4429, "uplink", .refused(code: 4429)),
            (1009, "", .refused(code: 1009)),
            (1006, "", .closed), (1001, "", .closed), (4999, "anything", .closed),
        ] as [(UInt16, String, CarrierLoss.Cause)])
    func everyOtherCloseCodeBacksOff(code: UInt16, reason: String, cause: CarrierLoss.Cause) {
        var machine = Self.open()
        let actions = machine.handle(.socket(1, .closed(code: code, reason: reason)), at: Self.moment(2))
        #expect(actions.count == 1)
        #expect(Self.loss(actions)?.cause == cause)
        #expect(Self.loss(actions)?.retryIn == .milliseconds(250))
        #expect(machine.deadline == .seconds(2) + .milliseconds(250))
        #expect(machine.epochOffset == 0)
        #expect(Self.loss(actions)?.sentence.contains("anything") == false)
    }

    @Test(arguments: [("499999", -1), ("500000", 0), (" 500001\n", 1)] as [(String, Int64)])
    func aCorrectionOfAtMostOneHourIsAdoptedAtOnce(reason: String, offset: Int64) {
        var machine = Self.open()
        let actions = machine.handle(.socket(1, .closed(code: 4409, reason: reason)), at: Self.moment(1))
        #expect(Self.loss(actions)?.cause == .rotated)
        #expect(actions.last == .dial(2, epoch: Self.hour + offset))
        #expect(machine.epochOffset == offset)
    }

    @Test func theOffsetIsKeptAndNotTheNumber() {
        var machine = Self.open()
        _ = machine.handle(.socket(1, .closed(code: 4409, reason: "499999")), at: Self.moment(1))
        _ = machine.handle(.socket(2, .opened), at: Self.moment(2))
        _ = machine.handle(.socket(2, .closed(code: 1006, reason: "")), at: Self.moment(3_600, chance: 0.5))
        #expect(machine.handle(.timerFired, at: Self.moment(3_700)) == [.dial(3, epoch: Self.hour)])
    }

    @Test func theThirdCorrectionInARowBacksOffAndReadyStartsTheCountAgain() {
        var machine = Self.open()
        let correction = WebSocketEvent.closed(code: 4409, reason: "500001")
        #expect(machine.handle(.socket(1, correction), at: Self.moment(1)).last == .dial(2, epoch: 500_001))
        #expect(machine.handle(.socket(2, correction), at: Self.moment(1)).last == .dial(3, epoch: 500_001))
        let third = machine.handle(.socket(3, correction), at: Self.moment(1))
        #expect(third.count == 1)
        #expect(Self.loss(third)?.retryIn == .milliseconds(250))
        _ = machine.handle(.timerFired, at: Self.moment(2))
        _ = machine.handle(.socket(4, .opened), at: Self.moment(2))
        _ = machine.handle(.socket(4, .text("ready")), at: Self.moment(2))
        #expect(machine.handle(.socket(4, correction), at: Self.moment(3)).last == .dial(5, epoch: 500_001))
    }

    @Test(arguments: [(RelaySettings.End.app, 0.5, 1_500), (.app, 0.0, 0), (.box, 0.5, 2_500)])
    func aTurnedHourIsFollowedAfterAJitter(end: RelaySettings.End, chance: Double, waitMs: Int) {
        var machine = Self.open(end: end)
        let closed = WebSocketEvent.closed(code: 4410, reason: "500001")
        let actions = machine.handle(.socket(1, closed), at: Self.moment(1, chance: chance))
        #expect(Self.loss(actions)?.cause == .rotated)
        #expect(Self.loss(actions)?.retryIn == .milliseconds(waitMs))
        #expect(machine.epochOffset == 1)
    }

    @Test func theBackoffDoublesToAMinuteAndAMessageResetsIt() {
        var machine = Self.open()
        var waits: [Duration] = []
        var now = 1.0
        for number in 1...20 {
            let event = WebSocketEvent.closed(code: 1006, reason: "")
            let actions = machine.handle(.socket(number, event), at: Self.moment(now, chance: 1))
            waits.append(Self.loss(actions)?.retryIn ?? .zero)
            now += 61
            _ = machine.handle(.timerFired, at: Self.moment(now))
            // Opening alone proves nothing: a relay that is full opens too.
            _ = machine.handle(.socket(number + 1, .opened), at: Self.moment(now))
        }
        let expected: [Duration] = [0.5, 1, 2, 4, 8, 16, 32].map { .seconds($0) }
        #expect(Array(waits.prefix(7)) == expected)
        #expect(waits.dropFirst(7).allSatisfy { $0 == .seconds(60) })
        _ = machine.handle(.socket(21, .message([1])), at: Self.moment(now))
        let closed = WebSocketEvent.closed(code: 1006, reason: "")
        let reset = machine.handle(.socket(21, closed), at: Self.moment(now, chance: 1))
        #expect(Self.loss(reset)?.retryIn == .milliseconds(500))
    }

    @Test func aProvenPathResetsTheBackoffToo() {
        var machine = Self.open()
        _ = machine.handle(.socket(1, .closed(code: 1006, reason: "")), at: Self.moment(1))
        _ = machine.handle(.timerFired, at: Self.moment(2))
        _ = machine.handle(.socket(2, .opened), at: Self.moment(2))
        #expect(machine.handle(.pathProven, at: Self.moment(3)) == [])
        let closed = WebSocketEvent.closed(code: 1006, reason: "")
        let actions = machine.handle(.socket(2, closed), at: Self.moment(4, chance: 1))
        #expect(Self.loss(actions)?.retryIn == .milliseconds(500))
    }

    @Test(arguments: [-1.0, .nan, .infinity, 2])
    func aChanceThatIsNoneStillWaitsWithinTheBound(chance: Double) throws {
        var machine = Self.open()
        let closed = WebSocketEvent.closed(code: 1006, reason: "")
        let actions = machine.handle(.socket(1, closed), at: Self.moment(1, chance: chance))
        let wait = try #require(Self.loss(actions)?.retryIn)
        #expect(wait >= .zero && wait <= .milliseconds(500))
    }

    @Test func aDialThatIsNotAnsweredIsGivenUpAfterFifteenSeconds() {
        var machine = RelayMachine(numbers: .init())
        _ = machine.handle(.started, at: Self.moment(0))
        #expect(machine.deadline == .seconds(15))
        #expect(machine.handle(.timerFired, at: Self.moment(14.9)) == [])
        let actions = machine.handle(.timerFired, at: Self.moment(15))
        #expect(actions.first == .close(1))
        #expect(Self.loss(actions)?.cause == .unreachable)
        #expect(machine.handle(.socket(1, .opened), at: Self.moment(15)) == [])
    }

    @Test func aSilentSocketIsPingedAndThenGivenUp() {
        var machine = Self.open()
        #expect(machine.deadline == .seconds(15))
        #expect(machine.handle(.timerFired, at: Self.moment(15)) == [.ping(1)])
        #expect(machine.handle(.timerFired, at: Self.moment(30)) == [.ping(1)])
        #expect(machine.deadline == .seconds(45))
        let actions = machine.handle(.timerFired, at: Self.moment(45))
        #expect(actions.first == .close(1))
        #expect(Self.loss(actions)?.cause == .silent)
    }

    @Test func aPongKeepsAnEmptyRoom() {
        var machine = Self.open()
        for second in stride(from: 15.0, through: 600, by: 15) {
            #expect(machine.handle(.timerFired, at: Self.moment(second)) == [.ping(1)])
            #expect(machine.handle(.socket(1, .pong), at: Self.moment(second)) == [])
        }
    }

    @Test func aRedialDropsTheSocketUnlessItIsYoung() {
        var machine = Self.open()
        #expect(machine.handle(.redialRequested, at: Self.moment(0.9)) == [])
        let actions = machine.handle(.redialRequested, at: Self.moment(1))
        #expect(actions.first == .close(1))
        #expect(Self.loss(actions)?.cause == .redialled)
        #expect(Self.loss(actions)?.retryIn == .zero)
        #expect(actions.last == .dial(2, epoch: Self.hour))
        #expect(machine.handle(.redialRequested, at: Self.moment(1.5)) == [])
        #expect(
            machine.handle(.redialRequested, at: Self.moment(2)) == [.close(2), .dial(3, epoch: Self.hour)])
    }

    @Test func aRedialWhileWaitingDialsAtOnce() {
        var machine = Self.open()
        _ = machine.handle(.socket(1, .closed(code: 1006, reason: "")), at: Self.moment(1))
        #expect(machine.handle(.redialRequested, at: Self.moment(1)) == [.dial(2, epoch: Self.hour)])
    }

    @Test(arguments: [
        (WebSocketFailure.Kind.unreachable, CarrierLoss.Cause.unreachable), (.notAWebSocket, .unreachable),
        (.unknownAuthority, .unknownAuthority), (.wrongHost, .wrongHost), (.tlsFailed, .tlsFailed),
    ])
    func aFailedDialSaysWhy(kind: WebSocketFailure.Kind, cause: CarrierLoss.Cause) {
        var machine = RelayMachine(numbers: .init())
        _ = machine.handle(.started, at: Self.moment(0))
        let failure = WebSocketFailure(kind: kind, detail: "why")
        let actions = machine.handle(.socket(1, .failed(failure)), at: Self.moment(1))
        #expect(Self.loss(actions)?.cause == cause)
        #expect(Self.loss(actions)?.sentence.contains("why") == true)
    }

    @Test func aSecretThatIsTooShortWaitsAMinute() {
        var machine = RelayMachine(numbers: .init())
        _ = machine.handle(.started, at: Self.moment(0, chance: 0))
        let actions = machine.handle(.roomUnknown(1), at: Self.moment(0, chance: 0))
        #expect(Self.loss(actions)?.retryIn == .seconds(60))
        #expect(machine.handle(.roomUnknown(1), at: Self.moment(1)) == [])
    }

    static let socketEvents: [WebSocketEvent] = [
        .opened, .text("ready"), .message([1]), .pong, .closed(code: 4410, reason: "500001"),
        .failed(WebSocketFailure(kind: .unreachable, detail: "")),
    ]

    @Test(arguments: socketEvents)
    func whatADroppedSocketStillSaysIsIgnored(event: WebSocketEvent) {
        var machine = Self.open()
        _ = machine.handle(.redialRequested, at: Self.moment(5))
        #expect(machine.handle(.socket(1, event), at: Self.moment(5)) == [])
        #expect(machine.epochOffset == 0)
    }

    @Test(arguments: socketEvents)
    func nothingHappensBeforeTheStartOrWhileWaiting(event: WebSocketEvent) {
        var fresh = RelayMachine(numbers: .init())
        #expect(fresh.handle(.socket(0, event), at: Self.moment(0)) == [])
        #expect(fresh.handle(.timerFired, at: Self.moment(0)) == [])
        #expect(fresh.handle(.redialRequested, at: Self.moment(0)) == [])

        var waiting = Self.open()
        _ = waiting.handle(.socket(1, .closed(code: 1006, reason: "")), at: Self.moment(1))
        #expect(waiting.handle(.socket(1, event), at: Self.moment(1)) == [])
    }

    @Test(arguments: [WebSocketEvent.text("ready"), .message([1]), .pong])
    func aSocketThatIsNotOpenSaysNothing(event: WebSocketEvent) {
        var machine = RelayMachine(numbers: .init())
        _ = machine.handle(.started, at: Self.moment(0))
        #expect(machine.handle(.socket(1, event), at: Self.moment(0)) == [])
    }

    @Test func opensOnlyOnce() {
        var machine = Self.open()
        #expect(machine.handle(.socket(1, .opened), at: Self.moment(0)) == [])
    }
}
