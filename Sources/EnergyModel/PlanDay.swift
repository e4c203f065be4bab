public import FoundationEssentials

/// The plan for the next 24 hours in quarters (box-api.md §H).
public struct PlanDay: Sendable, Equatable {
    /// What the plan means for one quarter. Powers in watts, positive into the site.
    public struct Quarter: Sendable, Equatable {
        public var step: PlanStep
        public var batteryW: Double
        public var gridW: Double?
        /// All cars together; `nil` when the plan does not tell.
        public var carW: Double?
        /// Not positive; 0 below 10 W; `nil` when there is no forecast.
        public var solarW: Double?
        /// Of the house battery, at the end of the plan's slot.
        public var batterySoc: Double?
    }

    /// Of the quarter that contains now.
    public var start: Date
    public static let stepS = 900
    public static let count = 96
    /// One per quarter; `nil` where there is no plan, which is not "waits".
    public var quarters: [Quarter?]
    /// What happens now; `nil` without a plan.
    public var now: PlanStep?
    /// The battery's planned power now.
    public var nowBatteryW: Double?
    /// When that ends; `nil` without a plan.
    public var until: Date?
    /// The box's own words for the slot that holds now.
    public var reason: String?
    public var plannedAt: Date?
    /// Older than the 30 minutes after which the box itself no longer trusts it.
    public var isStale: Bool

    public init(_ answer: PlanAnswer?, now: Date) {
        let step = Double(Self.stepS)
        start = Date(timeIntervalSince1970: (Double(now.wholeSeconds) / step).rounded(.down) * step)
        plannedAt = answer?.plannedAt
        isStale = plannedAt.map { now.timeIntervalSince($0) > Readiness.planLimit } ?? false
        let isUsable = answer?.enabled != false && answer?.isOutdated != true
        let actions = isUsable ? answer?.plan?.actions ?? [] : []
        let hasForecast = actions.contains { ($0.forecastSolarW ?? $0.solarW).map { -$0 >= 10 } ?? false }

        var quarters: [Quarter?] = []
        for index in 0..<Self.count {
            let begin = start.addingTimeInterval(Double(index) * step)
            // The first quarter is about what happens from now on.
            let holding = Self.action(at: index == 0 ? now : begin, quarter: begin, in: actions)
            quarters.append(holding.flatMap { Quarter($0, hasForecast: hasForecast) })
        }
        self.quarters = quarters

        if let current = actions.last(where: { $0.start <= now && now < $0.end }),
            let batteryW = current.batteryW
        {
            let step = PlanStep(batteryW: batteryW)
            self.now = step
            nowBatteryW = batteryW
            reason = current.reason
            var end = current.end
            for action in actions where action.start >= current.end {
                guard action.start == end, let batteryW = action.batteryW,
                    PlanStep(batteryW: batteryW) == step
                else { break }
                end = action.end
            }
            until = end
        }
    }

    /// The slot that holds the instant, else the one that covers most of the quarter.
    private static func action(at instant: Date, quarter begin: Date, in actions: [MPCPlan.Action]) -> MPCPlan
        .Action?
    {
        if let holding = actions.last(where: { $0.start <= instant && instant < $0.end }) { return holding }
        let end = begin.addingTimeInterval(Double(stepS))
        var best: (action: MPCPlan.Action, overlap: Double)?
        for action in actions {
            let overlap = min(action.end, end).timeIntervalSince(max(action.start, begin))
            if overlap > (best?.overlap ?? 0) { best = (action, overlap) }
        }
        return best?.action
    }
}

extension PlanDay.Quarter {
    init?(_ action: MPCPlan.Action, hasForecast: Bool) {
        guard let batteryW = action.batteryW else { return nil }
        self.batteryW = batteryW
        step = PlanStep(batteryW: batteryW)
        gridW = action.gridW
        carW = action.carPowerW.map { $0.values.reduce(0, +) } ?? action.carW
        solarW = hasForecast ? (action.forecastSolarW ?? action.solarW).map { -$0 >= 10 ? $0 : 0 } : nil
        batterySoc = action.batterySoc
    }
}
