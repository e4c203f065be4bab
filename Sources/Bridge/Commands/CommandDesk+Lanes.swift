import EnergyModel
import FoundationEssentials
import JSONText

extension CommandDesk.Job {
    var isLevel: Bool { if case .level = command.intent { true } else { false } }
    var level: Double? { if case .level(.exactly(let soc)) = command.intent { soc } else { nil } }
}

extension BoxRefusalReason.Kind {
    /// The refusal is about the charger or about us, and not about the value: another level
    /// asked for at once would be refused too.
    var meetsAnyLevel: Bool {
        switch self {
        case .notPluggedIn, .noCharger, .notAllowed, .unsupported, .needsConsent: true
        case .dispatchBlocked, .conflict, .precondition, .unavailable, .starting, .outOfRange: false
        }
    }
}

extension JSONValue {
    init(_ value: BoxOutcome.BoxValue) {
        switch value {
        case .number(let number): self = .double(number)
        case .text(let text): self = .string(text)
        case .flag(let flag): self = .bool(flag)
        }
    }
}

/// What happens inside one loadpoint's queue.
extension CommandDesk {
    func lane(_ command: Command) -> String { Self.lane(of: command.loadpoint) }

    /// - Parameter loadpoint: `nil` for the site.
    private static func lane(of loadpoint: String?) -> String { loadpoint.map { "car/\($0)" } ?? "site" }

    /// A command of that loadpoint waits or is at the box.
    func isUnderWay(loadpoint: String) -> Bool {
        guard let lane = lanes[Self.lane(of: loadpoint)] else { return false }
        return lane.current != nil || !lane.waiting.isEmpty
    }

    /// Loadpoints at which a command is under way.
    var busy: Set<String> { Set(lanes.values.compactMap(\.current?.command.loadpoint)) }

    func laneOf(_ id: String) -> String? { lanes.first { $0.value.current?.command.id == id }?.key }

    /// The newest level somebody asked for and that is not settled yet.
    func newestLevel(_ key: String) -> Double? {
        guard let lane = lanes[key] else { return nil }
        return lane.waiting.last(where: \.isLevel)?.level ?? lane.current?.level
    }

    func newer(_ a: KnownLevel?, _ b: KnownLevel?) -> KnownLevel? {
        guard let a, let b else { return a ?? b }
        return a.readAt > b.readAt ? a : b
    }

    mutating func confirm(_ job: Job, now: Moment) {
        guard let soc = job.level else { return }
        confirmed[lane(job.command)] = KnownLevel(soc: soc, readAt: now.wall)
    }

    /// A newer level takes the place of the one that still waits.
    mutating func fold(_ key: String, now: Moment) -> [Action] {
        let older = lanes[key]?.waiting.filter(\.isLevel) ?? []
        lanes[key]?.waiting.removeAll(where: \.isLevel)
        return older.flatMap { end($0.command, .superseded, now: now) }
    }

    /// Nobody knows what became of the command at the box; the box is read as soon as it can be.
    mutating func becameUnknown(_ key: String, acknowledged: Bool, now: Moment) -> [Action] {
        guard var job = lanes[key]?.current else { return [] }
        job.step = .broken
        job.wasAcknowledged = job.wasAcknowledged || acknowledged
        job.settleBy = now.monotonic + limits.settleWithin
        lanes[key]?.current = job
        return settle(key, now: now)
    }

    mutating func settle(_ key: String, now: Moment) -> [Action] {
        guard linkIsUp, let job = lanes[key]?.current, job.step == .broken else { return [] }
        lanes[key]?.current?.step = .settling
        return [.settle(job.command)]
    }

