public import FoundationEssentials
public import JSONText

/// The answer to `GET /api/loadpoints`.
public struct LoadpointList: Sendable, Equatable {
    /// False when the box has no charger set up; `nil` when it does not say.
    public var enabled: Bool?
    /// In the order of the box's configuration; each id once.
    public var loadpoints: [Loadpoint]
    /// Names of unusable fields, those of a loadpoint as `<id>: <field>`.
    public var faults: [String]

    /// More than any household has.
    static let limit = 64

    /// `nil` when the document is no such answer at all. Anything unusable in
    /// it reads as unknown.
    public init?(_ json: JSONValue) {
        guard let members = json.objectValue else { return nil }
        var reader = FieldReader(members)
        enabled = reader.bool("enabled")
        guard members["enabled"] != nil || members["loadpoints"] != nil else { return nil }
        var seen: Set<String> = []
        let found = reader.objects("loadpoints", limit: Self.limit) { item in Loadpoint(&item) }
        loadpoints = (found ?? []).filter { seen.insert($0.id).inserted }
        faults = reader.faults.filter { !$0.hasPrefix("loadpoints.") }
        if loadpoints.count < (found?.count ?? 0) { faults.append("loadpoints.id") }
        for loadpoint in loadpoints {
            faults.append(contentsOf: loadpoint.faults.map { "\(loadpoint.id): \($0)" })
        }
        if reader.faults.contains("loadpoints.id") { faults.append("loadpoints.id") }
    }
}

extension Loadpoint {
    /// One loadpoint of `GET /api/loadpoints`, of a box of any age.
    ///
    /// `nil` only without a usable id.
    public init?(_ json: JSONValue) {
        guard let members = json.objectValue else { return nil }
        var reader = FieldReader(members)
        self.init(&reader)
    }

    init?(_ r: inout FieldReader) {
        guard let id = r.text("id") else {
            r.fault("id")
            return nil
        }
        self.init(id: id)
        let before = r.faults.count
        readPlug(&r)
        readLevel(&r)
        readHold(&r)
        readPlan(&r)
        var seen: Set<String> = []
        faults = r.faults.dropFirst(before)
            .map { $0.hasPrefix("loadpoints.") ? String($0.dropFirst("loadpoints.".count)) : $0 }
            .filter { seen.insert($0).inserted }
    }

    private mutating func readPlug(_ r: inout FieldReader) {
        driverName = r.text("driver_name")
        pluggedIn = r.bool("plugged_in")
        powerW = r.watts("current_power_w")
        powerUnavailable = r.bool("power_unavailable")
        sessionWh = r.wattHours("delivered_wh_session")
        processedAt = r.instant("updated_at_ms")
        minPowerW = r.watts("min_charge_w").nonZero
        maxPowerW = r.watts("max_charge_w").nonZero
        stepsW = r.numbers("allowed_steps_w", 0...1_000_000, limit: 200)?.sorted()
        phases = r.integer("phases", 1...3)
        if phases == 2 {
            phases = nil
            r.fault("phases")
        }
        voltageV = r.number("voltage_v", 0...1_000).nonZero
        charger = r.object("charger") { r in
            var reading = ChargerReading(known: r.bool("known"), available: r.bool("available"))
            reading.updatedAt = r.instant("updated_at_ms")
            reading.reason = r.text("reason")
            reading.limitA = r.number("limit_a", 0...10_000)
            return reading
        }
        if charger == nil, r.has("charger") {
            // There is an account of the charger and it is unreadable: nothing says it is reachable.
            charger = ChargerReading()
        }
    }

    private mutating func readLevel(_ r: inout FieldReader) {
        currentSoc = r.fraction("current_soc", oldPercent: r.has("current_soc") ? nil : "current_soc_pct")
        socSource = r.text("soc_source").map { word in
            switch word {
            case "vehicle": .vehicle
            case "completed": .completed
            case "assumed": .assumed
            case "inferred": .inferred
            default: .other(word)
            }
        }
        vehicleSoc = r.fraction("vehicle_soc", oldPercent: "vehicle_soc_pct")
        vehicleLimitSoc = r.fraction("vehicle_charge_limit", oldPercent: "vehicle_charge_limit_pct").nonZero
        vehicleState = r.text("vehicle_charging_state")
        vehicleDriver = r.text("vehicle_driver")
        vehicleStale = r.bool("vehicle_stale")
        vehicleSocAgeS = r.number("vehicle_soc_age_s", 0...1e10)
        vehicleName = r.text("vehicle_name")
        capacityWh = r.wattHours("vehicle_capacity_wh").nonZero
        capacitySource = r.text("capacity_source").map { $0 == "default" ? .guess : .configured }
        socRetention = r.text("soc_retention")
        chargingDeclined = r.bool("charging_declined")
    }

