public import EnergyModel
public import FoundationEssentials
import JSONText

/// Follows every command from its topic to its one final stage.
///
/// Pure: the service feeds it what happened and carries out the actions, in
/// their order. One command per loadpoint is at the box at a time; levels that
/// arrive meanwhile fold into the newest. Nothing is sent twice: what was sent
/// when the link broke is settled by reading the box back.
public struct CommandDesk: Sendable {
    /// Both clocks at one moment: intervals are measured on the first.
    public struct Moment: Sendable, Equatable {
        public var monotonic: Duration
        public var wall: Date

        public init(monotonic: Duration, wall: Date) {
            self.monotonic = monotonic
            self.wall = wall
        }
    }

    public enum Action: Sendable, Equatable {
        /// Write the ledger to disk before carrying out what follows.
        case save
        case report(StageReport)
        /// Hand the command to the box. Answered by ``acknowledged(_:now:)`` and
        /// exactly one ``finished(_:_:now:)`` or ``linkBroke(_:acknowledged:now:)``.
        case execute(Command)
        /// Read the box back: does it hold what was asked? Answered by ``readBack(_:_:now:)``.
        case settle(id: String, loadpoint: String?, Intent)
    }

    /// The numbers of the contract.
    public struct Limits: Sendable {
        public var waitForBox = Duration.seconds(5)
        public var settleWithin = Duration.seconds(15)
        public var sendsPerMinute = 10
        public var waitingPerLane = 16
        /// Between two levels of one loadpoint, so that a slider is a few sends.
        public var levelGap = Duration.seconds(1)

        public init() {}
    }

    struct Job: Sendable, Equatable {
        enum Step: Sendable { case waiting, atBox, broken, settling }
        var command: Command
        var step = Step.waiting
        var since: Duration
        var wasAcknowledged = false
    }

    struct Lane: Sendable {
        var current: Job?
        var waiting: [Job] = []
        var sends: [Duration] = []
        var lastLevelSend: Duration?
    }

    let limits: Limits
    public internal(set) var ledger: CommandLedger
    var lanes: [String: Lane] = [:]
    var linkIsUp = false

    /// - Parameter ledger: What the disk remembered; call ``resume(now:)`` next.
    public init(ledger: CommandLedger = CommandLedger(), limits: Limits = Limits()) {
        self.ledger = ledger
        self.limits = limits
    }

    // MARK: Events

    /// The process came up: settles what the last one left unfinished.
    public mutating func resume(now: Moment) -> [Action] {
        var actions: [Action] = []
        for entry in ledger.unfinished {
            let report = entry.report
            let command = Command(
                id: report.id, topic: report.topic, loadpoint: report.loadpoint, intent: entry.intent,
                requested: report.requested, deadline: now.monotonic, responseTopic: report.responseTopic,
                correlationData: report.correlationData)
            if entry.step == .waiting {
                actions += end(command, .notDelivered, code: .boxUnreachable, now: now)
            } else {
                var job = Job(command: command, since: now.monotonic)
                job.step = .broken
                job.wasAcknowledged = report.stage == .accepted
                // Two unfinished ones of one lane cannot be: one is at the box at a time.
                lanes[lane(command), default: Lane()].current = job
            }
        }
        return actions
    }

    /// A well-formed, allowed command arrived.
    ///
    /// - Parameter soc: The level a step counts from when nothing newer was asked
    ///   for, 0 to 1; `nil` when it is not known.
    public mutating func arrived(_ command: Command, soc: Double?, now: Moment) -> [Action] {
        if let known = ledger[command.id] {
            // The first answer again, to whoever asks again.
            var report = known.report
            report.responseTopic = command.responseTopic
            report.correlationData = command.correlationData
            return [.report(report)]
        }
        var command = command
        guard command.deadline > now.monotonic else {
            return end(command, .expired, code: .expired, now: now)
        }
        let key = lane(command)
        if case .level(.step(let step)) = command.intent {
            guard let base = newestLevel(key) ?? soc else {
                return end(command, .refused, code: .precondition, now: now)
            }
            let target = min(1, max(0, ((base + step) * 1000).rounded() / 1000))
            command.intent = .level(.exactly(target))
        }
        guard lanes[key]?.waiting.count ?? 0 < limits.waitingPerLane else {
            return end(command, .refused, code: .busy, now: now)
        }
        let received = report(command, .received, now: now)
        ledger.prune(now: now.wall)
        ledger.note(.waiting, received, command.intent)
        var actions: [Action] = [.save, .report(received)]
        if case .level = command.intent { actions += fold(key, now: now) }
        lanes[key, default: Lane()].waiting.append(Job(command: command, since: now.monotonic))
        return actions + pump(key, now: now)
    }

