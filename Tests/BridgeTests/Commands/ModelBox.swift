import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import TestSupport

@testable import Bridge

/// A desk, its disk, a broker and a box that go wrong in every way at random, with
/// a record of what the box really did.
struct ModelWorld {
    enum Event {
        case command(Command)
        case again(String)
        case retained(String)
        case linkDown
        case linkUp
        case brokerDown
        case brokerUp
        case bridgeDies
        case boxRestarts
        case foreignChange(lane: String)
        case arrives(Order)
        case acknowledges(Order)
        case answers(Order, BoxOutcome)
        case noReceipt(Order)
        case noAnswer(Order)
        case reads(Command, run: Int)
    }
    /// One order on its way, of one session of one run of the bridge.
    struct Order: Equatable {
        var command: Command
        var session: Int
        var run: Int
    }
    struct Told: Equatable {
        var stage: Stage
        var code: CommandCode?
        var value: JSONValue?
    }

    var dice: SeededDice
    var desk = CommandDesk()
    var disk: JSONValue = .array([])
    var now = Moment(monotonic: .zero, wall: morning)
    var queue: [(at: Duration, order: Int, event: Event)] = []
    var serial = 0

    var session = 1
    var run = 1
    var isLinkUp = false
    var isBrokerUp = true
    /// What the session knows of orders it has not ended.
    var open: [String: (order: Order, acknowledged: Bool)] = [:]
    /// What the box holds, by lane.
    var held: [String: Intent] = [:]
    var executions: [String: [(at: Duration, order: Order)]] = [:]
    var disturbed: Set<String> = []

    var sent: [String: Command] = [:]
    var saved: Set<String> = []
    var retainedIDs: Set<String> = []
    /// Ids of which the box, read afterwards, held what was asked.
    var readEqual: Set<String> = []
    /// As the machine has it: what arrives is parsed before the desk sees it.
    static let parser = CommandParser(
        household: HouseholdZone(boxZone: "Europe/Stockholm", configured: .utc), isReadOnly: false,
        open: Set(CommandName.allCases), site: houseWithCars())
    var heard: [String: [Told]] = [:]
    var sends = 0
    var lateSends: [String] = []

    init(seed: UInt64) { dice = SeededDice(seed) }

