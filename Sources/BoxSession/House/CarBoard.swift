import EnergyModel
import FoundationEssentials
import JSONText

/// The newest answers about the chargers and the plan, and what follows from
/// them and from the time. Pure.
struct CarBoard {
    /// What else decides whether an answer may be shown as now.
    struct Surroundings: Equatable {
        /// Frames arrive and the last question was answered.
        var isUp: Bool
        /// The last question for the plan was not answered.
        var isPlanOld: Bool
        /// An answer about the chargers older than this, in seconds, is not of now.
        var standsFor: Double
        /// The stream's verdict on each source.
        var chargers: [String: Bool]
        var zone: HouseholdZone
    }
    private struct Window: Equatable {
        var start: Date
        var end: Date
    }
    /// What a loadpoint tells about the plan; another one means that the plan is another.
    private struct PlanMark: Equatable {
        var windows: [Window]
        var isPending: Bool
        var isOutdated: Bool
        var targetSoc: Double?
        var targetTime: Date?
    }

    private var list: LoadpointList?
    private var readAt = Date(timeIntervalSince1970: 0)
    private var isOfThisRun = false
    /// The last answer about the plan in this run of the box.
    private(set) var plan: PlanAnswer?
    private var trackers: [String: CarLevelTracker] = [:]

    private var shown: [CarState]?
    private var isDirty = true
    private var around: Surroundings?
    private var shownAt: Date?
    /// When the picture changes by time alone; `nil` while it does not.
    private(set) var nextChange: Date?

    /// More loadpoints than any household has; beyond it nothing is remembered.
    static let limit = 64

    // MARK: What is known

    var hasLoadpoints: Bool { list.map { !$0.loadpoints.isEmpty } ?? false }
    /// The chargers' drivers, by the ids they have as sources.
    var drivers: Set<String> { Set(list?.loadpoints.compactMap(\.driverName) ?? []) }

    /// A car that is plugged in is to be ready at some time to come. Without one
    /// nobody looks at the plan.
    func hasGoal(at wall: Date) -> Bool {
        (shown ?? []).contains { car in
            car.loadpoint.pluggedIn != false && car.goal?.nextDeadline.map { $0 > wall } ?? false
        }
    }

    /// The box is making a new plan; what it would answer now is void in a moment.
    var isPlanPending: Bool { list?.loadpoints.contains { $0.planPending == true } ?? false }

    // MARK: What happened

    mutating func restarted() {
        isOfThisRun = false
        plan = nil
        isDirty = true
    }

    /// - Returns: Whether the plan is another than at the last answer.
    mutating func read(_ list: LoadpointList, at readAt: Date) -> Bool {
        let before = self.list.map { marks($0, at: readAt) }
        self.list = list
        self.readAt = readAt
        isOfThisRun = true
        isDirty = true
        let ids = Set(list.loadpoints.map(\.id))
        // A box that has just started may not know its chargers yet.
        if !ids.isEmpty { trackers = trackers.filter { ids.contains($0.key) } }
        return before.map { $0 != marks(list, at: readAt) } ?? false
    }

    mutating func read(_ plan: PlanAnswer) {
        self.plan = plan
        isDirty = true
    }

    mutating func personSet(loadpoint: String, soc: Double, boxStartedAt: Date?, wall: Date) {
        guard trackers[loadpoint] != nil || trackers.count < Self.limit, (0...1).contains(soc) else { return }
        let sessionWh = list?.loadpoints.first { $0.id == loadpoint }?.sessionWh
        trackers[loadpoint, default: CarLevelTracker()].personSet(
            PersonNote(soc: soc, at: wall, sessionWh: sessionWh, boxStartedAt: boxStartedAt))
        isDirty = true
    }

    // MARK: The picture

