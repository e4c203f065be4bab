public import FoundationEssentials
public import JSONText

/// What one evaluation of a car looks at.
public struct CarInput: Sendable {
    public var loadpoint: Loadpoint
    /// When the answer with the loadpoint was made.
    public var readAt: Date
    /// The answer is of the box's present run.
    public var isOfThisRun: Bool
    /// Live frames arrive from the box.
    public var isLinkUp: Bool
    /// The stream's verdict on the charger's driver; `nil` when it has none.
    public var isChargerHealthy: Bool?
    /// When the box started, by our clock; `nil` when not known.
    public var boxStartedAt: Date?
    public var plan: PlanAnswer?
    public var zone: HouseholdZone
    /// There is no other loadpoint.
    public var isOnlyCar: Bool
    public var now: Date

    public init(
        loadpoint: Loadpoint, readAt: Date, isOfThisRun: Bool = true, isLinkUp: Bool = true,
        isChargerHealthy: Bool? = nil, boxStartedAt: Date? = nil, plan: PlanAnswer? = nil,
        zone: HouseholdZone,
        isOnlyCar: Bool = true, now: Date
    ) {
        self.loadpoint = loadpoint
        self.readAt = readAt
        self.isOfThisRun = isOfThisRun
        self.isLinkUp = isLinkUp
        self.isChargerHealthy = isChargerHealthy
        self.boxStartedAt = boxStartedAt
        self.plan = plan
        self.zone = zone
        self.isOnlyCar = isOnlyCar
        self.now = now
    }
}

/// Follows one loadpoint from answer to answer. Pure; keep ``json`` on disk.
public struct CarTracker: Sendable, Equatable {
    public var level = CarLevelTracker()

    public init() {}

    /// Reads what ``json`` wrote. Anything unusable in it is forgotten.
    public init(json: JSONValue) { level = CarLevelTracker(json: json["level"] ?? .null) }

    public var json: JSONValue { ["level": level.json] }

    /// Evaluates everything anew; to be called on each input that changed, and
    /// when five minutes of a live level have passed.
    public mutating func car(_ input: CarInput) -> CarState {
        let lp = input.loadpoint
        let level = level.level(
            CarLevelInput(
                loadpoint: lp, readAt: input.readAt, isOfThisRun: input.isOfThisRun && input.isLinkUp,
                isChargerHealthy: input.isChargerHealthy, boxStartedAt: input.boxStartedAt, now: input.now))
        let isReachable =
            input.isLinkUp && input.isOfThisRun && input.isChargerHealthy != false && !lp.isChargerUnavailable
        let goal = Goal(of: lp, zone: input.zone, now: input.now)
        let readiness = Readiness(
            ReadinessInput(
                loadpoint: lp, level: level, goal: goal, plan: input.plan, isReachable: isReachable,
                isOnlyCar: input.isOnlyCar, now: input.now))
        let windows =
            isReachable
            ? chargingWindows(of: lp, plan: input.plan?.plan, isOnlyCar: input.isOnlyCar, now: input.now) : []
        return CarState(
            loadpoint: lp, readAt: input.readAt, isCurrent: isReachable, level: level, goal: goal,
            readiness: readiness,
            charging: ChargingState(lp, isReachable: isReachable, windows: windows, now: input.now))
    }
}
