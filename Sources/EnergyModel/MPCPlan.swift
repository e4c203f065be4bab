public import FoundationEssentials
public import JSONText

/// The answer to `GET /api/mpc/plan` (box-api.md §F.1).
public struct PlanAnswer: Sendable, Equatable {
    /// The planner runs; `nil` when the box does not say.
    public var enabled: Bool?
    /// Why it does not, as the box's own token.
    public var reason: String?
    /// `nil` when there is no plan, also while it is outdated.
    public var plan: MPCPlan?
    public var lastReplanAt: Date?
    public var lastReplanReason: String?
    public var isReplanning: Bool?
    public var isOutdated: Bool?
    /// Names of unusable fields, each once.
    public var faults: [String]

    /// `nil` when the document is no such answer at all.
    public init?(_ json: JSONValue) {
        guard let members = json.objectValue, members["enabled"] != nil || members["plan"] != nil else {
            return nil
        }
        var reader = FieldReader(members)
        enabled = reader.bool("enabled")
        reason = reader.text("reason")
        plan = reader.object("plan") { MPCPlan(&$0) }
        let meta = reader.object("meta") { r in
            (
                at: r.instant("last_replan_ms"), reason: r.text("last_replan_reason"),
                replanning: r.bool("replanning"), outdated: r.bool("outdated")
            )
        }
        lastReplanAt = meta?.at
        lastReplanReason = meta?.reason
        isReplanning = meta?.replanning
        isOutdated = meta?.outdated
        var seen: Set<String> = []
        faults = reader.faults.filter { seen.insert($0).inserted }
    }

    /// When the plan was made; `nil` when nobody says.
    public var plannedAt: Date? { plan?.generatedAt ?? lastReplanAt }
}

/// What the box means to do, slot by slot.
public struct MPCPlan: Sendable, Equatable {
    /// Changes with every accepted plan.
    public var decisionID: String?
    public var generatedAt: Date?
    /// The planner's strategy; **not** a site mode.
    public var strategy: String?
    /// In order of time; slots whose time is unusable are left out.
    public var actions: [Action]
    /// Energy missing in each car's battery at its deadline; `nil` when the
    /// box does not tell it at all.
    public var shortfallWh: [String: Double]?
    /// The plan was made by the simpler planner, with coarse car levels.
    public var isFallback: Bool

    /// One slot of the plan. Powers in watts, positive into the site.
    public struct Action: Sendable, Equatable {
        /// When it really starts: inside the price slot for a plan made there.
        public var start: Date
        public var end: Date
        /// Minor units per kWh. Beyond the published prices this is a forecast.
        public var price: Double?
        public var spot: Double?
        /// 1 for a published price.
        public var confidence: Double?
        /// The sun the plan counts on, never positive.
        public var solarW: Double?
        /// The plain forecast of the sun, without safety margin.
        public var forecastSolarW: Double?
        public var houseW: Double?
        public var batteryW: Double?
        public var gridW: Double?
        /// Of the house battery, at the end.
        public var batterySoc: Double?
        /// English prose of the box.
        public var reason: String?
        /// Of the first car only; left out by the box when zero.
        public var carW: Double?
        public var carSoc: Double?
        /// Average over the slot for each car; `nil` when the box does not tell it.
        public var carPowerW: [String: Double]?
        /// Each car's level at the end.
        public var carSocByID: [String: Double]?

        public init(start: Date, end: Date) {
            self.start = start
            self.end = end
        }
    }

    public init(
        decisionID: String? = nil, generatedAt: Date? = nil, actions: [Action] = [],
        shortfallWh: [String: Double]? = nil, isFallback: Bool = false
    ) {
        self.decisionID = decisionID
        self.generatedAt = generatedAt
        self.actions = actions
        self.shortfallWh = shortfallWh
        self.isFallback = isFallback
    }

    /// More slots than any plan has.
    static let slotLimit = 2_000

