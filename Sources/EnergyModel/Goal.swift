public import FoundationEssentials
public import JSONText

/// The zone in which the household lives, and how sure we are (box-api.md §E.3).
public struct HouseholdZone: Sendable, Equatable {
    public var zone: Zone
    /// The zone is the bridge's own and not the box's word: say "home time".
    public var isHomeTime: Bool
    /// The zone in which the box counts weekdays of a UTC time.
    var boxZone: Zone

    /// The box's own zone if it names a real one, else the configured one.
    ///
    /// `Local`, `UTC` and nothing at all are what a box says when nobody told it
    /// where it is.
    ///
    /// - Parameters:
    ///   - boxZone: What the box said in its greeting.
    ///   - configured: The bridge's own zone.
    ///   - database: How a name becomes a zone.
    public init(
        boxZone name: String?, configured: Zone, database: (String) -> Zone? = { Zone(named: $0) }
    ) {
        if name == "UTC" {
            zone = configured
            isHomeTime = configured.name != "UTC"
            boxZone = .utc
        } else if let name, !name.isEmpty, name != "Local", let named = database(name) {
            zone = named
            isHomeTime = false
            boxZone = named
        } else {
            zone = configured
            isHomeTime = true
            boxZone = configured
        }
    }
}

/// What should be true by when.
public struct Goal: Sendable, Equatable {
    /// The level to reach, already capped at the car's own limit; `nil` when
    /// the car decides and its limit is not known.
    public var soc: Double?
    /// Charge until the car stops by itself.
    public var finishesAtVehicleLimit: Bool
    /// What a clock on the wall shows at the ready time, minutes after midnight.
    public var minuteOfDay: Int
    public var recurring: Bool
    /// `nil` when what the box sent is no set of days.
    public var days: DayMask?
    /// A goal for once whose time has passed.
    public var isSpent: Bool
    /// The next instant for which the car shall be ready; `nil` when spent or not known.
    public var nextDeadline: Date?
    public var zone: HouseholdZone

    public init(
        soc: Double?, finishesAtVehicleLimit: Bool = false, minuteOfDay: Int, recurring: Bool,
        days: DayMask? = .everyDay, isSpent: Bool = false, nextDeadline: Date? = nil, zone: HouseholdZone
    ) {
        self.soc = soc
        self.finishesAtVehicleLimit = finishesAtVehicleLimit
        self.minuteOfDay = minuteOfDay
        self.recurring = recurring
        self.days = days
        self.isSpent = isSpent
        self.nextDeadline = nextDeadline
        self.zone = zone
    }

    /// The goal of a loadpoint; `nil` when none is set, also when the schedule
    /// holds only a rule for spare sun.
    public init?(of loadpoint: Loadpoint, zone: HouseholdZone, now: Date) {
        let target = loadpoint.targetSoc ?? 0
        let finishes = loadpoint.schedule?.finishAtVehicleLimit ?? false
        let inForce = loadpoint.targetTime.flatMap { $0 > now && (target > 0 || finishes) ? $0 : nil }
        guard let schedule = loadpoint.schedule, schedule.hasGoal else {
            // A goal for once that was set past the schedule, on the box's own page.
            guard target > 0, let inForce else { return nil }
            self.init(
                soc: Self.capped(target, loadpoint), minuteOfDay: zone.zone.minuteOfDay(of: inForce),
                recurring: false, nextDeadline: inForce, zone: zone)
            return
        }
        let wanted = target > 0 ? target : schedule.soc
        let soc: Double? =
            finishes
            ? loadpoint.vehicleLimitSoc
            : Self.capped(wanted, loadpoint)
        var deadline = inForce
        var spent = false
        if deadline == nil {
            if !schedule.recurring, loadpoint.targetTime != nil {
                spent = true
            } else {
                deadline = schedule.nextDeadline(in: zone, after: now)
            }
        }
        self.init(
            soc: soc, finishesAtVehicleLimit: finishes, minuteOfDay: schedule.minuteOfDay(in: zone, now: now),
            recurring: schedule.recurring, days: schedule.days, isSpent: spent, nextDeadline: deadline,
            zone: zone)
    }

