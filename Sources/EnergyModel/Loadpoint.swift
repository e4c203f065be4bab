public import FoundationEssentials

/// A charging point and the car on it, as the box tells it (box-api.md §A).
///
/// `nil` means that the box did not tell, never zero or false. Numbers that the
/// box leaves out when they are zero are `nil` too where zero would mean
/// "none"; the exceptions are said at the member.
public struct Loadpoint: Sendable, Equatable {
    // MARK: Identity, plug, power

    /// Key for every command and route, as typed in the box; may hold spaces.
    public var id: String
    /// The charger's driver, equal to a source of the stream.
    public var driverName: String?
    /// Whether the cable is in. Kept by the box at its last value while the
    /// charger is unreachable, see ``isChargerUnavailable``.
    public var pluggedIn: Bool?
    /// What the car draws, in watts, with the same caveat.
    public var powerW: Double?
    /// The reading of ``powerW`` is unusable although the charger talks.
    public var powerUnavailable: Bool?
    /// Energy since the cable went in.
    public var sessionWh: Double?
    /// When the box last processed the charger. **Not** the age of anything shown.
    public var processedAt: Date?
    /// Configured limits; `nil` when not configured.
    public var minPowerW: Double?
    public var maxPowerW: Double?
    /// Powers the charger can be set to, ascending.
    public var stepsW: [Double]?
    /// 1 or 3.
    public var phases: Int?
    /// From phase to neutral, so that A = W ÷ (phases × V).
    public var voltageV: Double?
    public var charger: ChargerReading?

    // MARK: Level

    /// The box's working level, from which it plans. 0 while unplugged means "none".
    public var currentSoc: Double?
    /// Where ``currentSoc`` comes from; `nil` while unplugged.
    public var socSource: SocSource?
    /// What the car reported. The box leaves it out at exactly 0 %.
    public var vehicleSoc: Double?
    /// The car's own limit.
    public var vehicleLimitSoc: Double?
    /// `Charging`, `Starting`, `NoPower`, `Stopped`, `Complete`, `Disconnected`, or another word.
    public var vehicleState: String?
    public var vehicleDriver: String?
    /// The box holds the car's report for old.
    public var vehicleStale: Bool?
    /// Age of ``vehicleSoc`` in seconds when the answer was made.
    public var vehicleSocAgeS: Double?
    public var vehicleName: String?
    public var capacityWh: Double?
    public var capacitySource: CapacitySource?
    /// `session`: a confirmed level survives a restart of the box.
    public var socRetention: String?
    /// The car refused power while it was offered.
    public var chargingDeclined: Bool?

    // MARK: Hold and boost

    /// A person's order is in force, to charge or to pause.
    public var manualActive: Bool?
    /// Held power; left out by the box when it is 0, which is a pause.
    public var manualW: Double?
    /// The hold ends at this level.
    public var manualReleaseSoc: Double?
    public var manual: ManualAccount?
    /// After a restart the box waits at 0 W for somebody to choose again.
    public var manualRestoreUnconfirmed: Bool?
    /// The hold would not survive a restart.
    public var manualSaveError: Bool?
    public var boost: BatteryBoost?
    public var surplusOnly: Bool?

    // MARK: Goal, order, plan

    public var schedule: Schedule?
    /// The goal in force; 0 means none.
    public var targetSoc: Double?
    /// The deadline in force; `nil` when there is none. An expired one stays in the past.
    public var targetTime: Date?
    /// The last order to the charger, after every limit.
    public var commandedW: Double?
    public var commandedReason: String?
    public var commandedSince: Date?
    /// Charging from the grid waits for tomorrow's prices.
    public var gridDeferred: Bool?
    public var planPending: Bool?
    public var planOutdated: Bool?
    /// Every remaining charging window in order; `nil` when the box does not list them.
    public var planWindows: [ChargingWindow]?
    public var planNext: ChargingWindow?
    public var planTotalWh: Double?
    public var goalComplete: Bool?
    public var goalRetention: String?

    /// Names of fields with an unusable value, each once.
    public var faults: [String] = []

    public init(id: String) { self.id = id }
}

extension Loadpoint {
    /// How the box came to its working level (box-api.md §A.3).
    public enum SocSource: Sendable, Equatable {
        case vehicle, completed, assumed, inferred
        case other(String)
    }

    public enum CapacitySource: Sendable, Equatable {
        case configured
        /// The box's own guess of 60 kWh.
        case guess
    }

