public import FoundationEssentials

/// The cheapest stretch of a given length among the published prices.
public struct CheapestWindow: Sendable, Equatable {
    public var start: Date
    public var end: Date
    /// Time-weighted mean of the total, in minor units per kWh.
    public var averageMinor: Double

    /// In main units per kWh.
    public var average: Double { averageMinor / 100 }

    public func contains(_ instant: Date) -> Bool { start <= instant && instant < end }

    public init(start: Date, end: Date, averageMinor: Double) {
        self.start = start
        self.end = end
        self.averageMinor = averageMinor
    }
}

/// What can be said about the cheapest stretch.
public struct CheapestAnswer: Sendable, Equatable {
    /// `nil` when no unbroken stretch of that length is published.
    public var window: CheapestWindow?
    /// The longest unbroken stretch published ahead, in hours, at most the horizon; says how far
    /// from enough it is.
    public var knownHours: Double
    /// The last published price ahead; what was found holds for prices up to here.
    public var pricesUntil: Date?

    public init(window: CheapestWindow?, knownHours: Double, pricesUntil: Date?) {
        self.window = window
        self.knownHours = knownHours
        self.pricesUntil = pricesUntil
    }
}

extension Prices {
    /// Prices are compared in quarters on the clock; hourly ones are four equal quarters.
    static let quarterS: Int64 = 900

    /// The cheapest `hours` ahead, or the window that is running.
    ///
    /// The stretch starts on a quarter, not before `now`, lies within
    /// `horizonHours`, and never reaches across a hole. Among equals the
    /// earliest counts. A window once chosen is kept while it runs, so that it
    /// does not slide away from whoever started something in it.
    ///
    /// - Parameters:
    ///   - hours: A whole number of quarters, above 0 and at most 48.
    ///   - running: What was answered last.
    public func cheapest(
        hours: Double, now: Date, horizonHours: Double = 24, running: CheapestWindow? = nil
    ) -> CheapestAnswer {
        let until = slots.last { $0.end > now }?.end
        guard hours > 0, hours <= 48, horizonHours.isFinite else {
            return CheapestAnswer(window: nil, knownHours: 0, pricesUntil: until)
        }
        let runs = quartersAhead(now: now, hours: max(horizonHours, hours))
        let known = Double(runs.map(\.count).max() ?? 0) / 4
        var answer = CheapestAnswer(window: nil, knownHours: known, pricesUntil: until)
        let length = Int((hours * 4).rounded())
        if let running, running.contains(now),
            running.end.timeIntervalSince(running.start) == Double(length) * Double(Self.quarterS),
            coverage(of: running.start..<running.end).isComplete
        {
            answer.window = running
            return answer
        }
        var best: (sum: Int64, start: Int64)?
        for run in runs where run.count >= length && length > 0 {
            var sum = run.prices[..<length].reduce(0, +)
            if best.map({ sum < $0.sum }) ?? true { best = (sum, run.start) }
            for index in length..<max(length, run.count) {
                sum += run.prices[index] - run.prices[index - length]
                let start = run.start + Int64(index - length + 1) * Self.quarterS
                if let found = best, sum < found.sum { best = (sum, start) }
            }
        }
        if let best {
            answer.window = CheapestWindow(
                start: Date(timeIntervalSince1970: Double(best.start)),
                end: Date(timeIntervalSince1970: Double(best.start + Int64(length) * Self.quarterS)),
                averageMinor: Double(best.sum) / Double(length) / Self.scale)
        }
        return answer
    }

    /// Whole numbers, so that equal prices are equal sums in whatever order they are added.
    private static let scale = 1e6

    private struct Run {
        var start: Int64
        var prices: [Int64]
        var count: Int { prices.count }
    }

    /// The quarters ahead that are published as a whole, in unbroken runs.
    private func quartersAhead(now: Date, hours: Double) -> [Run] {
        let q = Self.quarterS
        let whole = now.wholeSeconds
        let second = Double(whole) < now.timeIntervalSince1970 ? whole + 1 : whole
        let first = second + ((-second % q) + q) % q
        let last = now.wholeSeconds + Int64(min(max(hours, 0), 96) * 3_600)
        var runs: [Run] = []
        var index = 0
        var start = first
        while start + q <= last {
            let from = Date(timeIntervalSince1970: Double(start))
            let to = Date(timeIntervalSince1970: Double(start + q))
            while index < slots.count, slots[index].end <= from { index += 1 }
            if let price = price(from: from, to: to, first: index) {
                if let run = runs.last, run.start + Int64(run.count) * q == start {
                    runs[runs.count - 1].prices.append(price)
                } else {
                    runs.append(Run(start: start, prices: [price]))
                }
            }
            start += q
        }
        return runs
    }

    /// The time-weighted price of one quarter; `nil` when a part of it is not published.
    private func price(from: Date, to: Date, first: Int) -> Int64? {
        var position = from
        var weighted = 0.0
        var index = first
        while position < to {
            guard index < slots.count, slots[index].contains(position) else { return nil }
            let end = min(slots[index].end, to)
            if position == from, end == to { return Int64((slots[index].totalMinor * Self.scale).rounded()) }
            weighted += slots[index].totalMinor * end.timeIntervalSince(position)
            position = end
            index += 1
        }
        return Int64((weighted / to.timeIntervalSince(from) * Self.scale).rounded())
    }
}

/// When "cheap now" is on.
public enum CheapRule: Sendable, Equatable {
    /// The level is at most this, 1 to 8.
    case level(Int)
    /// The total is below this, in main units per kWh.
    case under(Double)
    /// Inside the cheapest stretch of so many hours.
    case window(hours: Double)

    /// `nil` when no price is known. Decided by whole slots and windows, so it
    /// changes only at their edges.
    public func isCheap(_ prices: Prices, window: CheapestWindow?, now: Date) -> Bool? {
        guard let slot = prices.slot(at: now) else { return nil }
        switch self {
        case .level(let limit): return prices.level(of: slot, from: slot.start).map { $0 <= limit }
        case .under(let price): return slot.total < price
        case .window: return window?.contains(now) ?? false
        }
    }
}
