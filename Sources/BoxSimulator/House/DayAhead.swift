import EnergyModel
import FoundationEssentials
import Glibc

/// One quarter of an hour of day-ahead price, in hundredths of the currency per kWh.
struct PriceSlot: Sendable, Equatable {
    var start: Date
    var spotMinor: Double
    /// What the household pays: tariff and tax included.
    var totalMinor: Double
    var end: Date { start.addingTimeInterval(900) }
}

/// Day-ahead prices: each household day in quarters, tomorrow's known from 13:00.
struct DayAhead: Sendable {
    let zone: Zone
    let noise: HouseNoise
    /// The exchange publishes the next day at this minute of the household's day.
    static let publicationMinute = 13 * 60
    /// Days whose spot prices were set by hand: one value per quarter of the day,
    /// or fewer that stand for equal parts of it.
    var setByHand: [LocalDay: [Double]] = [:]
    /// Whether tomorrow is published; `nil` follows the clock.
    var isTomorrowPublished: Bool?

    /// The prices known at `now` whose quarter overlaps `window`, in order.
    func slots(from: Date, to: Date, now: Date) -> [PriceSlot] {
        guard from < to else { return [] }
        let end = publishedEnd(at: now)
        var day = zone.day(of: from)
        var found: [PriceSlot] = []
        while zone.start(of: day) < min(to, end) {
            found += slots(of: day).filter { $0.end > from && $0.start < to && $0.start < end }
            day = day.adding(days: 1)
        }
        return found
    }

    /// Where the published prices end.
    func publishedEnd(at now: Date) -> Date {
        let today = zone.day(of: now)
        let published = isTomorrowPublished ?? (zone.minuteOfDay(of: now) >= Self.publicationMinute)
        return zone.start(of: today.adding(days: published ? 2 : 1))
    }

    /// Every quarter of a day: 92, 96 or 100 of them.
    func slots(of day: LocalDay) -> [PriceSlot] {
        let bounds = zone.bounds(of: day)
        return stride(
            from: bounds.lowerBound.timeIntervalSince1970, to: bounds.upperBound.timeIntervalSince1970,
            by: 900
        ).map { price(at: Date(timeIntervalSince1970: $0)) }
    }

    /// The price of the quarter that begins at `start`, published or not.
    func price(at start: Date) -> PriceSlot {
        let day = Int64(zone.day(of: start).number)
        let hour = Double(zone.minuteOfDay(of: start)) / 60
        func bump(_ center: Double, _ width: Double) -> Double {
            let off = (hour - center) / width
            return exp(-off * off / 2)
        }
        let level = 45 + 55 * noise.roll(.priceDay, day)
        let quarter = Int64(exactly: (start.timeIntervalSince1970 / 900).rounded(.down)) ?? 0
        let unrest = (noise.roll(.price, quarter) - 0.5) * 6
        let sunny = noise.roll(.negativeNoon, day) < 0.3
        let noon = sunny ? level + 25 : level * 0.35
        let spot =
            level * 0.7 + level * 0.75 * bump(8, 1.3) + level * 0.9 * bump(18.3, 1.9)
            - noon * bump(13, 1.8) - level * 0.25 * bump(3, 2) + unrest
        let rounded = (handSet(at: start) ?? spot * 1_000).rounded() / 1_000
        return PriceSlot(start: start, spotMinor: rounded, totalMinor: (rounded + 40) * 1.25)
    }

    /// In thousandths, as it is rounded; `nil` where nobody set one.
    private func handSet(at start: Date) -> Double? {
        let day = zone.day(of: start)
        guard let values = setByHand[day], !values.isEmpty else { return nil }
        let bounds = zone.bounds(of: day)
        let share =
            start.timeIntervalSince(bounds.lowerBound)
            / bounds.upperBound.timeIntervalSince(bounds.lowerBound)
        let index = min(values.count - 1, max(0, Int(share * Double(values.count) + 1e-9)))
        return values[index] * 1_000
    }
}
