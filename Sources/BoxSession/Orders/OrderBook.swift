import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText

/// What the session keeps about orders: commands on the way, who waits for them,
/// leases, and what this box cannot do.
struct OrderBook {
    typealias Ticket = CommandTable.Ticket

    struct Waiter {
        var end: CheckedContinuation<CommandTracker.End, Never>
        var acknowledged: @Sendable () -> Void
    }

    /// Orders that run at the same time; one more is turned away.
    static let maxRunning = 16
    /// Orders of this process that broke and may still be read back.
    static let maxBroken = 32
    static let memoryName = "unsupported"

    var commands = CommandTable()
    var waiters: [Ticket: Waiter] = [:]
    /// What runs, to be ended with the session.
    var tasks: [Ticket: Task<Void, Never>] = [:]
    var running = 0
    var leases: [String: Lease] = [:]
    /// Loadpoints at which somebody else placed a hold in the place of a lease's.
    var taken: Set<String> = []
    /// Loadpoints whose lease is being looked at.
    var renewing: Set<String> = []
    /// Loadpoints whose hold is being read because it may be another one.
    /// With when it began, as their own reading says.
    var looking: [String: Date] = [:]
    /// Holds of which the box was asked when they end, by loadpoint.
    private var looks: [String: HoldLook] = [:]
    /// When a person's timed charging ends, monotonic, for orders that broke in the middle.
    private(set) var broken: [(id: String, endsAt: Duration)] = []
    /// What the box with that version said it lacks.
    private(set) var lacking = Lacking()
    private var lastTicket: Ticket = 0

    struct Lacking: Equatable {
        var build = ""
        var ops: Set<String> = []
    }

    /// One hold as it was first seen, and its end by the box's clock once that was read.
    private struct HoldLook: Equatable {
        var hold: Loadpoint.Hold
        var since: Date?
        var startedAt: Date?
        var number: Ticket
        var endsAt: Date?
        /// The box is to be asked again: the last answer may have been lost.
        var isDue = false

        /// Whether the charger's reading is of this very hold.
        func isOf(_ loadpoint: Loadpoint) -> Bool { loadpoint.hold == hold && loadpoint.holdSince == since }

        /// Whether the box's answer is about this hold and not about one that took its place.
        func isOf(_ detail: ManualHoldDetail) -> Bool {
            guard detail.active, (detail.powerW == 0) == (hold == .paused) else { return false }
            guard let startedAt, let began = detail.startedAt else { return true }
            return abs(began.timeIntervalSince(startedAt)) < 1
        }
    }

    mutating func ticket() -> Ticket {
        lastTicket &+= 1
        return lastTicket
    }

    var nextDeadline: Duration? {
        let due = leases.values.filter { !renewing.contains($0.loadpoint) }.map(\.dueAt).min()
        guard let command = commands.nextDeadline else { return due }
        return due.map { min($0, command) } ?? command
    }

    // MARK: What broke

    mutating func broke(_ id: String, endsAt: Duration) {
        broken = (broken + [(id, endsAt)]).suffix(Self.maxBroken)
    }

    /// - Returns: When that order's charging ends, once.
    mutating func takeBroken(_ id: String) -> Duration? {
        guard let place = broken.firstIndex(where: { $0.id == id }) else { return nil }
        return broken.remove(at: place).endsAt
    }

    // MARK: When holds end

    /// Takes in the chargers as they are now.
    ///
    /// - Returns: Loadpoints with a hold that is new and not kept alive by us, each
    ///   with a number for ``holdEnds(_:_:at:)``.
    mutating func holdsSeen(_ cars: [CarState]) -> [(id: String, number: Ticket)] {
        var new: [(String, Ticket)] = []
        let ids = Set(cars.map(\.id))
        looks = looks.filter { ids.contains($0.key) && leases[$0.key] == nil }
        for car in cars where car.isCurrent {
            switch car.loadpoint.hold {
            case nil: continue
            case .some(.none), .needsChoice: looks[car.id] = nil
            case .chargeNow?, .paused?:
                guard let hold = car.loadpoint.hold, leases[car.id] == nil else { continue }
                let known = looks[car.id].flatMap { $0.isOf(car.loadpoint) ? $0 : nil }
                if let known, !known.isDue { continue }
                let number = ticket()
                looks[car.id] = HoldLook(
                    hold: hold, since: car.loadpoint.holdSince, startedAt: car.loadpoint.manual?.startedAt,
                    number: number, endsAt: known?.endsAt)
                new.append((car.id, number))
            }
        }
        return new
    }

    /// The box said what is held there. What is about another hold than the one that
    /// was seen says nothing of that one; the next reading has it asked about again.
    mutating func holdEnds(_ id: String, _ number: Ticket, _ detail: ManualHoldDetail) {
        guard let look = looks[id], look.number == number else { return }
        looks[id]?.endsAt = look.isOf(detail) ? detail.expiresAt : nil
    }

    mutating func forgetHolds() { looks = [:] }

    /// A new session with the same box: what is held is asked about once more.
    mutating func sessionStarted() {
        for id in looks.keys { looks[id]?.isDue = true }
    }

    /// The ends that are known and still ahead, each of the very hold that the reading
    /// shows: an order's end is not that of the hold before it, which is still shown
    /// for a while.
    func holdEnds(_ cars: [CarState], at now: Duration, wall: Date) -> [String: Date] {
        var ends: [String: Date] = [:]
        for car in cars {
            if let lease = leases[car.id] {
                if lease.isShown(by: car) { ends[car.id] = wall + (lease.endsAt - now) / .seconds(1) }
            } else if let look = looks[car.id], look.isOf(car.loadpoint), let end = look.endsAt, end > wall {
                ends[car.id] = end
            }
        }
        return ends
    }

    // MARK: What the box lacks

    func lacks(_ op: Contract.Op, build: String?) -> Bool {
        build == lacking.build && lacking.ops.contains(op.rawValue)
    }

    /// - Returns: Whether that is news.
    mutating func learned(lacks op: Contract.Op, build: String) -> Bool {
        if lacking.build != build { lacking = Lacking(build: build) }
        return lacking.ops.insert(op.rawValue).inserted
    }

    /// The kinds of intent that end with `unsupported` on this box.
    func unsupported(_ facts: BoxFacts?) -> Set<Intent.Kind> {
        guard let facts else { return [] }
        var kinds: Set<Intent.Kind> = []
        for (kind, op) in Self.operations where lacks(op, build: facts.build) { kinds.insert(kind) }
        // A goal is no command: it goes through the passthrough.
        if !facts.capabilities.contains(Contract.Capability.apiPassthrough.rawValue) { kinds.insert(.goal) }
        return kinds
    }

    private static let operations: [(Intent.Kind, Contract.Op)] = [
        (.level, .loadpointSoCSet), (.control, .loadpointHold), (.surplusOnly, .loadpointSurplusOnlySet),
        (.boost, .loadpointBoost), (.mode, .siteModeSet),
    ]

    mutating func recall(_ document: JSONValue) {
        guard let build = document["build"]?.stringValue, let ops = document["ops"]?.arrayValue else {
            return
        }
        let names = ops.prefix(32).compactMap(\.stringValue)
        lacking = Lacking(build: build, ops: Set(names.filter { Contract.Op(rawValue: $0) != nil }))
    }

    var document: JSONValue {
        [
            "build": .string(lacking.build),
            "ops": .array(lacking.ops.sorted().map(JSONValue.string)),
        ]
    }
}