    /// Sends what may be sent, and ends what has waited too long.
    mutating func pump(_ key: String, now: Moment) -> [Action] {
        var actions: [Action] = []
        guard var lane = lanes[key] else { return [] }
        defer {
            let isIdle = lane.current == nil && lane.waiting.isEmpty && lane.sends.isEmpty
            lanes[key] = isIdle ? nil : lane
        }
        lane.sends.removeAll { now.monotonic - $0 >= .seconds(60) }

        var kept: [Job] = []
        for job in lane.waiting {
            if now.monotonic >= job.command.deadline {
                actions += end(job.command, .expired, code: .expired, now: now)
            } else if !linkIsUp, now.monotonic >= job.since + limits.waitForBox {
                actions += end(job.command, .notDelivered, code: .boxUnreachable, now: now)
            } else {
                kept.append(job)
            }
        }
        lane.waiting = kept

        while lane.current == nil, linkIsUp, var job = lane.waiting.first {
            if job.isLevel, let last = lane.lastLevelSend, now.monotonic < last + limits.levelGap { break }
            lane.waiting.removeFirst()
            guard lane.sends.count < limits.sendsPerMinute else {
                actions += end(job.command, .refused, code: .rateLimited, now: now)
                continue
            }
            lane.sends.append(now.monotonic)
            if job.isLevel { lane.lastLevelSend = now.monotonic }
            job.step = .atBox
            job.since = now.monotonic
            lane.current = job
            // On disk before it is on the wire: whatever happens next, this id is never sent again.
            ledger.note(
                .sent, report(job.command, .received, now: now), job.command.intent,
                isOurID: job.command.isOurID)
            actions += [.save, .execute(job.command)]
        }
        return actions
    }

    /// The final stage that a box's outcome means.
    mutating func close(_ job: Job, _ outcome: BoxOutcome, now: Moment) -> [Action] {
        switch outcome {
        case .applied(let value):
            confirm(job, now: now)
            return end(job.command, .done, value: value.map(JSONValue.init), now: now)
        case .overtaken(let value):
            return end(job.command, .superseded, value: value.map(JSONValue.init), now: now)
        case .unconfirmed: return endUnknown(job, now: now)
        case .expired:
            return end(job.command, .expired, code: .expired, boxCode: "E_CMD_EXPIRED", now: now)
        case .refused(let reason):
            return end(
                job.command, .refused, code: CommandCode(reason.kind), boxCode: reason.boxCode,
                detail: reason.missing.map(LocalText.init), now: now)
        case .neverArrived: return end(job.command, .notDelivered, code: .noAnswer, now: now)
        }
    }

    func report(
        _ command: Command, _ stage: Stage, code: CommandCode? = nil, boxCode: String? = nil,
        detail: LocalText? = nil, value: JSONValue? = nil, now: Moment
    ) -> StageReport {
        StageReport(
            id: command.id, from: command.from, topic: command.topic, loadpoint: command.loadpoint,
            stage: stage, code: code, boxCode: boxCode, detail: detail,
            requested: command.requested, value: value, at: now.wall,
            responseTopic: command.responseTopic, correlationData: command.correlationData)
    }

    /// Ends a command. The ledger holds the end before anybody hears of it.
    mutating func end(
        _ command: Command, _ stage: Stage, code: CommandCode? = nil, boxCode: String? = nil,
        detail: LocalText? = nil, value: JSONValue? = nil, now: Moment
    ) -> [Action] {
        let final = report(
            command, stage, code: code, boxCode: boxCode, detail: detail, value: value, now: now)
        ledger.note(.ended, final, command.intent, isOurID: command.isOurID)
        return [.save] + tell(final)
    }

    /// Ends a command of which nobody knows what became of it. The words say whether
    /// the box had it.
    mutating func endUnknown(_ job: Job, value: JSONValue? = nil, now: Moment) -> [Action] {
        end(
            job.command, .unconfirmed, code: .noAnswer, detail: job.wasAcknowledged ? .takenByTheBox : nil,
            value: value, now: now)
    }

    // MARK: Who else asked

    /// A stage, to whoever asked first and to everybody who asked for the same.
    func tell(_ report: StageReport) -> [Action] {
        [.report(report)] + (alsoAsked[report.id] ?? []).map { .report(report.again(to: $0)) }
    }

    mutating func listens(_ asker: ReplyTo, to report: StageReport) {
        guard let topic = asker.topic, !topic.isEmpty, asker != ReplyTo(report) else { return }
        let listening = alsoAsked[report.id] ?? []
        guard listening.count < limits.listeners, !listening.contains(asker) else { return }
        alsoAsked[report.id] = listening + [asker]
    }

    // MARK: What never comes near the box

