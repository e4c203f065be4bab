import EnergyModel
import FoundationEssentials
import JSONText
import Testing

@testable import Bridge

/// The rules of the desk, one by one.
@Suite struct CommandDeskTests {
    /// A desk with its clock and what came of it.
    struct Table {
        var desk: CommandDesk
        var now = Moment(monotonic: .seconds(100), wall: morning)
        var reports: [StageReport] = []
        var sent: [Command] = []
        var settling: [Command] = []
        var saves = 0

        init(_ ledger: CommandLedger = CommandLedger(), up: Bool = true) {
            desk = CommandDesk(ledger: ledger)
            take(desk.resume(now: now))
            if up { take(desk.linkCameUp(now: now)) }
        }

        mutating func take(_ actions: [CommandDesk.Action]) {
            for action in actions {
                switch action {
                case .save: saves += 1
                case .report(let report): reports.append(report)
                case .execute(let command): sent.append(command)
                case .settle(let command): settling.append(command)
                }
            }
        }

        mutating func pass(_ seconds: Double) {
            let end = now.monotonic + .milliseconds(Int64(seconds * 1_000))
            while let alarm = desk.nextDeadline, alarm <= end {
                now.wall += (max(alarm, now.monotonic) - now.monotonic) / .seconds(1)
                now.monotonic = max(alarm, now.monotonic)
                take(desk.timerFired(now: now))
            }
            now.wall += (end - now.monotonic) / .seconds(1)
            now.monotonic = end
        }

        mutating func ask(_ id: String, _ intent: Intent, loadpoint: String? = "garage", patience: Int = 30) {
            take(
                desk.arrived(
                    Command(
                        id: id, topic: "t", loadpoint: loadpoint, intent: intent, requested: .string(id),
                        deadline: now.monotonic + .seconds(patience)),
                    level: .init(soc: 0.5, readAt: morning), now: now))
        }

        mutating func answer(_ id: String, _ outcome: BoxOutcome) {
            take(desk.acknowledged(id, now: now))
            take(desk.finished(id, outcome, now: now))
        }

        /// The box is read for that id, again and again, and holds something else.
        mutating func differs(_ id: String, _ value: BoxOutcome.BoxValue?, seconds: Int) {
            for _ in 0..<seconds where end(id) == nil {
                take(desk.readBack(id, .differs(value), now: now))
                pass(1)
            }
        }

        func end(_ id: String) -> Stage? { reports.last { $0.id == id && $0.stage.isFinal }?.stage }
        func code(_ id: String) -> CommandCode? { reports.last { $0.id == id }?.code }
        func stages(_ id: String) -> [Stage] { reports.filter { $0.id == id }.map(\.stage) }
    }

    @Test func aCommandIsReceivedAcceptedAndDone() {
        var table = Table()
        table.ask("a", .level(.exactly(0.62)))
        #expect(table.sent.map(\.id) == ["a"])
        table.answer("a", .applied(.number(0.62)))
        #expect(table.stages("a") == [.received, .accepted, .done])
        #expect(table.reports.last?.value == .double(0.62))
        #expect(table.reports.allSatisfy { $0.requested == "a" })
    }

    @Test func fiftyTapsAreAFewSendsAndTheRightLevel() {
        var table = Table()
        var level = 0.5
        var answered = 0
        for tap in 0..<50 {
            table.ask("tap\(tap)", .level(.step(0.05)))
            if tap.isMultiple(of: 10), answered < table.sent.count {
                let command = table.sent[answered]
                answered += 1
                if case .level(.exactly(let soc)) = command.intent { level = soc }
                table.answer(command.id, .applied(.number(level)))
            }
            table.pass(0.04)
        }
        while answered < table.sent.count {
            let command = table.sent[answered]
            answered += 1
            if case .level(.exactly(let soc)) = command.intent { level = soc }
            table.answer(command.id, .applied(.number(level)))
            table.pass(1)
        }
        #expect(level == 1)
        #expect(table.sent.count <= 4)
        let ends = (0..<50).map { table.end("tap\($0)") }
        #expect(ends.filter { $0 == .done }.count == table.sent.count)
        #expect(ends.filter { $0 == .superseded }.count == 50 - table.sent.count)
        #expect(ends.last == .done)
    }

