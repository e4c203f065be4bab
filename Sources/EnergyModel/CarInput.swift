public import FoundationEssentials

/// What one evaluation of a car looks at.
public struct CarInput: Sendable {
    public var loadpoint: Loadpoint
    /// When the answer with the loadpoint was made.
    public var readAt: Date
    /// Live frames arrive, and the answer is young and of the box's present run.
    public var isTrusted: Bool
    /// The stream's verdict on the charger's driver; `nil` when it has none.
    public var isChargerHealthy: Bool?
    /// When the box started, by our clock; `nil` when not known.
    public var boxStartedAt: Date?
    public var plan: PlanAnswer?
    /// The plan could not be read again, and may be one for another goal.
    public var isPlanOld: Bool
    public var zone: HouseholdZone
    /// There is no other loadpoint.
    public var isOnlyCar: Bool
    public var now: Date

    public init(
        loadpoint: Loadpoint, readAt: Date, isTrusted: Bool = true, isChargerHealthy: Bool? = nil,
        boxStartedAt: Date? = nil, plan: PlanAnswer? = nil, isPlanOld: Bool = false, zone: HouseholdZone,
        isOnlyCar: Bool = true, now: Date
    ) {
        self.loadpoint = loadpoint
        self.readAt = readAt
        self.isTrusted = isTrusted
        self.isChargerHealthy = isChargerHealthy
        self.boxStartedAt = boxStartedAt
        self.plan = plan
        self.isPlanOld = isPlanOld
        self.zone = zone
        self.isOnlyCar = isOnlyCar
        self.now = now
    }
}

extension CarLevelTracker {
    /// Evaluates everything about a car anew; to be called on each input that changed, and
    /// when five minutes of a live level have passed.
    public mutating func car(_ input: CarInput) -> CarState {
        let lp = input.loadpoint
        let isReachable =
            input.isTrusted && input.isChargerHealthy != false && !lp.isChargerUnavailable
        let level = level(
            CarLevelInput(
                loadpoint: lp, readAt: input.readAt, isOfThisRun: input.isTrusted,
                isChargerHealthy: input.isChargerHealthy, boxStartedAt: input.boxStartedAt, now: input.now))
        let goal = Goal(of: lp, zone: input.zone, now: input.now)
        let isHeld = lp.hold.map { $0 != Loadpoint.Hold.none } ?? false
        let readiness = Readiness(
            ReadinessInput(
                loadpoint: lp, level: level, goal: goal, plan: input.plan,
                isReachable: isReachable && (!input.isPlanOld || isHeld || goal?.nextDeadline == nil),
                isOnlyCar: input.isOnlyCar, now: input.now))
        let windows = chargingWindows(
            of: lp, plan: input.plan?.plan, isOnlyCar: input.isOnlyCar, now: input.now)
        return CarState(
            loadpoint: lp, readAt: input.readAt, isCurrent: isReachable, level: level, goal: goal,
            readiness: readiness,
            charging: ChargingState(lp, isReachable: isReachable, windows: windows, now: input.now))
    }
}