    private mutating func readHold(_ r: inout FieldReader) {
        manualActive = r.bool("manual_active")
        manualW = r.watts("manual_charge_w")
        manualReleaseSoc = r.fraction("manual_release_soc").nonZero
        manualRestoreUnconfirmed = r.bool("manual_restore_unconfirmed")
        manualSaveError = r.bool("manual_save_error")
        surplusOnly = r.bool("surplus_only")
        manual = r.object("manual") { r in
            var account = ManualAccount()
            account.active = r.bool("active")
            account.state = r.text("state").flatMap(ManualAccount.State.init(rawValue:))
            account.startedAt = r.instant("started_at_ms")
            account.since = r.instant("since_ms")
            account.requestedW = r.watts("requested_w")
            account.requestedA = r.number("requested_a", 0...10_000)
            account.commandedW = r.watts("commanded_w")
            account.commandedA = r.number("commanded_a", 0...10_000)
            account.chargerLimitA = r.number("charger_limit_a", 0...10_000)
            account.chargerLimitKnown = r.bool("charger_limit_known")
            account.chargerReason = r.text("charger_reason")
            account.limitReason = r.text("limit_reason")
            account.chargerUpdatedAt = r.instant("charger_updated_at_ms")
            return account
        }
        boost = r.object("battery_boost") { r in
            var boost = BatteryBoost()
            boost.state = r.text("state")
            boost.active = r.bool("active")
            boost.startedAt = r.instant("started_at_ms")
            boost.expiresAt = r.instant("expires_at_ms")
            boost.minBatterySoc = r.fraction("min_battery_soc")
            boost.carTargetSoc = r.fraction("ev_target_soc")
            boost.departureAt = r.instant("departure_at_ms")
            boost.stopReason = r.text("stop_reason")
            boost.stoppedAt = r.instant("stopped_at_ms")
            return boost
        }
    }

    private mutating func readPlan(_ r: inout FieldReader) {
        schedule = r.object("schedule") { r in Schedule(&r) }
        targetSoc = r.fraction("target_soc", oldPercent: "target_soc_pct")
        if let text = r.text("target_time") {
            if let time = instant(rfc3339: text) {
                // The year 1 stands for "no deadline".
                let milliseconds = time.timeIntervalSince1970 * 1_000
                targetTime = milliseconds > 0 && milliseconds < latestMilliseconds ? time : nil
            } else {
                r.fault("target_time")
            }
        }
        let commanded = r.watts("commanded_w")
        commandedW = r.bool("commanded_known") == true ? commanded ?? 0 : nil
        commandedReason = r.text("commanded_reason")
        commandedSince = r.instant("commanded_since_ms")
        gridDeferred = r.bool("grid_deferred")
        planPending = r.bool("plan_pending")
        planOutdated = r.bool("plan_outdated")
        planWindows = r.objects("plan_windows", limit: 100) { r in
            Self.window(start: r.instant("start_ms"), end: r.instant("end_ms"), wh: r.wattHours("wh"))
        }
        planNext = Self.window(
            start: r.instant("plan_next_start_ms"), end: r.instant("plan_next_end_ms"),
            wh: r.wattHours("plan_next_wh"))
        planTotalWh = r.wattHours("plan_total_wh")
        goalComplete = r.bool("goal_complete")
        goalRetention = r.text("goal_retention")
        if r.has("finish_at_vehicle_limit"), let finishes = r.bool("finish_at_vehicle_limit"), finishes {
            var goal = schedule ?? Schedule()
            goal.finishAtVehicleLimit = true
            schedule = goal
        }
    }

    private static func window(start: Date?, end: Date?, wh: Double?) -> ChargingWindow? {
        guard let start, let end, end > start else { return nil }
        return ChargingWindow(start: start, end: end, energyWh: wh)
    }
}

/// The answer to `GET /api/loadpoints/{id}/manual_hold`: the only place that
/// tells when a timed hold ends (box-api.md §D).
public struct ManualHoldDetail: Sendable, Equatable {
    public var active: Bool
    /// 0 is a pause; also when the box leaves it out.
    public var powerW: Double
    /// `nil`: the hold has no end in time.
    public var expiresAt: Date?
    public var startedAt: Date?
    /// The level at which the hold ends.
    public var releaseSoc: Double?

    /// `nil` when the document is no such answer.
    public init?(_ json: JSONValue) {
        guard let members = json.objectValue else { return nil }
        var r = FieldReader(members)
        guard let active = r.bool("active") else { return nil }
        self.active = active
        powerW = r.watts("power_w") ?? 0
        expiresAt = r.instant("expires_at_ms")
        startedAt = r.instant("started_at_ms")
        releaseSoc = r.number("release_at_soc_pct", 0...100).nonZero.map { $0 / 100 }
    }
}

extension Double? {
    /// `nil` for 0, where zero stands for "not configured".
    var nonZero: Double? { flatMap { $0 == 0 ? nil : $0 } }
}