    @Test func aStepCountsFromTheNewestLevelAskedFor() {
        var table = Table()
        table.ask("a", .level(.exactly(0.3)))
        table.ask("b", .level(.step(0.05)))
        table.ask("c", .level(.step(0.05)))
        table.answer("a", .applied(.number(0.3)))
        table.pass(1)
        #expect(table.sent.last?.intent == .level(.exactly(0.4)))
        table.answer("c", .applied(.number(0.4)))
        // The level that is shown is still the old one; the confirmed one is newer.
        table.pass(2)
        table.ask("d", .level(.step(-0.05)))
        #expect(table.sent.last?.intent == .level(.exactly(0.35)))
    }

    @Test func whatWasSentWhenTheLinkBrokeIsReadBackAndNotSentAgain() {
        var table = Table()
        table.ask("a", .control(.pause))
        table.desk.linkWentDown(now: table.now)
        table.take(table.desk.linkBroke("a", acknowledged: false, now: table.now))
        #expect(table.settling.isEmpty)
        table.pass(3)
        table.take(table.desk.linkCameUp(now: table.now))
        #expect(table.settling.map(\.id) == ["a"])
        table.take(table.desk.readBack("a", .matches(.text("paused")), now: table.now))
        #expect(table.end("a") == .done)
        #expect(table.sent.count == 1)
    }

    @Test(arguments: [(true, Stage.unconfirmed), (false, .notDelivered)])
    func aBoxThatHoldsSomethingElseTellsWhetherItArrived(acknowledged: Bool, end: Stage) {
        var table = Table()
        table.ask("a", .control(.pause))
        table.take(table.desk.linkBroke("a", acknowledged: acknowledged, now: table.now))
        // It may still be at it, or begin: until then a look tells nothing.
        table.differs("a", .text("plan"), seconds: acknowledged ? 12 : 5)
        #expect(table.end("a") == nil)
        table.differs("a", .text("plan"), seconds: 3)
        #expect(table.end("a") == end)
        #expect(table.reports.last?.value == "plan")
        #expect(table.settling.count > 2 && table.sent.count == 1)
    }

    @Test func aBoxThatIsSlowIsFoundToHaveDoneIt() {
        for acknowledged in [true, false] {
            var table = Table()
            table.ask("a", .control(.pause))
            if acknowledged { table.take(table.desk.acknowledged("a", now: table.now)) }
            // Killed; the next run finds the box before it has acted.
            var second = Table(CommandLedger(document: table.desk.ledger.document))
            second.differs("a", .text("plan"), seconds: 3)
            second.pass(1)
            #expect(second.end("a") == nil)
            second.take(second.desk.readBack("a", .matches(.text("paused")), now: second.now))
            #expect(second.end("a") == .done && second.sent.isEmpty)
        }
    }

    @Test func aReadThatIsCutOffIsDoneAgain() {
        var table = Table()
        table.ask("a", .control(.pause))
        table.take(table.desk.linkBroke("a", acknowledged: true, now: table.now))
        table.take(table.desk.readBack("a", .differs(nil), now: table.now))
        table.desk.linkWentDown(now: table.now)
        table.pass(5)
        #expect(table.settling.count == 1)
        table.take(table.desk.linkCameUp(now: table.now))
        #expect(table.settling.count == 2)
        table.take(table.desk.readBack("a", .matches(nil), now: table.now))
        #expect(table.end("a") == .done)
    }