    init(_ r: inout FieldReader) {
        decisionID = r.text("decision_id")
        generatedAt = r.instant("generated_at_ms")
        strategy = r.text("mode")
        actions = (r.objects("actions", limit: Self.slotLimit) { Action(&$0) } ?? []).sorted {
            $0.start < $1.start
        }
        shortfallWh = r.numberMap("loadpoint_shortfall_wh", 0...1e9)
        let solver = r.object("solver") { r in (fallback: r.bool("fallback"), engine: r.text("engine")) }
        isFallback = solver?.fallback == true || (solver?.engine?.lowercased().contains("dp") ?? false)
    }
}

extension MPCPlan.Action {
    init?(_ r: inout FieldReader) {
        guard let slotStart = r.instant("slot_start_ms"), let minutes = r.number("slot_len_min", 0...1_440),
            minutes > 0
        else { return nil }
        let end = slotStart.addingTimeInterval(minutes * 60)
        let start = r.instant("execution_start_ms") ?? slotStart
        guard start < end else { return nil }
        self.init(start: start, end: end)
        price = r.signed("price_ore")
        spot = r.signed("spot_ore")
        confidence = r.number("confidence", 0...1)
        solarW = r.signed("pv_w")
        forecastSolarW = r.signed("forecast_pv_w")
        houseW = r.signed("load_w")
        batteryW = r.signed("battery_w")
        gridW = r.signed("grid_w")
        batterySoc = r.fraction("soc")
        reason = r.text("reason")
        carW = r.signed("loadpoint_w")
        carSoc = r.fraction("loadpoint_soc")
        carPowerW = r.numberMap("loadpoint_power_w", -1e9...1e9)
        carSocByID = r.numberMap("loadpoint_soc_by_id", 0...1)
    }
}

extension MPCPlan {
    /// From this power on a car counts as charging in the plan.
    public static let chargingW = 100.0

    /// What the plan gives one car in a slot; `nil` when it does not tell.
    ///
    /// - Parameter isOnlyCar: There is one loadpoint, so that the plain
    ///   `loadpoint_w` of older boxes is its own.
    public func carPowerW(of loadpoint: String, in action: Action, isOnlyCar: Bool) -> Double? {
        if let map = action.carPowerW { return map[loadpoint] ?? 0 }
        guard isOnlyCar, !actions.contains(where: { $0.carPowerW != nil }) else { return nil }
        return action.carW ?? 0
    }

    /// The stretches in which a car charges from `now` on, neighbours merged.
    public func chargingWindows(of loadpoint: String, isOnlyCar: Bool, from now: Date) -> [ChargingWindow] {
        var windows: [ChargingWindow] = []
        for action in actions where action.end > now {
            guard let powerW = carPowerW(of: loadpoint, in: action, isOnlyCar: isOnlyCar),
                powerW >= Self.chargingW
            else { continue }
            let start = max(action.start, now)
            let energyWh = powerW * action.end.timeIntervalSince(start) / 3_600
            if let last = windows.last, last.end == start {
                windows[windows.count - 1].end = action.end
                windows[windows.count - 1].energyWh = (last.energyWh ?? 0) + energyWh
            } else if let last = windows.last, start < last.end {
                continue
            } else {
                windows.append(ChargingWindow(start: start, end: action.end, energyWh: energyWh))
            }
        }
        return windows
    }
}

/// When a car will charge: the box's own list if it has one, else from the plan.
///
/// Empty when there is none, and also while the plan no longer fits the settings.
public func chargingWindows(
    of loadpoint: Loadpoint, plan: MPCPlan?, isOnlyCar: Bool, now: Date
) -> [ChargingWindow] {
    guard loadpoint.planOutdated != true, loadpoint.pluggedIn == true else { return [] }
    if let listed = loadpoint.planWindows { return listed.filter { $0.end > now } }
    if let next = loadpoint.planNext, next.end > now { return [next] }
    return plan?.chargingWindows(of: loadpoint.id, isOnlyCar: isOnlyCar, from: now) ?? []
}
