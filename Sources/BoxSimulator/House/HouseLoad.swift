import FoundationEssentials
import Glibc

/// What a family uses, car and battery aside.
struct HouseLoad: Sendable {
    let noise: HouseNoise

    /// What a planner would expect, in watts, at that time of the household's day.
    func forecastW(minuteOfDay: Int) -> Double {
        let hour = Double(minuteOfDay) / 60
        func bump(_ center: Double, _ width: Double, _ height: Double) -> Double {
            let off = (hour - center) / width
            return height * exp(-off * off / 2)
        }
        return 320 + bump(7.2, 0.8, 1_000) + bump(12.5, 1.5, 250) + bump(18.6, 1.7, 1_700)
    }

    /// What is used, in watts: the forecast, unrest, and a kettle now and then.
    func powerW(at instant: Date, minuteOfDay: Int) -> Double {
        let second = instant.timeIntervalSince1970
        let calm = forecastW(minuteOfDay: minuteOfDay)
        let unrest = (noise.drift(.load, at: second, period: 90) - 0.5) * 0.35 * calm
        let quarter = Int64(exactly: (second / 300).rounded(.down)) ?? 0
        let awake = (390...1_350).contains(minuteOfDay)
        let kettle = awake && noise.roll(.appliance, quarter) > 0.93 ? 1_900.0 : 0
        return max(80, calm + unrest + kettle)
    }
}