    /// What the charger itself last said.
    public struct ChargerReading: Sendable, Equatable {
        public var known: Bool?
        public var available: Bool?
        public var updatedAt: Date?
        /// The charger's own words.
        public var reason: String?
        public var limitA: Double?

        public init(known: Bool? = nil, available: Bool? = nil) {
            self.known = known
            self.available = available
        }
    }

    /// Whether the charger obeyed a hold, step by step (box-api.md §A.5).
    public struct ManualAccount: Sendable, Equatable {
        public enum State: String, Sendable, CaseIterable {
            case sent, accepted, charging
            case notDrawing = "not_drawing"
            case stalled, limited, pausing, paused, unavailable
        }
        public var active: Bool?
        /// `nil` also for a word that this version does not know.
        public var state: State?
        public var startedAt: Date?
        /// Start, or last change of the order.
        public var since: Date?
        public var requestedW: Double?
        public var requestedA: Double?
        public var commandedW: Double?
        public var commandedA: Double?
        public var chargerLimitA: Double?
        public var chargerLimitKnown: Bool?
        public var chargerReason: String?
        /// `fuse_limit`, `fuse_cooldown`, `site_meter_stale`, `charger_limit`, or another token.
        public var limitReason: String?
        public var chargerUpdatedAt: Date?

        public init() {}
    }

    /// The house battery helping the car.
    public struct BatteryBoost: Sendable, Equatable {
        public var state: String?
        public var active: Bool?
        public var startedAt: Date?
        public var expiresAt: Date?
        public var minBatterySoc: Double?
        public var carTargetSoc: Double?
        public var departureAt: Date?
        public var stopReason: String?
        public var stoppedAt: Date?

        public init() {}
    }

    /// What a person has ordered for now.
    public enum Hold: Sendable, Equatable {
        /// Nothing: the plan decides.
        case none
        /// Charge at this power; `nil` when the box does not say how much.
        case chargeNow(powerW: Double?)
        case paused
        /// Held at 0 W after a restart until somebody chooses.
        case needsChoice
    }

    /// `nil` when the box does not tell (box-api.md §A.4).
    public var hold: Hold? {
        if manualRestoreUnconfirmed == true { return .needsChoice }
        guard let manualActive else { return nil }
        guard manualActive else { return Hold.none }
        let requestedW = manual?.requestedW ?? 0
        if (manualW ?? 0) == 0, requestedW == 0 { return .paused }
        return .chargeNow(powerW: requestedW > 0 ? requestedW : manualW)
    }

    /// The charger does not answer, so plug, power and what follows from them are old.
    public var isChargerUnavailable: Bool { charger.map { $0.available != true } ?? false }

    /// More than 100 W flow, the box's own bound; `nil` when the power is not known.
    public var isDelivering: Bool? {
        guard powerUnavailable != true, !isChargerUnavailable else { return nil }
        return powerW.map { $0 > 100 }
    }

    /// The battery's size and whether it is only a guess.
    public var capacity: (wh: Double, guessed: Bool) {
        guard let capacityWh, capacityWh > 0 else { return (60_000, true) }
        return (capacityWh, capacitySource == .guess)
    }

    /// The box is of the kind that cannot tell an assumption from an estimate.
    var isBase: Bool { capacitySource == nil && socRetention == nil }

    /// The power of "charge now": the charger's full current (box-api.md §D).
    public var fullPower: (powerW: Double, phaseMode: String?) {
        let phases = Double(self.phases ?? 3)
        let perAmpere = phases * (voltageV.flatMap { $0 > 0 ? $0 : nil } ?? 230)
        guard let maxPowerW, maxPowerW > 0 else {
            return ((16 * perAmpere).rounded(), phaseMode)
        }
        let amperes = max(1, (maxPowerW / perAmpere).rounded())
        return (min((amperes * perAmpere).rounded(), maxPowerW), phaseMode)
    }

    private var phaseMode: String? { phases.map { $0 == 1 ? "1p" : "3p" } }
}

/// A stretch of time in which a car charges.
public struct ChargingWindow: Sendable, Equatable {
    public var start: Date
    public var end: Date
    /// Energy in it; `nil` when not told.
    public var energyWh: Double?

    public init(start: Date, end: Date, energyWh: Double? = nil) {
        self.start = start
        self.end = end
        self.energyWh = energyWh
    }
}
