import EnergyModel
import FoundationEssentials
import JSONText

extension CommandDesk.Job {
    var isLevel: Bool { if case .level = command.intent { true } else { false } }
    var level: Double? { if case .level(.exactly(let soc)) = command.intent { soc } else { nil } }
}

extension BoxRefusalReason.Kind {
    /// The same wish would be refused again for the same reason.
    var repeats: Bool {
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

extension CommandDesk {
    func lane(_ command: Command) -> String { command.loadpoint.map { "car/\($0)" } ?? "site" }

    func laneOf(_ id: String) -> String? { lanes.first { $0.value.current?.command.id == id }?.key }

    /// The newest level somebody asked for and that is not settled yet.
    func newestLevel(_ key: String) -> Double? {
        guard let lane = lanes[key] else { return nil }
        return lane.waiting.last(where: \.isLevel)?.level ?? lane.current?.level
    }

    /// A newer level takes the place of the one that still waits.
    mutating func fold(_ key: String, now: Moment) -> [Action] {
        let older = lanes[key]?.waiting.filter(\.isLevel) ?? []
        lanes[key]?.waiting.removeAll(where: \.isLevel)
        return older.flatMap { end($0.command, .superseded, now: now) }
    }

    /// Sends what may be sent, and ends what has waited too long.
    mutating func pump(_ key: String, now: Moment) -> [Action] {
        var actions: [Action] = []
        guard var lane = lanes[key] else { return [] }
        defer { lanes[key] = lane.current == nil && lane.waiting.isEmpty && lane.sends.isEmpty ? nil : lane }
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
            ledger.note(.sent, report(job.command, .received, now: now), job.command.intent)
            actions += [.save, .execute(job.command)]
        }
        return actions
    }

    /// The final stage that a box's outcome means.
    mutating func close(_ job: Job, _ outcome: BoxOutcome, now: Moment) -> [Action] {
        switch outcome {
        case .applied(let value): end(job.command, .done, value: value.map(JSONValue.init), now: now)
        case .overtaken(let value): end(job.command, .superseded, value: value.map(JSONValue.init), now: now)
        case .unconfirmed: end(job.command, .unconfirmed, code: .noAnswer, now: now)
        case .expired: end(job.command, .expired, code: .expired, boxCode: "E_CMD_EXPIRED", now: now)
        case .refused(let reason):
            end(job.command, .refused, code: CommandCode(reason.kind), boxCode: reason.boxCode, now: now)
        case .neverArrived: end(job.command, .notDelivered, code: .noAnswer, now: now)
        }
    }

    func report(
        _ command: Command, _ stage: Stage, code: CommandCode? = nil, boxCode: String? = nil,
        value: JSONValue? = nil, now: Moment
    ) -> StageReport {
        StageReport(
            id: command.id, topic: command.topic, loadpoint: command.loadpoint, stage: stage, code: code,
            boxCode: boxCode, requested: command.requested, value: value, at: now.wall,
            responseTopic: command.responseTopic, correlationData: command.correlationData)
    }

    /// Ends a command. The ledger holds the end before anybody hears of it.
    mutating func end(
        _ command: Command, _ stage: Stage, code: CommandCode? = nil, boxCode: String? = nil,
        value: JSONValue? = nil, now: Moment
    ) -> [Action] {
        let final = report(command, stage, code: code, boxCode: boxCode, value: value, now: now)
        ledger.note(.ended, final, command.intent)
        return [.save, .report(final)]
    }
}
