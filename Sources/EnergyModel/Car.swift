public import FoundationEssentials
public import JSONText

/// Everything a person looks at about one loadpoint and the car on it.
///
/// What hangs on the charger is `nil` while the charger or the box does not
/// answer; level, goal and readiness say for themselves how old they are.
public struct Car: Sendable, Equatable {
    /// The loadpoint's id, as typed in the box.
    public var id: String
    /// What the box calls the car; `nil` when it knows none.
    public var name: String?
    /// The box is there, the answer is of its present run, and the charger answers.
    public var isReachable: Bool
    public var isPluggedIn: Bool?
    /// More than 100 W flow.
    public var isCharging: Bool?
    public var powerW: Double?
    public var sessionWh: Double?
    public var minPowerW: Double?
    public var maxPowerW: Double?
    /// The power of "charge now".
    public var fullPowerW: Double
    public var phases: Int?
    public var surplusOnly: Bool?
    /// The house battery helps the car.
    public var isBoosting: Bool?
    public var hold: Loadpoint.Hold?
    /// When the hold began or was last changed; `nil` when not told.
    public var holdSince: Date?
    public var level: CarLevel
    public var goal: Goal?
    public var readiness: Readiness
    public var charging: ChargingState
    /// When the answer behind all this was made.
    public var readAt: Date

    /// `plan`, `charge_now` or `paused`; a box that waits for a choice is
    /// paused. `nil` when not known.
    public var intention: Sentence.Intention? {
        hold.map { hold in
            switch hold {
            case .none: .plan
            case .chargeNow: .chargeNow
            case .paused, .needsChoice: .paused
            }
        }
    }
}

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
    public mutating func car(_ input: CarInput) -> Car {
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
        return Car(
            id: lp.id, name: lp.vehicleName, isReachable: isReachable,
            isPluggedIn: isReachable ? lp.pluggedIn : nil, isCharging: isReachable ? lp.isDelivering : nil,
            powerW: isReachable && lp.powerUnavailable != true ? lp.powerW : nil,
            sessionWh: isReachable ? lp.sessionWh : nil, minPowerW: lp.minPowerW, maxPowerW: lp.maxPowerW,
            fullPowerW: lp.fullPower.powerW, phases: lp.phases, surplusOnly: lp.surplusOnly,
            isBoosting: lp.boost?.active, hold: input.isLinkUp && input.isOfThisRun ? lp.hold : nil,
            holdSince: lp.manualActive == true ? lp.manual?.since ?? lp.manual?.startedAt : nil, level: level,
            goal: goal, readiness: readiness,
            charging: ChargingState(lp, isReachable: isReachable, windows: windows, now: input.now),
            readAt: input.readAt)
    }
}