    mutating func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &dice) < percent }
    mutating func delay(_ range: ClosedRange<Int>) -> Duration {
        .milliseconds(Int.random(in: range, using: &dice))
    }
    mutating func plan(_ event: Event, in delay: Duration) {
        serial += 1
        queue.append((now.monotonic + delay, serial, event))
    }

    // MARK: The desk's actions

    mutating func carryOut(_ actions: [CommandDesk.Action]) {
        for action in actions {
            // The process may be killed between any two of them.
            if happens(1), run < 4 { return die() }
            switch action {
            case .save:
                disk = desk.ledger.document
                saved.formUnion(desk.ledger.entries.keys)
            case .report(let report): tell(report)
            case .execute(let command): execute(command)
            case .settle(let command): plan(.reads(command, run: run), in: delay(20...3_000))
            }
        }
    }

    mutating func tell(_ report: StageReport) {
        guard isBrokerUp else { return }
        heard[report.id, default: []].append(
            Told(stage: report.stage, code: report.code, value: report.value))
        if report.stage.isFinal { desk.handedOver(report.id, now: now) }
    }

    mutating func execute(_ command: Command) {
        sends += 1
        if now.monotonic >= command.deadline { lateSends.append(command.id) }
        let order = Order(command: command, session: session, run: run)
        guard isLinkUp else {
            // The session noticed before the desk did.
            carryOut(desk.linkBroke(command.id, acknowledged: false, now: now))
            return
        }
        open[command.id] = (order, false)
        if !happens(10) { plan(.arrives(order), in: delay(5...900)) }
        plan(.noReceipt(order), in: .seconds(5))
        plan(.noAnswer(order), in: .seconds(15))
    }

    // MARK: The box

    func lane(_ command: Command) -> String { command.loadpoint ?? "site" }

    mutating func arrive(_ order: Order) {
        guard order.session == session else { return }
        let command = order.command
        guard now.monotonic <= command.deadline else {
            if !happens(10) { plan(.answers(order, .expired), in: delay(5...500)) }
            return
        }
        if happens(8) {
            let reason = BoxRefusalReason(
                kind: happens(50) ? .unavailable : .notPluggedIn, boxCode: "E_UNAVAILABLE")
            if !happens(10) { plan(.answers(order, .refused(reason)), in: delay(5...500)) }
            return
        }
        executions[command.id, default: []].append((now.monotonic, order))
        held[lane(command)] = command.intent
        if !happens(10) { plan(.acknowledges(order), in: delay(5...400)) }
        guard !happens(10) else { return }
        let outcome: BoxOutcome =
            happens(5) ? .unconfirmed : happens(5) ? .overtaken(.number(0)) : .applied(.number(1))
        plan(.answers(order, outcome), in: delay(400...4_000))
    }

    /// Every order of the session ends as one that the link broke under.
    mutating func dropLink() {
        isLinkUp = false
        session += 1
        let orders = open.sorted { $0.key < $1.key }
        open = [:]
        let runBefore = run
        desk.linkWentDown(now: now)
        for (id, entry) in orders where run == runBefore {
            carryOut(desk.linkBroke(id, acknowledged: entry.acknowledged, now: now))
        }
    }

    mutating func die() {
        run += 1
        // What was on its way into the box gets there; nobody hears of it.
        for index in queue.indices.reversed() {
            if case .arrives(let order) = queue[index].event {
                queue.remove(at: index)
                if Bool.random(using: &dice) { arrive(order) }
            }
        }
        session += 1
        open = [:]
        isLinkUp = false
        desk = CommandDesk(ledger: CommandLedger(document: disk))
        now.wall += 1
        now.monotonic += .seconds(1)
        carryOut(desk.resume(now: now))
        if isBrokerUp { retell() }
        plan(.linkUp, in: delay(100...20_000))
    }

    mutating func retell() {
        for report in desk.untold { tell(report) }
    }

    // MARK: Time

    mutating func handle(_ event: Event) {
        switch event {
        case .command(var command):
            guard isBrokerUp else { return }
            command.deadline += now.monotonic
            sent[command.id] = command
            carryOut(desk.arrived(command, level: .init(soc: 0.5, readAt: morning - 60), now: now))
        case .again(let id):
            guard isBrokerUp, var command = sent[id] else { return }
            // What was turned away at the door and is forgotten may be asked anew; that is another wish.
            if desk.ledger[id] == nil, heard[id]?.contains(where: { $0.stage == .refused }) == true { return }
            command.deadline = now.monotonic + .seconds(30)
            carryOut(desk.arrived(command, level: nil, now: now))
        case .retained(let id):
            guard isBrokerUp else { return }
            retainedIDs.insert(id)
            let path = "car/garage/control/set"
            let message = Message(
                "ftw/home/\(path)", #"{"id":"\#(id)","value":"charge_now"}"#, retained: true)
            switch Self.parser.parse(message, topic: CommandTopic(path: path), ownID: "own", now: now) {
            case .command(let command):
                carryOut(desk.arrived(command, level: .init(soc: 0.5, readAt: morning - 60), now: now))
            case .refused(let report, let isOurID):
                carryOut(desk.refused(report, isOurID: isOurID, now: now))
            }
        case .linkDown: if isLinkUp { dropLink() }
        case .linkUp:
            guard !isLinkUp else { return }
            isLinkUp = true
            carryOut(desk.linkCameUp(now: now))
        case .brokerDown:
            isBrokerUp = false
            desk.brokerLeft()
        case .brokerUp:
            guard !isBrokerUp else { return }
            isBrokerUp = true
            retell()
        case .bridgeDies: die()
        case .boxRestarts:
            disturbed.formUnion(held.keys)
            held = [:]
            if isLinkUp { dropLink() }
            plan(.linkUp, in: delay(500...20_000))
        case .foreignChange(let lane):
            disturbed.insert(lane)
            held[lane] = .surplusOnly(true)
        case .arrives(let order): arrive(order)
        case .acknowledges(let order):
            guard order.session == session, order.run == run, open[order.command.id] != nil else { return }
            open[order.command.id]?.acknowledged = true
            carryOut(desk.acknowledged(order.command.id, now: now))
        case .answers(let order, let outcome): end(order, outcome)
        case .noReceipt(let order):
            if open[order.command.id]?.acknowledged == false { end(order, .neverArrived) }
        case .noAnswer(let order): end(order, .unconfirmed)
        case .reads(let command, let asked):
            guard asked == run else { return }
            let result: BoxReadBack =
                !isLinkUp || chanceOfSilence()
                ? .unknown
                : held[lane(command)] == command.intent ? .matches(.number(1)) : .differs(.number(0))
            if case .matches = result { readEqual.insert(command.id) }
            carryOut(desk.readBack(command.id, result, now: now))
        }
    }

    private mutating func chanceOfSilence() -> Bool { happens(5) }

    private mutating func end(_ order: Order, _ outcome: BoxOutcome) {
        guard order.session == session, order.run == run, open[order.command.id]?.order == order else {
            return
        }
        open[order.command.id] = nil
        carryOut(desk.finished(order.command.id, outcome, now: now))
    }

    /// Lets time pass until `end`, keeping every appointment on the way.
    mutating func pass(until end: Duration) {
        var idle = 0
        while true {
            let next = queue.indices.min { (queue[$0].at, queue[$0].order) < (queue[$1].at, queue[$1].order) }
            let alarm = desk.nextDeadline
            let moment = [next.map { queue[$0].at }, alarm].compactMap { $0 }.min()
            guard let moment, moment <= end else { break }
            idle = moment <= now.monotonic ? idle + 1 : 0
            precondition(idle < 10_000, "time stands still")
            move(to: max(moment, now.monotonic))
            if let next, queue[next].at <= moment {
                handle(queue.remove(at: next).event)
            } else {
                carryOut(desk.timerFired(now: now))
            }
        }
        move(to: max(end, now.monotonic))
    }

    private mutating func move(to end: Duration) {
        now.wall += (end - now.monotonic) / .seconds(1)
        now.monotonic = end
    }
}
