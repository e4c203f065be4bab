import EnergyModel
import FoundationEssentials
import JSONText

/// What commands leave on topics: never the wish, only how it ended.
extension StatePublisher {
    /// The box would not refuse us for who we are.
    var takesCommands: Bool {
        site.link.isUp && site.link.state != .readonly && site.box?.role != "viewer" && !settings.isReadOnly
    }

    /// Whether the box would take that command from us: it is open, and this
    /// version of the box has it.
    func takes(_ name: CommandName) -> Bool {
        takesCommands && settings.commands.contains(name)
            && !site.unsupported.contains { $0.rawValue == name.rawValue }
    }

    /// A loadpoint's commands, or the site's.
    func takes(_ names: [CommandName]) -> Payload {
        .document(
            Dictionary(
                names.map { ($0.rawValue, JSONValue.bool(takes($0))) },
                uniquingKeysWith: { first, _ in first }))
    }

    /// Those of a loadpoint; the rest are the site's.
    static let carCommandNames = CommandName.allCases.filter { $0 != .mode }

    /// How the last command of a loadpoint ended; `nil` when there was none in a day.
    func lastCommand(of loadpoint: String, now: Date) -> StageReport? {
        lastCommands[loadpoint].flatMap { Self.isTold($0, now: now) ? $0 : nil }
    }

    /// A clock that was set back must not make it last for ever.
    private static func isTold(_ report: StageReport, now: Date) -> Bool {
        abs(now.timeIntervalSince(report.at)) < CommandLedger.memory
    }

    /// Takes back what is older than a day: a broker lets it expire by itself only
    /// where it speaks MQTT 5, and a sentence about it never.
    mutating func dropOldCommands(now: Moment) {
        for (loadpoint, report) in lastCommands where !Self.isTold(report, now: now.wall) {
            lastCommands[loadpoint] = nil
            hasDroppedCommands = true
            if let level = carLevels[loadpoint] { markReceipt(level, at: now.monotonic) }
        }
        if hasDroppedCommands { arrange() }
        let next = lastCommands.values.map { CommandLedger.memory - now.wall.timeIntervalSince($0.at) }.min()
        commandsEnd = next.map { now.monotonic + .seconds(min(max($0, 1), CommandLedger.memory)) }
    }

    private mutating func markReceipt(_ level: TopicLevel, at due: Duration) {
        for name in [TopicName.carTextEn, .carTextSv] { mark(.init(name, level), at: due) }
    }

    /// Takes in whose orders stand and where one is under way.
    mutating func follow(askers: [String: Asker], busy: Set<String>, now: Moment) {
        let freed = self.busy.subtracting(busy)
        (self.askers, self.busy) = (askers, busy)
        for car in site.cars ?? [] where freed.contains(car.id) && car.isCurrent {
            // What was read while it was under way may show what it did.
            let before = holds[car.id]
            readHold(of: car)
            if holds[car.id] != before, let level = carLevels[car.id] {
                mark(.init(.carHold, level), at: now.monotonic)
            }
        }
    }

    mutating func readHold(of car: CarState) {
        holds[car.id, default: HoldWatch()].read(
            car, asker: askers[car.id], isRenewed: site.leases[car.id] != nil,
            isTaken: site.takenHolds.contains(car.id), isBusy: busy.contains(car.id))
    }

    /// A command of a loadpoint ended.
    mutating func ended(_ report: StageReport, now: Moment) {
        guard let loadpoint = report.loadpoint, let level = carLevels[loadpoint] else { return }
        if let before = lastCommands[loadpoint], before.at > report.at { return }
        let isFirst = lastCommands[loadpoint] == nil
        lastCommands[loadpoint] = report
        if isFirst { arrange() }
        mark(.init(.carLastCommand, level), at: now.monotonic)
        markReceipt(level, at: now.monotonic)
        dropOldCommands(now: now)
    }
}
