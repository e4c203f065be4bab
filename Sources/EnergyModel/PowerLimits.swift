/// The powers that a charger takes, and how to speak of them.
///
/// What is said of the limits is always inside them: whoever types a number that an
/// error named must not be refused for it.
public struct PowerLimits: Sendable, Equatable {
    /// Watts, at least 0 and at most ``mostW``.
    public let leastW: Double
    /// Watts.
    public let mostW: Double

    /// - Parameters:
    ///   - leastW: Watts; what is below zero or no number counts as 0, and what is above `mostW` as that.
    ///   - mostW: Watts; what is below zero or no number counts as 0.
    public init(leastW: Double, mostW: Double) {
        self.mostW = mostW > 0 ? mostW : 0
        self.leastW = leastW > 0 ? min(leastW, self.mostW) : 0
    }

    /// Nothing is no power to charge with.
    public func allows(_ watts: Double) -> Bool { watts > 0 && watts >= leastW && watts <= mostW }

    /// Both limits in watts as text, in whole watts where they hold any.
    public var text: (least: String, most: String) {
        let least = leastW.rounded(.up)
        let most = mostW.rounded(.down)
        guard least <= most, let from = Int64(exactly: least), let to = Int64(exactly: most) else {
            return ("\(leastW)", "\(mostW)")
        }
        return ("\(from)", "\(to)")
    }

    /// A power in whole watts near the middle, as round as fits; `nil` when none lies between.
    public var example: Int64? {
        for step in [500.0, 100, 10, 1] {
            let watts = ((leastW + (mostW - leastW) / 2) / step).rounded() * step
            if allows(watts), let whole = Int64(exactly: watts) { return whole }
        }
        // A narrow range may hold a whole watt on one side of its middle only.
        let least = max(1, leastW.rounded(.up))
        return allows(least) ? Int64(exactly: least) : nil
    }
}
