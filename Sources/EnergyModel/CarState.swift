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

/// What may be shown as now. All of it is `nil` while the charger or the box
/// does not answer; level, goal and readiness say for themselves how old they are.
extension CarState {
    /// The loadpoint's id, as typed in the box.
    public var id: String { loadpoint.id }
    /// What the box calls the car; `nil` when it knows none.
    public var vehicleName: String? { loadpoint.vehicleName }

    public var isPluggedIn: Bool? { now(loadpoint.pluggedIn) }
    /// More than 100 W flow.
    public var isCharging: Bool? { now(loadpoint.isDelivering) }
    /// What the car draws, in watts; `nil` also when the reading is unusable.
    public var powerW: Double? { now(loadpoint.powerUnavailable == true ? nil : loadpoint.powerW) }
    /// Energy since the cable went in.
    public var sessionWh: Double? { now(loadpoint.sessionWh) }
    public var minPowerW: Double? { now(loadpoint.minPowerW) }
    public var maxPowerW: Double? { now(loadpoint.maxPowerW) }
    /// The power of "charge now".
    public var fullPowerW: Double? { now(loadpoint.fullPower.powerW) }
    public var phases: Int? { now(loadpoint.phases) }
    public var surplusOnly: Bool? { now(loadpoint.surplusOnly) }
    /// The house battery helps the car.
    public var isBoosting: Bool? { now(loadpoint.boost?.active) }
    public var hold: Loadpoint.Hold? { now(loadpoint.hold) }
    /// When the hold began or was last changed; `nil` when not told.
    public var holdSince: Date? { now(loadpoint.holdSince) }
    /// What a person sees as the charging's mode; `nil` when not known.
    public var intention: Sentence.Intention? { now(loadpoint.hold?.intention) }

    private func now<Value>(_ value: Value?) -> Value? { isCurrent ? value : nil }
}

extension Loadpoint {
    /// When the hold began or was last changed; `nil` without one and when not told.
    public var holdSince: Date? { manualActive == true ? manual?.since ?? manual?.startedAt : nil }
}

extension Loadpoint.Hold {
    /// `plan`, `charge_now` or `paused`; a box that waits for a choice is paused.
    public var intention: Sentence.Intention {
        switch self {
        case .none: .plan
        case .chargeNow: .chargeNow
        case .paused, .needsChoice: .paused
        }
    }
}
