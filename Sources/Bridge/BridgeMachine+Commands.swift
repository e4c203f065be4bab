import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes

/// Commands: from their topic through the desk to the box, and their stages back.
extension BridgeMachine {
    /// Takes up what the last run left unfinished; once, with the first event.
    mutating func openDesk(now: Moment) {
        guard !isDeskOpen else { return }
        isDeskOpen = true
        carryOut(desk.resume(now: now), now: now)
    }

    mutating func commanded(_ message: Message, path: String, now: Moment) {
        requestCount += 1
        emptyTopic(of: message, now: now)
        take(message, path: path, ownID: "\(run.instance)-\(requestCount)", now: now)
    }

    /// - Parameter ownID: For a payload without an id.
    mutating func take(_ message: Message, path: String, ownID: String, now: Moment) {
        var message = message
        if let topic = message.responseTopic, !isUsable(responseTopic: topic) { message.responseTopic = nil }
        let parser = CommandParser(
            household: publisher.documents.household,
            isReadOnly: settings.isReadOnly, open: settings.commands, site: publisher.site)
        let result = parser.parse(
            message, topic: CommandTopic(path: path), ownID: ownID, now: now)
        switch result {
        case .command(let command):
            let car = publisher.site.cars?.first { $0.id == command.loadpoint }
            carryOut(
                desk.arrived(
                    command, level: level(of: car),
                    otherwise: car?.isPluggedIn == false ? .notPluggedIn : .precondition, now: now), now: now)
        case .refused(let report, let isOurID):
            carryOut(desk.refused(report, isOurID: isOurID, now: now), now: now)
        }
    }

    /// What the broker may have kept of a command is taken away.
    ///
    /// A retained one is answered once and then gone. A 3.1.1 broker does not say of
    /// one that comes live whether it keeps it (MQTT 3.1.1 §3.3.1.3), so there each
    /// topic is emptied: what comes live is a wish of now and is carried out, and
    /// nothing of it is left to come again.
    mutating func emptyTopic(of message: Message, now: Moment) {
        let isHidden = publisher.session?.version == .v311 && !message.payload.isEmpty
        if message.retained || isHidden { publish(Message(message.topic, [], retained: true), now: now) }
    }

    /// What a step counts from when nothing newer was asked for.
    private func level(of car: CarState?) -> CommandDesk.KnownLevel? {
        guard let car, car.isCurrent,
            let soc = car.level.planCountsFrom ?? car.level.soc
        else { return nil }
        return .init(soc: soc, readAt: car.readAt)
    }

    mutating func followLink(_ isUp: Bool, now: Moment) {
        guard isUp != isBoxUp else { return }
        isBoxUp = isUp
        if isUp {
            carryOut(desk.linkCameUp(now: now), now: now)
        } else {
            desk.linkWentDown(now: now)
        }
    }

    mutating func advanced(_ id: String, _ progress: BoxProgress, now: Moment) {
        let next =
            switch progress {
            case .acknowledged: desk.acknowledged(id, now: now)
            case .ended(let outcome): desk.finished(id, outcome, now: now)
            case .linkBroke(let acknowledged): desk.linkBroke(id, acknowledged: acknowledged, now: now)
            }
        carryOut(next, now: now)
    }

    /// Nobody could tell later that it was done once, so it is not done.
    mutating func notSaved(_ id: String, now: Moment) {
        fault(
            "state_not_saved", "The state folder cannot be written, so no command is carried out.", now: now)
        carryOut(desk.notSaved(id, now: now), now: now)
    }

    /// Carries out what the desk says, in its order. The ledger already holds
    /// all of it, so one save before the rest is enough, however many events that is.
    mutating func carryOut(_ todo: [CommandDesk.Action], now: Moment) {
        publisher.follow(askers: desk.ledger.askers, busy: desk.busy, now: now)
        for action in todo {
            switch action {
            case .save:
                ledgerPlace = ledgerPlace ?? actions.count
            case .report(let report): tell(report, now: now)
            case .execute(let command):
                isUrgent = true
                actions.append(.perform(BoxOrder(command)))
            case .settle(let command): actions.append(.readBack(BoxOrder(command)))
            }
        }
    }

    /// What is to be done now, unless more events wait and none of it is urgent: then
    /// it is done with theirs, and the ledger is written once for all of them.
    mutating func release(holding: Bool) -> [Action] {
        if holding, !isUrgent, held < Self.mostHeld {
            held += 1
            return []
        }
        held = 0
        isUrgent = false
        if let place = ledgerPlace {
            actions.insert(.save(Self.commandsName, desk.ledger.document), at: place)
        }
        ledgerPlace = nil
        defer { actions = [] }
        return actions
    }

    /// Ends that no broker took yet.
    mutating func tellUntold(now: Moment) {
        for report in desk.untold { tell(report, now: now) }
    }

    /// One stage on `result`, and where else the asker wants it. While the broker
    /// is away an end stays untold and follows when it is back.
    private mutating func tell(_ report: StageReport, now: Moment) {
        guard phase == .up else { return }
        let path = tree.path(of: report.topic)
        // Whoever repeats an id and says where the answer is wanted asks for nobody else.
        publishResult(
            publisher.documents.told(report, path: path), to: report.responseTopic, report.correlationData,
            askerOnly: report.telling == .askedAgain, now: now)
        guard report.stage.isFinal else { return }
        // The other command of that id is neither ended nor told by this.
        if report.telling == .notRemembered { return count(report.stage.rawValue) }
        answerAsker(report, path: path, now: now)
        if desk.isNews(report.id) {
            count(report.stage.rawValue)
            if desk.isShown(report.id) {
                publisher.ended(report, now: now)
                keepTopics(now: now)
                flush(now: now)
            }
        }
        desk.handedOver(report.id, now: now)
    }
}

extension BoxOrder {
    init(_ command: Command) {
        self.init(
            id: command.id, loadpoint: command.loadpoint, intent: command.intent, deadline: command.deadline)
    }
}