    @Test func whatCannotBeRememberedIsNotDone() {
        var table = Table()
        table.ask("a", .control(.pause))
        table.ask("b", .control(.plan))
        table.take(table.desk.notSaved("a", now: table.now))
        #expect(table.end("a") == .refused && table.code("a") == .unavailable)
        #expect(table.reports.last?.detail == .stateFolder)
        // The next one is tried all the same: there may be room again.
        #expect(table.sent.map(\.id) == ["a", "b"])
        table.take(table.desk.notSaved("x", now: table.now))
        table.answer("b", .applied(nil))
        #expect(table.end("b") == .done)
    }

    @Test func withoutTheBoxACommandWaitsFiveSeconds() {
        var table = Table(up: false)
        table.ask("a", .control(.pause))
        table.pass(4.9)
        #expect(table.end("a") == nil)
        table.pass(0.2)
        #expect(table.end("a") == .notDelivered)
        #expect(table.code("a") == .boxUnreachable)
        table.take(table.desk.linkCameUp(now: table.now))
        #expect(table.sent.isEmpty)
    }

    @Test func whatWaitsBehindAnotherExpiresAtItsDeadline() {
        var table = Table()
        table.ask("a", .control(.pause))
        table.ask("b", .control(.plan), patience: 2)
        table.pass(3)
        #expect(table.end("b") == .expired)
        table.answer("a", .applied(nil))
        #expect(table.sent.map(\.id) == ["a"])
    }

    @Test func theSameIDGetsItsFirstAnswerAlsoAfterARestart() {
        var table = Table()
        table.ask("a", .control(.pause))
        table.answer("a", .refused(.init(kind: .dispatchBlocked, boxCode: "E_UNAVAILABLE")))
        var end = table.reports.last
        end?.telling = .askedAgain
        table.ask("a", .control(.chargeNow(powerW: nil, until: nil)))
        #expect(table.reports.last == end)
        var second = Table(CommandLedger(document: table.desk.ledger.document))
        second.ask("a", .control(.pause))
        #expect(second.reports.last == end)
        #expect(second.sent.isEmpty)
    }

    @Test func aRestartEndsWhatWaitedAndSettlesWhatWasSent() {
        var table = Table()
        table.ask("a", .control(.pause))
        table.ask("b", .control(.plan))
        table.take(table.desk.acknowledged("a", now: table.now))
        var second = Table(CommandLedger(document: table.desk.ledger.document))
        #expect(second.end("b") == .notDelivered)
        #expect(second.settling.map(\.id) == ["a"])
        second.differs("a", nil, seconds: 16)
        #expect(second.end("a") == .unconfirmed)
        #expect(second.sent.isEmpty)
    }

    @Test func anEndThatNobodyHeardIsToldAgain() {
        var table = Table()
        table.ask("a", .control(.pause))
        table.answer("a", .applied(nil))
        // Killed after saving and before publishing.
        var second = Table(CommandLedger(document: table.desk.ledger.document))
        #expect(second.desk.untold.map(\.id) == ["a"])
        second.desk.handedOver("a", now: second.now)
        second.pass(6)
        #expect(second.desk.untold.isEmpty)
        #expect(CommandLedger(document: second.desk.ledger.document).untold.isEmpty)
        #expect(second.desk.ledger["a"] != nil)
    }

    @Test func anEndHandedToABrokerThatLeftIsToldAgain() {
        var table = Table()
        table.ask("a", .control(.pause))
        table.answer("a", .applied(nil))
        table.desk.handedOver("a", now: table.now)
        table.pass(2)
        table.desk.brokerLeft()
        table.pass(60)
        #expect(table.desk.untold.map(\.id) == ["a"])
    }

    @Test func anIDOfOursIsForgottenOnceToldAndAForeignOneAfterADay() {
        var table = Table()
        table.take(
            table.desk.arrived(
                Command(
                    id: "own", isOurID: true, topic: "t", loadpoint: "x", intent: .control(.pause),
                    requested: "pause", deadline: table.now.monotonic + .seconds(30)), level: nil,
                now: table.now))
        table.answer("own", .applied(nil))
        table.ask("theirs", .control(.pause))
        table.answer("theirs", .applied(nil))
        for id in ["own", "theirs"] { table.desk.handedOver(id, now: table.now) }
        table.pass(10)
        #expect(table.desk.ledger.entries.keys.sorted() == ["theirs"])
        table.now.wall += 24 * 3_600
        table.ask("other", .control(.pause))
        #expect(table.desk.ledger["theirs"] == nil)
    }