    /// Derives again when an input changed or a moment passed, else gives the same.
    mutating func cars(_ around: Surroundings, boxStartedAt: Date?, now: Date) -> [CarState]? {
        guard let list else { return nil }
        // A clock that was set back makes every age another.
        let isTimely = shownAt.map { now >= $0 } ?? false && nextChange.map { now < $0 } ?? true
        if !isDirty, isTimely, self.around == around { return shown }
        isDirty = false
        self.around = around
        shownAt = now
        let isOnlyCar = list.loadpoints.count == 1
        let cars = list.loadpoints.map { lp in
            car(lp, isOnlyCar: isOnlyCar, around: around, boxStartedAt: boxStartedAt, now: now)
        }
        let end = readAt.addingTimeInterval(around.standsFor + 0.001)
        nextChange = (cars.flatMap { moments($0) } + [end]).filter { $0 > now }.min()
        shown = cars
        return cars
    }

    private mutating func car(
        _ lp: Loadpoint, isOnlyCar: Bool, around: Surroundings, boxStartedAt: Date?, now: Date
    ) -> CarState {
        // A source that never answered in this run is not in the table.
        let isHealthy = lp.driverName.flatMap { around.chargers[$0] ?? (lp.charger == nil ? false : nil) }
        // Reading may have become impossible without a word, on a box in distress.
        let isYoung = now.timeIntervalSince(readAt) <= around.standsFor
        return trackers[lp.id, default: CarLevelTracker()].car(
            CarInput(
                loadpoint: lp, readAt: readAt, isTrusted: around.isUp && isOfThisRun && isYoung,
                isChargerHealthy: isHealthy, boxStartedAt: boxStartedAt, plan: plan,
                isPlanOld: around.isPlanOld, zone: around.zone, isOnlyCar: isOnlyCar, now: now))
    }

    /// The moments at which this car is shown otherwise although nothing was read.
    private func moments(_ car: CarState) -> [Date] {
        var moments: [Date] = []
        if car.level.origin == .car, let at = car.level.at {
            // Exactly the limit is still live.
            moments.append(at.addingTimeInterval(CarLevelTracker.liveLimit + 0.001))
        }
        if let deadline = car.goal?.nextDeadline {
            moments.append(deadline)
            if let made = plan?.plan?.generatedAt {
                moments.append(made.addingTimeInterval(Readiness.planLimit + 0.001))
            }
        }
        if case .waiting(let window) = car.charging { moments += [window.start, window.end] }
        return moments + car.readiness.windows.flatMap { [$0.start, $0.end] }
    }

    private func marks(_ list: LoadpointList, at now: Date) -> [String: PlanMark] {
        Dictionary(
            list.loadpoints.map { lp in
                let windows = (lp.planWindows ?? lp.planNext.map { [$0] } ?? []).filter { $0.end > now }
                    // What has begun is told from now on, or from its start: that is no news.
                    .map { Window(start: max($0.start, now), end: $0.end) }
                return (
                    lp.id,
                    PlanMark(
                        windows: windows, isPending: lp.planPending ?? false,
                        isOutdated: lp.planOutdated ?? false, targetSoc: lp.targetSoc,
                        targetTime: lp.targetTime.flatMap { $0 > now ? $0 : nil })
                )
            }, uniquingKeysWith: { a, _ in a })
    }
}

// MARK: - What is kept over a restart

extension CarBoard {
    /// When each person's note was made, to see whether one came or went.
    var notes: [String: Date] { trackers.compactMapValues { $0.note?.at } }

    /// Fields of the last answers that could not be used, by name.
    var faults: [String] { (list?.faults ?? []) + (plan?.faults ?? []) }

    var wasRead: Bool { list != nil }

    /// What the box itself does not remember, by loadpoint.
    var memory: JSONValue { .object(trackers.mapValues(\.json)) }

    mutating func remember(_ memory: JSONValue) {
        for (id, json) in (memory.objectValue ?? [:]).prefix(Self.limit) {
            trackers[id] = CarLevelTracker(json: json)
        }
        isDirty = true
    }
}
