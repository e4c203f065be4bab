/// Days of the week; an empty set stands for every day, as the box writes it.
public struct DayMask: Sendable, Hashable {
    /// Bit 0 = Monday … bit 6 = Sunday; 0 and 127 both mean every day.
    public let bits: Int

    /// `nil` outside 0 to 127.
    public init?(bits: Int) {
        guard (0...127).contains(bits) else { return nil }
        self.bits = bits
    }

    private init(known bits: Int) { self.bits = bits }

    public static let everyDay = DayMask(known: 0)
    public static let weekdays = DayMask(known: 31)
    public static let weekends = DayMask(known: 96)

    public var isEveryDay: Bool { bits == 0 || bits == 127 }

    /// - Parameter weekday: 0 = Monday … 6 = Sunday.
    public func contains(_ weekday: Int) -> Bool {
        isEveryDay || ((0...6).contains(weekday) && bits & (1 << weekday) != 0)
    }

    /// The weekdays in it, 0 = Monday … 6 = Sunday, in the order of the week.
    public var weekdays: [Int] { (0...6).filter(contains) }
}

/// A loadpoint's standing order as the box keeps it (box-api.md §E.1).
public struct Schedule: Sendable, Equatable {
    /// The goal's level; 0 = none.
    public var soc: Double
    /// Minutes after midnight on the household's clock; wins where it is present.
    public var localMinute: Int?
    /// Minutes after midnight UTC.
    public var utcMinute: Int
    /// Every selected day, or once.
    public var recurring: Bool
    /// `nil` when what the box sent is no set of days.
    public var days: DayMask?
    /// House battery level from which spare sun may go to the car; 0 = off.
    public var surplusUnlockSoc: Double
    /// Charge until the car stops by itself; ``soc`` is then ignored.
    public var finishAtVehicleLimit: Bool

    public init(
        soc: Double = 0, localMinute: Int? = nil, utcMinute: Int = 0, recurring: Bool = false,
        days: DayMask? = .everyDay, surplusUnlockSoc: Double = 0, finishAtVehicleLimit: Bool = false
    ) {
        self.soc = soc
        self.localMinute = localMinute
        self.utcMinute = utcMinute
        self.recurring = recurring
        self.days = days
        self.surplusUnlockSoc = surplusUnlockSoc
        self.finishAtVehicleLimit = finishAtVehicleLimit
    }

    /// Only these make a goal; a schedule may also hold nothing but a rule.
    public var hasGoal: Bool { soc > 0 || finishAtVehicleLimit }

    init(_ r: inout FieldReader) {
        let days = r.integer("days", 0...127).flatMap(DayMask.init(bits:))
        self.init(
            soc: r.fraction("soc", oldPercent: "soc_pct") ?? 0,
            localMinute: r.integer("time_of_day_min", 0...1_439),
            utcMinute: r.integer("time_of_day_min_utc", 0...1_439) ?? 0,
            recurring: r.bool("recurring") ?? false,
            days: r.has("days") ? days : .everyDay,
            surplusUnlockSoc: r.fraction("surplus_unlock_bat_soc", oldPercent: "surplus_unlock_bat_soc_pct")
                ?? 0,
            finishAtVehicleLimit: r.bool("finish_at_vehicle_limit") ?? false)
    }
}
