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
    public enum Action: Sendable, Equatable {
        /// Write the ledger to disk before carrying out what follows.
        case save
        case report(StageReport)
        /// Hand the command to the box. Answered by ``acknowledged(_:now:)`` and
        /// exactly one ``finished(_:_:now:)`` or ``linkBroke(_:acknowledged:now:)``.
        case execute(Command)
        /// Read the box back: does it hold what was asked? Answered by ``readBack(_:_:now:)``.
        case settle(Command)
    }

    /// The numbers of the contract.
    public struct Limits: Sendable {
        public var waitForBox = Duration.seconds(5)
        /// How long a command whose fate is not known may wait for the box to be read.
        public var settleWithin = Duration.seconds(15)
        /// The same after a restart, when the way to the box is to be found first.
        public var settleAfterRestart = Duration.seconds(60)
        /// The session ends every order by its own clocks; one that it forgot is not waited for longer.
        public var atBoxAtMost = Duration.seconds(90)
        public var sendsPerMinute = 10
        /// More refusals than this of one loadpoint are answered and otherwise left alone.
        public var refusalsPerMinute = 10
        public var waitingPerLane = 16
        /// Who asks for an id that is under way, beyond the first and with a topic for the
        /// answer, hears of it up to this many.
        public var listeners = 8
        /// Between two levels of one loadpoint, so that a slider is a few sends.
        public var levelGap = Duration.seconds(1)
        /// How long an end must have been told before it counts as heard.
        public var toldFor = Duration.seconds(5)

        public init() {}
    }

    /// The level that a step counts from.
    public struct KnownLevel: Sendable, Equatable {
        /// 0 to 1.
        public var soc: Double
        /// When the box said it.
        public var readAt: Date

        public init(soc: Double, readAt: Date) {
            self.soc = soc
            self.readAt = readAt
        }
    }

    struct Job: Sendable, Equatable {
        enum Step: Sendable, Equatable {
            case waiting, atBox
            /// Its fate is not known, and the box cannot be read.
            case broken
            /// The box is being read.
            case settling
        }
        var command: Command
        var step = Step.waiting
        /// When it arrived, was sent, or its fate became unknown.
        var since: Duration
        var wasAcknowledged = false
        var settleBy: Duration?
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
    /// The level that was last confirmed, by lane: what is shown lags behind it.
    var confirmed: [String: KnownLevel] = [:]
    /// Ends that were told to the broker that is there now, and when.
    var told: [String: Duration] = [:]
    /// When to look next at what counts as heard.
    var hearAt: Duration?
    /// When the ledger was last looked through for what is too old.
    var prunedAt: Date?
    /// What was refused of each lane within a minute.
    var refusals: [String: [Duration]] = [:]
    /// Ends that a broker was given, here or before a restart, and that may have got there.
    var perhapsTold: Set<String>
    /// Who else asked for the same id while it was under way, and where they want to hear of it.
    var alsoAsked: [String: [ReplyTo]] = [:]
    var linkIsUp = false

    /// - Parameter ledger: What the disk remembered; call ``resume(now:)`` next.
    public init(ledger: CommandLedger = CommandLedger(), limits: Limits = Limits()) {
        self.ledger = ledger
        perhapsTold = Set(ledger.untold.map(\.id))
        self.limits = limits
    }

    // MARK: Commands

    /// The process came up: settles what the last one left unfinished.
    public mutating func resume(now: Moment) -> [Action] {
        var actions: [Action] = []
        for entry in ledger.unfinished {
            guard let intent = entry.intent else { continue }
            let report = entry.report
            let command = Command(
                id: report.id, isOurID: entry.isOurID, from: report.from, topic: report.topic,
                loadpoint: report.loadpoint, intent: intent, requested: report.requested,
                deadline: now.monotonic,
                responseTopic: report.responseTopic, correlationData: report.correlationData)
            let key = lane(command)
            if entry.step == .waiting {
                actions += end(command, .notDelivered, code: .boxUnreachable, now: now)
            } else if lanes[key]?.current != nil {
                // One is at the box at a time, so the disk tells of something that
                // did not happen. Nobody can say what became of it.
                actions += endUnknown(Job(command: command, since: now.monotonic), now: now)
            } else {
                var job = Job(command: command, since: now.monotonic)
                job.step = .broken
                job.settleBy = now.monotonic + limits.settleAfterRestart
                job.wasAcknowledged = report.stage == .accepted
                lanes[key, default: Lane()].current = job
            }
        }
        return actions
    }

    /// A well-formed, allowed command arrived.
    ///
    /// - Parameters:
    ///   - level: What a step counts from when nothing newer was asked for; `nil`
    ///     when it is not known.
    ///   - otherwise: Why a step cannot be counted then.
    public mutating func arrived(
        _ command: Command, level: KnownLevel?, otherwise: CommandCode = .precondition, now: Moment
    ) -> [Action] {
        if let again = repeated(command.id, ReplyTo(command)) { return again }
        var command = command
        guard command.deadline > now.monotonic else {
            return end(command, .expired, code: .expired, now: now)
        }
        let key = lane(command)
        if case .level(.step(let step)) = command.intent {
            guard let base = newestLevel(key) ?? newer(confirmed[key], level)?.soc else {
                return refuse(
                    command, otherwise, detail: otherwise == .precondition ? .nothingToCountFrom : nil,
                    now: now)
            }
            // Whole percents, as the box's own buttons send them.
            let target = min(1, max(0, ((base + step) * 100).rounded() / 100))
            command.intent = .level(.exactly(target))
        }
        if let code = turnedAway(command, key, now: now) { return refuse(command, code, now: now) }
        prune(now: now)
        let received = report(command, .received, now: now)
        ledger.note(.waiting, received, command.intent, isOurID: command.isOurID)
        var actions: [Action] = [.save, .report(received)]
        if case .level = command.intent { actions += fold(key, now: now) }
        lanes[key, default: Lane()].waiting.append(Job(command: command, since: now.monotonic))
        return actions + pump(key, now: now)
    }

    /// Something arrived that is no command, or one that is not open: it is
    /// answered. Nothing of it is written to disk; its id has had its answer for
    /// as long as this process remembers.
    public mutating func refused(_ report: StageReport, isOurID: Bool, now: Moment) -> [Action] {
        if let again = repeated(report.id, ReplyTo(report)) { return again }
        return passes(report, isOurID: isOurID, now: now)
    }

    /// The first answer again, to whoever asks again. Of what is still under way they hear
    /// the rest too.
    private mutating func repeated(_ id: String, _ asker: ReplyTo) -> [Action]? {
        guard let entry = ledger[id] else { return nil }
        if !entry.isSettled { listens(asker, to: entry.report) }
        return [.report(entry.report.again(to: asker))]
    }

    // MARK: The link

    /// The box is there (again): waiting commands go out, broken ones are settled.
    public mutating func linkCameUp(now: Moment) -> [Action] {
        linkIsUp = true
        return lanes.keys.sorted().flatMap { settle($0, now: now) + pump($0, now: now) }
    }

    /// The box is out of reach. Commands at the box are told by ``linkBroke(_:acknowledged:now:)``.
    public mutating func linkWentDown(now: Moment) {
        linkIsUp = false
        for key in lanes.keys where lanes[key]?.current?.step == .settling {
            lanes[key]?.current?.step = .broken
        }
    }

    // MARK: The box

    /// The box has it.
    public mutating func acknowledged(_ id: String, now: Moment) -> [Action] {
        guard let key = laneOf(id), let job = lanes[key]?.current, job.step == .atBox, !job.wasAcknowledged
        else { return [] }
        lanes[key]?.current?.wasAcknowledged = true
        let accepted = report(job.command, .accepted, now: now)
        ledger.note(.sent, accepted, job.command.intent, isOurID: job.command.isOurID)
        return [.save] + tell(accepted)
    }

    /// The command at the box ended.
    public mutating func finished(_ id: String, _ outcome: BoxOutcome, now: Moment) -> [Action] {
        guard let key = laneOf(id), let job = lanes[key]?.current, job.step == .atBox else { return [] }
        if outcome == .neverArrived {
            // Perhaps only the receipt was lost: the box itself can tell.
            return becameUnknown(key, acknowledged: false, now: now)
        }
        lanes[key]?.current = nil
        var actions = close(job, outcome, now: now)
        if case .refused(let reason) = outcome, reason.kind.meetsAnyLevel {
            // The next level would meet the same refusal.
            let next = lanes[key]?.waiting.filter(\.isLevel) ?? []
            lanes[key]?.waiting.removeAll(where: \.isLevel)
            for job in next {
                actions += close(job, outcome, now: now)
            }
        }
        return actions + pump(key, now: now)
    }

    /// The link broke while the command was at the box: nobody knows, until the box is read.
    public mutating func linkBroke(_ id: String, acknowledged: Bool, now: Moment) -> [Action] {
        guard let key = laneOf(id), lanes[key]?.current?.step == .atBox else { return [] }
        return becameUnknown(key, acknowledged: acknowledged, now: now)
    }

    /// The box was read after a break or a restart.
    public mutating func readBack(_ id: String, _ result: BoxReadBack, now: Moment) -> [Action] {
        guard let key = laneOf(id), let job = lanes[key]?.current, job.step == .settling else { return [] }
        lanes[key]?.current = nil
        let actions: [Action]
        switch result {
        case .matches(let value):
            confirm(job, now: now)
            actions = end(job.command, .done, value: value.map(JSONValue.init), now: now)
        case .differs(let value):
            // With a receipt it was carried out and then changed, or not carried
            // out; without one it did not get there.
            let read = value.map(JSONValue.init)
            actions =
                job.wasAcknowledged
                ? endUnknown(job, value: read, now: now)
                : end(job.command, .notDelivered, code: .noAnswer, value: read, now: now)
        case .unknown:
            actions = endUnknown(job, now: now)
        }
        return actions + pump(key, now: now)
    }

    // MARK: Time

    /// Time passed.
    public mutating func timerFired(now: Moment) -> [Action] {
        var actions: [Action] = []
        for key in lanes.keys.sorted() {
            if let job = lanes[key]?.current {
                switch job.step {
                case .broken, .settling:
                    if let settleBy = job.settleBy, now.monotonic >= settleBy {
                        lanes[key]?.current = nil
                        actions += endUnknown(job, now: now)
                    }
                case .atBox:
                    if now.monotonic >= job.since + limits.atBoxAtMost {
                        actions += becameUnknown(key, acknowledged: job.wasAcknowledged, now: now)
                    }
                case .waiting: break
                }
            }
            actions += pump(key, now: now)
        }
        return actions + forgetTold(now: now)
    }

    /// When ``timerFired(now:)`` is wanted next; `nil` when nothing waits.
    public var nextDeadline: Duration? {
        var earliest: Duration?
        func consider(_ moment: Duration) { earliest = earliest.map { min($0, moment) } ?? moment }
        for lane in lanes.values {
            if let job = lane.current {
                consider(job.step == .atBox ? job.since + limits.atBoxAtMost : job.settleBy ?? job.since)
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
        if let hearAt { consider(hearAt) }
        return earliest
    }
}