    private static func capped(_ soc: Double, _ loadpoint: Loadpoint) -> Double {
        loadpoint.vehicleLimitSoc.map { min($0, soc) } ?? soc
    }
}

extension Schedule {
    /// What a clock on the wall shows at the ready time.
    ///
    /// A time kept in UTC is right for today's offset only; that is also what
    /// such a box does.
    public func minuteOfDay(in household: HouseholdZone, now: Date) -> Int {
        if let localMinute { return localMinute }
        let today = household.zone.day(of: now)
        let instant = Date(timeIntervalSince1970: Double(today.number * 86_400 + utcMinute * 60))
        return household.zone.minuteOfDay(of: instant)
    }

    /// The next ready time strictly after `now`, by the box's own rules
    /// (box-api.md §E.3). `nil` when the days are not known.
    public func nextDeadline(in household: HouseholdZone, after now: Date) -> Date? {
        guard let days else { return nil }
        if let localMinute {
            let today = household.zone.day(of: now)
            for step in 0...8 {
                let day = today.adding(days: step)
                guard days.contains(day.weekday) else { continue }
                let instant = household.zone.instant(day, minute: localMinute)
                if instant > now { return instant }
            }
            return nil
        }
        let first = Zone.utc.day(of: now)
        for step in 0...8 {
            let day = first.adding(days: step)
            let instant = Date(timeIntervalSince1970: Double(day.number * 86_400 + utcMinute * 60))
            if instant > now, days.contains(household.boxZone.day(of: instant).weekday) { return instant }
        }
        return nil
    }
}

/// A goal as a person asks for it, and the body that tells the box.
public struct GoalRequest: Sendable, Equatable {
    /// 0 to 1.
    public var soc: Double
    /// On the household's clock, 0 to 1439.
    public var minuteOfDay: Int
    public var recurring: Bool
    public var days: DayMask

    public init(soc: Double, minuteOfDay: Int, recurring: Bool, days: DayMask = .everyDay) {
        self.soc = soc
        self.minuteOfDay = minuteOfDay
        self.recurring = recurring
        self.days = days
    }

    /// The whole schedule for the PUT (box-api.md §E.2, §E.3).
    ///
    /// Both spellings of the time are sent: an old box uses the UTC minute, a
    /// newer one the local minute, and one that got only the first would keep
    /// its old local minute. What a save would otherwise erase is carried over
    /// from the last read.
    public func body(carrying read: Schedule?, zone: Zone, now: Date) -> JSONValue {
        var body: [String: JSONValue] = [
            "soc": number(soc),
            "time_of_day_min": .int(Int64(minuteOfDay)),
            "time_of_day_min_utc": .int(Int64(Self.utcMinute(ofLocal: minuteOfDay, zone: zone, now: now))),
            "recurring": .bool(recurring),
        ]
        if !days.isEveryDay { body["days"] = .int(Int64(days.bits)) }
        if let read {
            if read.surplusUnlockSoc > 0 { body["surplus_unlock_bat_soc"] = number(read.surplusUnlockSoc) }
            if read.finishAtVehicleLimit { body["finish_at_vehicle_limit"] = true }
        }
        return .object(body)
    }

    /// The body that removes the goal: `null`, or what remains of the schedule
    /// when it also holds a rule for spare sun.
    public static func clearingBody(carrying read: Schedule?) -> JSONValue {
        guard let read, read.surplusUnlockSoc > 0 else { return .null }
        return [
            "soc": 0, "time_of_day_min_utc": 0, "recurring": false,
            "surplus_unlock_bat_soc": number(read.surplusUnlockSoc),
        ]
    }

    /// The UTC minute of a local time on today's household date.
    static func utcMinute(ofLocal minute: Int, zone: Zone, now: Date) -> Int {
        Zone.utc.minuteOfDay(of: zone.instant(zone.day(of: now), minute: minute))
    }
}

/// A JSON number, whole ones without a fraction.
func number(_ value: Double) -> JSONValue { Int64(exactly: value).map(JSONValue.int) ?? .double(value) }
