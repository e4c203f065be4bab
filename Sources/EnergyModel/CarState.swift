public import FoundationEssentials

/// One charging point and the car at it, as everything about it may be shown.
public struct CarState: Sendable, Equatable {
    /// What the box said, whatever its age.
    public var loadpoint: Loadpoint
    /// When the box said it.
    public var readAt: Date
    /// Whether it may be shown as now: the link is up, the answer is of this run
    /// of the box, and the charger's source is healthy. Otherwise everything here is old.
    public var isCurrent: Bool
    public var level: CarLevel
    /// `nil` when the box holds no goal.
    public var goal: Goal?
    public var readiness: Readiness
    public var charging: ChargingState

    public init(
        loadpoint: Loadpoint, readAt: Date, isCurrent: Bool, level: CarLevel, goal: Goal?,
        readiness: Readiness, charging: ChargingState
    ) {
        self.loadpoint = loadpoint
        self.readAt = readAt
        self.isCurrent = isCurrent
        self.level = level
        self.goal = goal
        self.readiness = readiness
        self.charging = charging
    }
}
