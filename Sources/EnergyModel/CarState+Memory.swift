public import FoundationEssentials
public import JSONText

extension CarState {
    /// The same car, of a time that has passed: nothing in it looks like now.
    public var asOld: CarState {
        var old = self
        if isCurrent, !level.outdated, level.at == nil, level.origin != .carOld { old.level.at = readAt }
        old.isCurrent = false
        old.level.outdated = true
        old.readiness = Readiness(state: .unknown, reason: .stale)
        old.charging = .unknown
        return old
    }

    /// A car of which nothing is known but its loadpoint.
    public static func unknown(loadpoint: Loadpoint) -> CarState {
        CarState(
            loadpoint: loadpoint, readAt: .distantPast, isCurrent: false, level: CarLevel(outdated: true),
            goal: nil, readiness: Readiness(state: .unknown, reason: .stale), charging: .unknown)
    }

    /// The picture for the disk: what may be shown again after a restart, dated.
    public var json: JSONValue {
        [
            "read_at_ms": milliseconds(readAt), "current": .bool(isCurrent), "level": level.json,
            "loadpoint": loadpoint.picture,
        ]
    }

    /// Reads what ``json`` wrote; `nil` when it is no car.
    ///
    /// Goal and deadline are reckoned anew for `now`. ``isCurrent`` says whether
    /// the picture was current when it was made; make it old before showing it.
    public init?(json: JSONValue, zone: HouseholdZone, now: Date) {
        guard let loadpoint = json["loadpoint"].flatMap({ Loadpoint($0) }),
            let readAt = json["read_at_ms"]?.doubleValue.flatMap(date(milliseconds:))
        else { return nil }
        self.init(
            loadpoint: loadpoint, readAt: readAt, isCurrent: json["current"]?.boolValue ?? false,
            level: json["level"].flatMap { CarLevel(json: $0) } ?? CarLevel(outdated: true),
            goal: Goal(of: loadpoint, zone: zone, now: now),
            readiness: Readiness(state: .unknown, reason: .stale), charging: .unknown)
    }
}

extension Loadpoint {
    /// In the box's own spelling, as far as a picture needs it.
    fileprivate var picture: JSONValue {
        var members: [String: JSONValue] = ["id": .string(id)]
        func set(_ name: String, _ value: JSONValue?) { if let value { members[name] = value } }
        set("driver_name", driverName.map(JSONValue.string))
        set("plugged_in", pluggedIn.map(JSONValue.bool))
        set("current_power_w", powerW.map(number))
        set("power_unavailable", powerUnavailable.map(JSONValue.bool))
        set("delivered_wh_session", sessionWh.map(number))
        set("min_charge_w", minPowerW.map(number))
        set("max_charge_w", maxPowerW.map(number))
        set("phases", phases.map { .int(Int64($0)) })
        set("voltage_v", voltageV.map(number))
        set("vehicle_name", vehicleName.map(JSONValue.string))
        set("vehicle_charge_limit", vehicleLimitSoc.map(number))
        set("vehicle_capacity_wh", capacityWh.map(number))
        set("manual_active", manualActive.map(JSONValue.bool))
        set("manual_charge_w", manualW.map(number))
        set("manual_release_soc", manualReleaseSoc.map(number))
        set("manual_restore_unconfirmed", manualRestoreUnconfirmed.map(JSONValue.bool))
        if let since = holdSince {
            set("manual", ["since_ms": milliseconds(since), "requested_w": number(manual?.requestedW ?? 0)])
        }
        set("surplus_only", surplusOnly.map(JSONValue.bool))
        set("battery_boost", boost?.active.map { ["active": .bool($0)] })
        set("target_soc", targetSoc.map(number))
        set("target_time", targetTime.map { .string(Zone.utc.iso8601($0)) })
        set("schedule", schedule?.picture)
        return .object(members)
    }
}

extension Schedule {
    fileprivate var picture: JSONValue {
        var members: [String: JSONValue] = [
            "soc": number(soc), "time_of_day_min_utc": .int(Int64(utcMinute)), "recurring": .bool(recurring),
            // Days that are none stay none.
            "days": .int(Int64(days?.bits ?? -1)),
            "surplus_unlock_bat_soc": number(surplusUnlockSoc),
            "finish_at_vehicle_limit": .bool(finishAtVehicleLimit),
        ]
        if let localMinute { members["time_of_day_min"] = .int(Int64(localMinute)) }
        return .object(members)
    }
}

extension ChargingState {
    /// What is going on, as a stable token.
    public var token: String {
        switch self {
        case .unplugged: "unplugged"
        case .charging, .heldCharging: "charging"
        case .heldWaiting: "waiting_for_car"
        case .heldLimited: "limited"
        case .paused: "paused"
        case .needsChoice: "needs_choice"
        case .declined: "declined"
        case .waiting: "waiting"
        case .idle: "idle"
        case .unknown: "unknown"
        }
    }

    /// Every ``token``.
    public static let tokens = [
        "unplugged", "charging", "waiting_for_car", "limited", "paused", "needs_choice", "declined",
        "waiting", "idle", "unknown",
    ]

    /// What holds "charge now" back; `nil` when nothing does.
    public var limit: Limit? { if case .heldLimited(let limit) = self { limit } else { nil } }
}
