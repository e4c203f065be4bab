import EnergyModel
import FoundationEssentials

/// One charger, the car on it, and what the box believes about that car.
struct Charger: Sendable {
    /// A person's temporary order.
    struct Hold: Sendable, Equatable {
        var powerW: Double
        var startedAt: Date
        /// `nil` lasts until it is cleared or the car leaves.
        var expiresAt: Date?
        var phaseMode: String?
    }
    /// A person's standing order, as the box stores it.
    struct Schedule: Sendable, Equatable {
        var soc = 0.0
        /// Minutes after midnight on the household's clock; only new boxes keep it.
        var localMinute: Int?
        var utcMinute = 0
        var recurring = false
        /// Bit 0 is Monday; 0 is every day.
        var days = 0
        var unlockBatterySoc = 0.0
        var finishAtLimit = false
        var hasGoal: Bool { soc > 0 || finishAtLimit }
    }
    struct Target: Sendable, Equatable {
        var soc: Double
        var time: Date
    }
    struct Boost: Sendable, Equatable {
        var startedAt: Date
        var expiresAt: Date
        var minBatterySoc: Double
        var targetSoc: Double?
        var departure: Date?
    }
    /// What the car itself tells the box.
    enum Report: Sendable, Equatable {
        /// There is no car driver, or it found no car.
        case none
        /// Fresh all the time.
        case live
        /// The last word was said then, with that level.
        case old(at: Date, soc: Double)
        /// The driver itself calls its last word old.
        case flagged(at: Date, soc: Double)
    }
    /// Where the box's number for the level began.
    enum Anchor: Sendable, Equatable {
        /// The configured plug-in level; nobody confirmed it.
        case assumed
        /// A person or the car said it during this plug session.
        case confirmed
    }

    /// What the car does with what it is offered.
    enum Draw: Sendable, Equatable {
        case asOffered, all, nothing
    }

    let settings: SimulatedHouseSettings.ChargerSettings
    var draw = Draw.asOffered
    var pluggedIn = true
    /// How full the car really is.
    var truth = 0.52
    var sessionWh = 0.0
    var powerW = 0.0
    var anchor = Anchor.assumed
    var anchorSoc = Charger.pluginSoc
    var anchorWh = 0.0
    var report = Report.live
    /// The car's own limit, 0 to 1; `nil` unknown.
    var carLimit: Double? = 0.9
    var hold: Hold?
    var schedule = Schedule()
    var target: Target?
    var surplusOnly = false
    var boost: Boost?
    var boostStopped: (reason: String, at: Date)?
    var declined = false
    var updatedAt = Date(timeIntervalSince1970: 0)
    var commandedSince = Date(timeIntervalSince1970: 0)
    /// Comes and goes through the day by itself.
    var followsRoutine = true

    /// The level that a box assumes when a car is plugged in unread.
    static let pluginSoc = 0.2

    init(settings: SimulatedHouseSettings.ChargerSettings) { self.settings = settings }

    /// Watt-hours that arrive in the car's battery per watt-hour delivered.
    static let efficiency = 0.95

    var isLive: Bool { pluggedIn && report == .live }

    /// The level from which the box plans; 0 without a car.
    var workingSoc: Double {
        guard pluggedIn else { return 0 }
        if isLive { return truth }
        return min(1, max(0, anchorSoc + (sessionWh - anchorWh) / settings.carCapacityWh))
    }

    mutating func confirm(soc: Double) {
        anchor = .confirmed
        anchorSoc = soc
        anchorWh = sessionWh
        declined = false
    }

    mutating func plugIn() {
        guard !pluggedIn else { return }
        pluggedIn = true
        sessionWh = 0
        anchor = .assumed
        anchorSoc = Self.pluginSoc
        anchorWh = 0
        declined = false
    }

    /// The car leaves: whatever a person ordered for this car ends with it.
    mutating func unplug(at instant: Date) {
        pluggedIn = false
        powerW = 0
        sessionWh = 0
        anchor = .assumed
        anchorSoc = Self.pluginSoc
        anchorWh = 0
        hold = nil
        stopBoost("vehicle_unplugged", at: instant)
    }

    mutating func stopBoost(_ reason: String, at instant: Date) {
        guard boost != nil else { return }
        boost = nil
        boostStopped = (reason, instant)
    }

    /// Takes `seconds` of charging at `powerW` into the car.
    mutating func take(seconds: Double) {
        guard powerW > 0 else { return }
        let wh = powerW * seconds / 3_600
        sessionWh += wh
        truth = min(1, truth + wh * Self.efficiency / settings.carCapacityWh)
        if isLive { confirm(soc: truth) }
    }

    /// The next time the schedule asks for, strictly after `now` (box-api §E.3).
    func nextDeadline(after now: Date, zone: Zone, readsLocalMinute: Bool) -> Date? {
        guard schedule.hasGoal else { return nil }
        let wanted = { (day: LocalDay) in
            schedule.days == 0 || schedule.days & (1 << day.weekday) != 0
        }
        if readsLocalMinute, let minute = schedule.localMinute {
            let today = zone.day(of: now)
            for offset in 0...8 {
                let day = today.adding(days: offset)
                let instant = zone.instant(day, minute: minute)
                if instant > now, wanted(day) { return instant }
            }
            return nil
        }
        let midnight = (now.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400
        for offset in 0...8 {
            let second = midnight + Double(offset) * 86_400 + Double(schedule.utcMinute) * 60
            let instant = Date(timeIntervalSince1970: second)
            if instant > now, wanted(zone.day(of: instant)) { return instant }
        }
        return nil
    }
}
