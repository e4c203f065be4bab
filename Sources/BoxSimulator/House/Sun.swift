import FoundationEssentials
import Glibc

/// Sunshine on one roof: where the sun stands, and how much of it the clouds leave.
struct Sun: Sendable {
    let latitude: Double
    let longitude: Double
    /// The most the panels give, in watts.
    let peakW: Double
    let noise: HouseNoise

    /// Output of the panels under a clear sky, in watts, 0 or more.
    func clearW(at instant: Date) -> Double {
        let second = instant.timeIntervalSince1970
        let day = (second / 86_400).rounded(.down)
        let dayOfYear = (day - 10_957).truncatingRemainder(dividingBy: 365.25)
        let declination = -23.44 * cosine(360 / 365.25 * (dayOfYear + 10))
        let hour = (second - day * 86_400) / 3_600 + longitude / 15
        let angle = 15 * (hour - 12)
        let height =
            sine(latitude) * sine(declination) + cosine(latitude) * cosine(declination) * cosine(angle)
        guard height > 0.01 else { return 0 }
        // A roof that looks south, tilted by 35 degrees.
        let tilted = latitude - 35
        let facing = sine(tilted) * sine(declination) + cosine(tilted) * cosine(declination) * cosine(angle)
        guard facing > 0 else { return 0 }
        return peakW * min(1, facing * pow(0.75, pow(1 / height, 0.68)) / 0.75)
    }

    /// Output of the panels, in watts, 0 or more.
    func outputW(at instant: Date) -> Double {
        let clear = clearW(at: instant)
        guard clear > 0 else { return 0 }
        let second = instant.timeIntervalSince1970
        let dull = noise.drift(.cloudiness, at: second, period: 6 * 3_600)
        let cloud = noise.drift(.cloud, at: second, period: 420)
        return clear * (1 - 0.85 * min(1, max(0, dull * 0.6 + cloud * 0.6 - 0.15)))
    }

    /// What a planner would expect: clear sky less the usual clouds.
    func forecastW(at instant: Date) -> Double { clearW(at: instant) * 0.62 }
}

private func sine(_ degrees: Double) -> Double { sin(degrees * .pi / 180) }
private func cosine(_ degrees: Double) -> Double { cos(degrees * .pi / 180) }