    /// Why a command is not even taken in; `nil`: it is.
    func turnedAway(_ command: Command, _ key: String, now: Moment) -> CommandCode? {
        guard let lane = lanes[key] else { return nil }
        // A level takes the place of the one that waits.
        let folds =
            Job(command: command, since: now.monotonic).isLevel && lane.waiting.contains(where: \.isLevel)
        if lane.waiting.count >= limits.waitingPerLane, !folds { return .busy }
        let sends = lane.sends.filter { now.monotonic - $0 < .seconds(60) }.count
        let isNext = linkIsUp && lane.current == nil && lane.waiting.isEmpty
        return isNext && sends >= limits.sendsPerMinute ? .rateLimited : nil
    }

    mutating func refuse(
        _ command: Command, _ code: CommandCode, detail: LocalText? = nil, now: Moment
    ) -> [Action] {
        passes(
            report(command, .refused, code: code, detail: detail, now: now), isOurID: command.isOurID,
            now: now)
    }

    /// Answers what goes no further. Of too many in a minute each is still answered,
    /// but is no news to anybody else, so that a flood leaves room for what is right.
    mutating func passes(_ report: StageReport, isOurID: Bool, now: Moment) -> [Action] {
        let key = report.loadpoint ?? ""
        var recent = (refusals[key] ?? []).filter { now.monotonic - $0 < .seconds(60) }
        var report = report
        let isTooMany = recent.count >= limits.refusalsPerMinute
        if isTooMany {
            // Of an old wish it matters more that it was one.
            if report.stage == .refused, report.code != .retained {
                report.code = .rateLimited
                report.detail = nil
            }
        } else {
            recent.append(now.monotonic)
        }
        refusals[key] = recent
        ledger.pass(report, isOurID: isOurID, isQuiet: isTooMany)
        return [.report(report)]
    }

    /// Looks through the ledger for what is too old: once a minute, or when it is full.
    mutating func prune(now: Moment) {
        let most = CommandLedger.capacity + CommandLedger.passingCapacity
        if let prunedAt, abs(now.wall.timeIntervalSince(prunedAt)) < 60, ledger.entries.count < most {
            return
        }
        prunedAt = now.wall
        ledger.prune(now: now.wall)
        alsoAsked = alsoAsked.filter { ledger[$0.key] != nil }
    }

    // MARK: Whether anybody heard

    /// A final report was handed to a broker that is there.
    public mutating func handedOver(_ id: String, now: Moment) {
        guard let entry = ledger[id], entry.isSettled, !entry.isTold else { return }
        told[id] = told[id] ?? now.monotonic
        hearAt = hearAt ?? now.monotonic + limits.toldFor
        perhapsTold.insert(id)
    }

    /// The end of that id was not handed to this broker yet.
    public func isNews(_ id: String) -> Bool { ledger[id]?.isTold == false && told[id] == nil }

    /// The broker is gone: what was handed over just now may not have got there.
    public mutating func brokerLeft() {
        told = [:]
        hearAt = nil
    }

    /// The end of that id is told where the loadpoint's last command is, not only to whoever asked.
    public func isShown(_ id: String) -> Bool {
        ledger[id]?.isQuiet == false
    }

    /// Ends that a broker that has just come is to be told.
    public var untold: [StageReport] {
        ledger.untold.flatMap { report in
            var first = report
            if perhapsTold.contains(report.id) { first.telling = .perhapsAgain }
            return [first] + (alsoAsked[report.id] ?? []).map { report.again(to: $0) }
        }
    }

    /// What was told for a while counts as heard. Looked at once a second at most.
    mutating func forgetTold(now: Moment) -> [Action] {
        guard let due = hearAt, now.monotonic >= due else { return [] }
        var isNews = ledger.hasUnsavedLast
        for (id, moment) in told where now.monotonic >= moment + limits.toldFor {
            told[id] = nil
            perhapsTold.remove(id)
            alsoAsked[id] = nil
            if ledger.told(id) { isNews = true }
        }
        hearAt = told.values.min().map { max($0 + limits.toldFor, now.monotonic + .seconds(1)) }
        if isNews { ledger.saves() }
        return isNews ? [.save] : []
    }
}
