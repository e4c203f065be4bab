public import FoundationEssentials

/// Whether the car will be ready, and if not, what is missing (box-api.md §F.2).
public struct Readiness: Sendable, Equatable {
    public enum State: String, Sendable, CaseIterable {
        case onTrack = "on_track"
        case late
        case noGoal = "no_goal"
        case onHold = "on_hold"
        case replanning
        case unknown
    }
    /// Why nothing is said, in the order in which the reasons are looked for.
    public enum Reason: String, Sendable, CaseIterable {
        case unplugged, stale
        case noGoal = "no_goal"
        case hold, planning
        case noPlan = "no_plan"
        case done, declined, prices, unsupported
    }

    public var state: State
    /// `nil` when something is said.
    public var reason: Reason?
    /// The level that is asked for.
    public var goalSoc: Double?
    /// The level at the deadline; `nil` when nothing is said.
    public var expectedSoc: Double?
    /// Energy missing in the battery at the deadline; `nil` when not told.
    public var shortfallWh: Double?
    /// The deadline; `nil` without a goal.
    public var by: Date?
    /// The guess on which all of this builds; `nil` when it is no guess.
    public var assumedFrom: Double?
    /// The battery's size is a guess.
    public var isCapacityGuessed: Bool
    /// When it will charge.
    public var windows: [ChargingWindow]
    public var plannedAt: Date?

    public init(
        state: State, reason: Reason? = nil, goalSoc: Double? = nil, expectedSoc: Double? = nil,
        shortfallWh: Double? = nil, by: Date? = nil, assumedFrom: Double? = nil,
        isCapacityGuessed: Bool = false, windows: [ChargingWindow] = [], plannedAt: Date? = nil
    ) {
        self.state = state
        self.reason = reason
        self.goalSoc = goalSoc
        self.expectedSoc = expectedSoc
        self.shortfallWh = shortfallWh
        self.by = by
        self.assumedFrom = assumedFrom
        self.isCapacityGuessed = isCapacityGuessed
        self.windows = windows
        self.plannedAt = plannedAt
    }
}

/// What one evaluation of the readiness looks at.
public struct ReadinessInput: Sendable {
    public var loadpoint: Loadpoint
    public var level: CarLevel
    public var goal: Goal?
    /// The last answer about the plan; `nil` when there is none.
    public var plan: PlanAnswer?
    /// The box is there and the charger answers.
    public var isReachable: Bool
    /// There is no other loadpoint.
    public var isOnlyCar: Bool
    public var now: Date

    public init(
        loadpoint: Loadpoint, level: CarLevel, goal: Goal?, plan: PlanAnswer?, isReachable: Bool = true,
        isOnlyCar: Bool = true, now: Date
    ) {
        self.loadpoint = loadpoint
        self.level = level
        self.goal = goal
        self.plan = plan
        self.isReachable = isReachable
        self.isOnlyCar = isOnlyCar
        self.now = now
    }
}

extension Readiness {
    /// The box itself no longer trusts a plan older than this, in seconds.
    public static let planLimit = 1_800.0
    /// What may be missing without being worth a word.
    static func toleranceWh(capacityWh: Double) -> Double { max(100, capacityWh * 0.005) }

    /// Answers for one car; the first reason for silence wins.
    ///
    /// A plan is read only while some car has a goal, so its age counts only then.
    public init(_ input: ReadinessInput) {
        let lp = input.loadpoint
        let capacity = lp.capacity
        self.init(state: .unknown)
        isCapacityGuessed = capacity.guessed
        assumedFrom = input.level.assumedSoc

        let deadline = input.goal?.nextDeadline.flatMap { $0 > input.now ? $0 : nil }
        let wanted = input.goal.map { $0.soc ?? 1 }
        if let silence = Self.silence(input, deadline: deadline) {
            (state, reason) = (Self.state(for: silence), silence)
            if silence != .unplugged, silence != .noGoal {
                by = deadline
                goalSoc = wanted
            }
            if [.prices, .unsupported].contains(silence) { addWindows(input) }
            return
        }
        guard let deadline, let wanted, let plan = input.plan?.plan else { return }
        by = deadline
        goalSoc = wanted
        addWindows(input)
        if let missing = plan.shortfallWh?[lp.id] {
            shortfallWh = missing
            expectedSoc = min(max(wanted - missing / capacity.wh, 0), wanted)
            let isLate =
                missing > Self.toleranceWh(capacityWh: capacity.wh) && !shows(expectedSoc, as: wanted)
            state = isLate ? .late : .onTrack
            return
        }
        // Some planners leave the map, or the car in it, out when nothing is missing.
        let reached = plan.actions.last { $0.end <= deadline }?.carSocByID?[lp.id]
        guard let reached, !plan.isFallback, lp.capacitySource != .guess else {
            reason = .unsupported
            return
        }
        if reached >= wanted - 0.005 {
            (state, expectedSoc) = (.onTrack, min(reached, wanted))
        } else if reached < wanted - 0.06 {
            (state, expectedSoc) = (.late, reached)
        } else {
            reason = .unsupported
        }
    }

    private mutating func addWindows(_ input: ReadinessInput) {
        plannedAt = input.plan?.plannedAt
        windows = chargingWindows(
            of: input.loadpoint, plan: input.plan?.plan, isOnlyCar: input.isOnlyCar, now: input.now)
    }

    /// Rounding makes them the same number on the wall.
    private func shows(_ soc: Double?, as other: Double) -> Bool {
        soc.map { ($0 * 100).rounded() == (other * 100).rounded() } ?? false
    }

    private static func state(for reason: Reason) -> State {
        switch reason {
        case .noGoal: .noGoal
        case .hold: .onHold
        case .planning: .replanning
        default: .unknown
        }
    }

    private static func silence(_ input: ReadinessInput, deadline: Date?) -> Reason? {
        let lp = input.loadpoint
        let answer = input.plan
        if lp.pluggedIn == false { return .unplugged }
        if !input.isReachable || lp.isChargerUnavailable || lp.pluggedIn == nil { return .stale }
        if let deadline, deadline > input.now, let made = answer?.plan?.generatedAt,
            input.now.timeIntervalSince(made) > planLimit
        {
            return .stale
        }
        guard let deadline else { return .noGoal }
        switch lp.hold {
        case .chargeNow, .paused, .needsChoice: return .hold
        case Loadpoint.Hold.none?, nil: break
        }
        if lp.planPending == true || answer?.isReplanning == true { return .planning }
        guard lp.planOutdated != true, answer?.isOutdated != true, answer?.enabled != false,
            let plan = answer?.plan, let last = plan.actions.last
        else { return .noPlan }
        if lp.goalComplete == true { return .done }
        if lp.chargingDeclined == true { return .declined }
        if lp.gridDeferred == true || deadline > last.end { return .prices }
        return nil
    }
}
