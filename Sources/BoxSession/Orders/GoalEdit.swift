import EnergyModel
import FoundationEssentials
import JSONText

/// A wish about the goal, merged into what the box holds, and how to tell that the
/// box took it (box API §E.2, §E.3). Pure.
struct GoalEdit: Equatable {
    /// `nil`: there shall be no goal.
    let wanted: GoalRequest?
    /// The whole schedule as it is written; `null` removes it.
    let body: JSONValue
    /// The ready time in UTC as it was written, for a box that keeps nothing else.
    private let utcMinute: Int?

    /// - Parameters:
    ///   - read: The schedule as the box has just told it.
    ///   - zone: The zone in which the household's clocks run.
    /// - Throws: ``OrderRefused``: out of range, or nothing to merge into.
    init(
        _ wish: Intent.GoalWish, into read: Schedule?, zone: HouseholdZone, now: Date
    ) throws(OrderRefused) {
        guard case .change(let soc, let minute, let days, let recurring) = wish else {
            wanted = nil
            body = GoalRequest.clearingBody(carrying: read)
            utcMinute = nil
            return
        }
        let held = read?.hasGoal == true ? read : nil
        var carried = read
        let level: Double
        if let soc {
            guard soc > 0, soc <= 1 else { throw OrderRefused(.outOfRange, "a goal's level is above 0 to 1") }
            level = soc
            // Left in, it would make the box ignore the level that was just named.
            carried?.finishAtVehicleLimit = false
        } else if let held {
            level = held.soc
        } else {
            throw OrderRefused(missing: .goalLevel, "there is no goal yet: name its level")
        }
        guard let at = minute ?? held?.minuteOfDay(in: zone, now: now) else {
            throw OrderRefused(missing: .goalTime, "there is no goal yet: name its time")
        }
        guard (0..<1_440).contains(at) else {
            throw OrderRefused(.outOfRange, "a time is 0 to 1439 minutes after midnight")
        }
        let mask: DayMask
        if let days {
            guard let named = DayMask(bits: days) else {
                throw OrderRefused(.outOfRange, "days are a mask from 0 to 127")
            }
            mask = named
        } else if let held {
            guard let known = held.days else {
                throw OrderRefused(missing: .goalDays, "the box's days cannot be read: name them")
            }
            mask = known
        } else {
            mask = .everyDay
        }
        // Whoever names days for a new goal means a habit; a bare one is for once.
        let request = GoalRequest(
            soc: level, minuteOfDay: at, recurring: recurring ?? held?.recurring ?? (days != nil), days: mask)
        wanted = request
        body = request.body(carrying: carried, zone: zone.zone, now: now)
        utcMinute = body["time_of_day_min_utc"]?.intValue.flatMap(Int.init(exactly:))
    }

    /// Whether the box holds what was written.
    ///
    /// A box that knows the local minute is compared by it, an older one by the UTC
    /// minute that was sent: on the night the clocks change the two may not agree.
    func matches(_ schedule: Schedule?) -> Bool {
        guard let wanted else { return schedule?.hasGoal != true }
        guard let schedule, schedule.hasGoal, abs(schedule.soc - wanted.soc) <= 0.000_5,
            schedule.recurring == wanted.recurring, let days = schedule.days
        else { return false }
        if let minute = schedule.localMinute {
            guard minute == wanted.minuteOfDay else { return false }
        } else {
            guard schedule.utcMinute == utcMinute else { return false }
        }
        return days == wanted.days || (days.isEveryDay && wanted.days.isEveryDay)
    }

    /// Whether the box holds a goal in which everything that was named is so; for a
    /// wish of which nobody knows what it was merged into.
    static func holds(
        _ wish: Intent.GoalWish, _ schedule: Schedule?, zone: HouseholdZone, now: Date
    ) -> Bool {
        guard case .change(let soc, let minute, let days, let recurring) = wish else {
            return schedule?.hasGoal != true
        }
        guard let schedule, schedule.hasGoal else { return false }
        if let soc, abs(schedule.soc - soc) > 0.000_5 { return false }
        if let minute, schedule.minuteOfDay(in: zone, now: now) != minute { return false }
        if let recurring, schedule.recurring != recurring { return false }
        guard let days else { return true }
        guard let wanted = DayMask(bits: days), let held = schedule.days else { return false }
        return held == wanted || (held.isEveryDay && wanted.isEveryDay)
    }

    /// The goal in one line: `80% 07:00 daily`, `80% 07:00 once`, `80% 07:00 mon,tue`, `none`.
    static func text(_ schedule: Schedule?, zone: HouseholdZone, now: Date) -> String {
        guard let schedule, schedule.hasGoal else { return "none" }
        let percent = (max(0, min(1, schedule.soc)) * 1_000).rounded() / 10
        let level = percent == percent.rounded() ? String(Int(percent)) : String(percent)
        let clock = clockText(minute: schedule.minuteOfDay(in: zone, now: now))
        let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
        let days =
            (schedule.days ?? .everyDay).isEveryDay
            ? "daily" : schedule.days.map { $0.weekdays.map { names[$0] }.joined(separator: ",") } ?? ""
        return "\(level)% \(clock) \(schedule.recurring ? days : "once")"
    }
}