    /// The box is there (again): waiting commands go out, broken ones are settled.
    public mutating func linkCameUp(now: Moment) -> [Action] {
        linkIsUp = true
        var actions: [Action] = []
        for key in lanes.keys.sorted() {
            if let job = lanes[key]?.current, job.step == .broken {
                lanes[key]?.current?.step = .settling
                actions.append(
                    .settle(id: job.command.id, loadpoint: job.command.loadpoint, job.command.intent))
            }
            actions += pump(key, now: now)
        }
        return actions
    }

    /// The box is out of reach. Commands at the box are told by ``linkBroke(_:acknowledged:now:)``.
    public mutating func linkWentDown(now: Moment) {
        linkIsUp = false
        for key in lanes.keys where lanes[key]?.current?.step == .settling {
            lanes[key]?.current?.step = .broken
        }
    }

    /// The box has it.
    public mutating func acknowledged(_ id: String, now: Moment) -> [Action] {
        guard let key = laneOf(id), let job = lanes[key]?.current, job.step == .atBox, !job.wasAcknowledged
        else { return [] }
        lanes[key]?.current?.wasAcknowledged = true
        let accepted = report(job.command, .accepted, now: now)
        ledger.note(.sent, accepted, job.command.intent)
        return [.save, .report(accepted)]
    }

    /// The command at the box ended.
    public mutating func finished(_ id: String, _ outcome: BoxOutcome, now: Moment) -> [Action] {
        guard let key = laneOf(id), let job = lanes[key]?.current, job.step == .atBox else { return [] }
        lanes[key]?.current = nil
        var actions = close(job, outcome, now: now)
        if case .refused(let reason) = outcome, reason.kind.repeats {
            // The next level would meet the same refusal.
            for next in lanes[key]?.waiting.filter(\.isLevel) ?? [] {
                actions += end(
                    next.command, .refused, code: CommandCode(reason.kind), boxCode: reason.boxCode, now: now)
            }
            lanes[key]?.waiting.removeAll(where: \.isLevel)
        }
        return actions + pump(key, now: now)
    }

    /// The link broke while the command was at the box: nobody knows, until the box is read.
    public mutating func linkBroke(_ id: String, acknowledged: Bool, now: Moment) -> [Action] {
        guard let key = laneOf(id), let job = lanes[key]?.current, job.step == .atBox else { return [] }
        lanes[key]?.current?.step = .broken
        lanes[key]?.current?.wasAcknowledged = acknowledged || job.wasAcknowledged
        return linkIsUp ? linkCameUp(now: now) : []
    }

    /// The box was read after a break or a restart.
    public mutating func readBack(_ id: String, _ result: BoxReadBack, now: Moment) -> [Action] {
        guard let key = laneOf(id), let job = lanes[key]?.current, job.step == .settling else { return [] }
        lanes[key]?.current = nil
        let actions: [Action]
        switch result {
        case .matches(let value):
            actions = end(job.command, .done, value: value.map(JSONValue.init), now: now)
        case .differs(let value):
            actions = end(
                job.command, job.wasAcknowledged ? .unconfirmed : .notDelivered, code: .noAnswer,
                value: value.map(JSONValue.init), now: now)
        case .unknown:
            actions = end(job.command, .unconfirmed, code: .noAnswer, now: now)
        }
        return actions + pump(key, now: now)
    }

    /// Time passed.
    public mutating func timerFired(now: Moment) -> [Action] {
        var actions: [Action] = []
        for key in lanes.keys.sorted() {
            if let job = lanes[key]?.current, job.step == .broken || job.step == .settling,
                now.monotonic >= job.since + limits.settleWithin
            {
                lanes[key]?.current = nil
                actions += end(job.command, .unconfirmed, code: .noAnswer, now: now)
            }
            actions += pump(key, now: now)
        }
        return actions
    }

    /// When ``timerFired(now:)`` is wanted next; `nil` when nothing waits.
    public var nextDeadline: Duration? {
        var earliest: Duration?
        func consider(_ moment: Duration) { earliest = earliest.map { min($0, moment) } ?? moment }
        for lane in lanes.values {
            if let job = lane.current, job.step == .broken || job.step == .settling {
                consider(job.since + limits.settleWithin)
            }
            for job in lane.waiting {
                consider(job.command.deadline)
                if !linkIsUp { consider(job.since + limits.waitForBox) }
            }
            if lane.current == nil, linkIsUp, let first = lane.waiting.first, first.isLevel,
                let last = lane.lastLevelSend
            {
                consider(last + limits.levelGap)
            }
        }
        return earliest
    }
}