    @Test func moreThanTenAMinuteAreRefused() {
        var table = Table()
        for number in 0..<11 {
            table.ask("c\(number)", .control(.pause))
            table.answer("c\(number)", .applied(nil))
        }
        #expect(table.end("c9") == .done)
        #expect(table.code("c10") == .rateLimited)
        table.ask("elsewhere", .control(.pause), loadpoint: "street")
        table.answer("elsewhere", .applied(nil))
        #expect(table.end("elsewhere") == .done)
        table.pass(61)
        table.ask("later", .control(.pause))
        table.answer("later", .applied(nil))
        #expect(table.end("later") == .done)
    }

    /// Not those about the value: the level behind may be one that the box takes.
    @Test(
        arguments: [
            (.notPluggedIn, true), (.noCharger, true), (.notAllowed, true), (.unsupported, true),
            (.needsConsent, true), (.outOfRange, false), (.precondition, false), (.conflict, false),
            (.dispatchBlocked, false), (.unavailable, false), (.starting, false),
        ] as [(BoxRefusalReason.Kind, Bool)])
    func someRefusalsMeetAnyLevel(kind: BoxRefusalReason.Kind, isSo: Bool) {
        #expect(kind.meetsAnyLevel == isSo)
    }

    @Test func aRefusalThatMeetsAnyLevelEndsTheLevelBehindIt() {
        var table = Table()
        table.ask("a", .level(.exactly(0.3)))
        table.ask("b", .level(.exactly(0.4)))
        table.answer("a", .refused(.init(kind: .notPluggedIn, boxCode: "E_UNAVAILABLE")))
        #expect(table.code("b") == .notPluggedIn)
        #expect(table.sent.count == 1)
    }

    @Test func aLostReceiptIsSettledByReading() {
        var table = Table()
        table.ask("a", .control(.pause))
        table.take(table.desk.finished("a", .neverArrived, now: table.now))
        #expect(table.settling.map(\.id) == ["a"])
        table.differs("a", nil, seconds: 7)
        #expect(table.end("a") == .notDelivered)
        #expect(table.code("a") == .noAnswer)
    }

    @Test func aSessionThatForgetsAnOrderDoesNotBlockTheLoadpoint() {
        var table = Table()
        table.ask("a", .control(.pause))
        table.pass(200)
        #expect(table.end("a") == .unconfirmed)
        table.ask("b", .control(.plan))
        #expect(table.sent.map(\.id) == ["a", "b"])
    }

    @Test func eventsAtTheWrongTimeChangeNothing() {
        var table = Table()
        table.take(table.desk.finished("x", .applied(nil), now: table.now))
        table.take(table.desk.acknowledged("x", now: table.now))
        table.take(table.desk.linkBroke("x", acknowledged: true, now: table.now))
        table.take(table.desk.readBack("x", .unknown, now: table.now))
        table.ask("a", .control(.pause))
        table.answer("a", .applied(nil))
        let count = table.reports.count
        table.answer("a", .unconfirmed)
        table.take(table.desk.linkBroke("a", acknowledged: true, now: table.now))
        #expect(table.reports.count == count)
    }

    @Test func aDamagedLedgerLosesOnlyWhatMakesNoSense() {
        var table = Table()
        table.ask("a", .control(.pause))
        var items = table.desk.ledger.document["entries"]?.arrayValue ?? []
        items += [.null, "x", ["step": "sent"], ["step": "ended", "report": ["id": "b"]]]
        let ledger = CommandLedger(document: ["entries": .array(items)])
        #expect(ledger.entries.keys.sorted() == ["a"])
        #expect(CommandLedger(document: "nothing").entries.isEmpty)
    }
}
