public import FoundationEssentials
public import JSONText

/// What a household wants to know about its prices.
public struct PriceRules: Sendable, Equatable {
    /// Lengths of the cheapest stretches to look for, in whole hours.
    public var cheapHours: [Int]
    /// When "cheap now" is on.
    public var cheapNow: CheapRule

    public init(cheapHours: [Int] = [2, 3, 4], cheapNow: CheapRule = .level(3)) {
        self.cheapHours = cheapHours
        self.cheapNow = cheapNow
    }
}

/// The prices as they may be shown at one moment (box-api.md §I).
///
/// Published prices stay true while the box is away: they end with their last
/// slot and not with the link. Past that end everything about now is `nil`.
public struct PriceBoard: Sendable, Equatable {
    /// The cheapest stretch of one length.
    public struct Cheapest: Sendable, Equatable {
        public var hours: Int
        /// `nil` when no unbroken stretch of that length is published.
        public var window: CheapestWindow?
        public var isRunning: Bool
        /// The longest unbroken stretch published ahead, in hours, when it is shorter than asked for;
        /// else `nil`.
        public var knownHours: Double?
        /// The last published price ahead; the window is the cheapest up to here.
        public var pricesUntil: Date?

        public init(
            hours: Int, window: CheapestWindow? = nil, isRunning: Bool = false, knownHours: Double? = nil,
            pricesUntil: Date? = nil
        ) {
            self.hours = hours
            self.window = window
            self.isRunning = isRunning
            self.knownHours = knownHours
            self.pricesUntil = pricesUntil
        }
    }

    public var area: String?
    /// ISO 4217; `nil` when the box does not say.
    public var currency: String?
    /// The slot that holds now; `nil` when nothing is published for now.
    public var slot: PriceSlot?
    /// The slot that follows it without a hole.
    public var next: PriceSlot?
    /// 1 (cheap) to 8; constant as long as the slot and what is published are.
    public var level: Int?
    /// Tomorrow's household day is published to its end.
    public var isTomorrowKnown: Bool
    /// Something of the rest of today is not published, or the last question to the box failed.
    public var isStale: Bool
    /// Stretches without a price that are followed by published ones.
    public var holes: [Range<Date>]
    /// The end of the last published slot; `nil` when there is none.
    public var until: Date?
    /// Today and tomorrow of the household, for charts.
    public var grid: Prices.Grid
    /// One per length asked for, in that order.
    public var cheapest: [Cheapest]
    /// Decided when the quarter or its price begins, and kept until the quarter ends: what
    /// is published meanwhile counts from the next one. `nil` when no price is known for now.
    public var isCheapNow: Bool?

    /// More holes than this say nothing more.
    static let holeLimit = 16
}

/// Holds what was published and makes of it what may be shown, at slot edges and
/// no oftener. Pure.
public struct PriceTracker: Sendable {
    private let rules: PriceRules
    public private(set) var prices: Prices?
    /// Window last answered for each length: one that runs is kept to its end.
    private var windows: [Double: CheapestWindow] = [:]

    /// Whether now is cheap, as it was decided for this quarter.
    private var decision: Decision?

    private var shown: PriceBoard?
    private var shownAt: Date?
    private var around: Around?
    /// When the board changes by time alone; `nil` while there is nothing to show.
    public private(set) var nextChange: Date?

    private struct Decision: Sendable {
        var quarter: Double
        var slot: PriceSlot
        var isCheap: Bool
    }

    private struct Around: Sendable, Equatable {
        var zone: Zone
        var isOld: Bool
    }

    /// A clock is set back by less than this all the time; what was shown for an
    /// edge is not taken back for it.
    static let clockJitter = 60.0

    public init(rules: PriceRules) { self.rules = rules }

    /// Takes in an answer of the box; `nil` when it has no prices at all.
    public mutating func read(_ prices: Prices?) {
        self.prices = prices
        shownAt = nil
    }

    /// The board at that moment; `nil` while nothing is known about prices.
    ///
    /// - Parameters:
    ///   - zone: The household's.
    ///   - isOld: The box could not be asked when there was a reason to.
    public mutating func board(zone: Zone, isOld: Bool, now instant: Date) -> PriceBoard? {
        guard let prices else {
            shown = nil
            nextChange = nil
            return nil
        }
        var now = instant
        if let shownAt {
            let back = shownAt.timeIntervalSince(instant)
            if back > 0, back < Self.clockJitter { now = shownAt }
            let isTimely = now >= shownAt && nextChange.map { now < $0 } ?? false
            if isTimely, around == Around(zone: zone, isOld: isOld) { return shown }
        }
        around = Around(zone: zone, isOld: isOld)
        shownAt = now
        shown = make(prices, zone: zone, isOld: isOld, now: now)
        let edge = Date(timeIntervalSince1970: Self.quarter(of: now)).addingTimeInterval(
            Double(Prices.quarterS))
        nextChange = [edge, prices.now(at: now).changesAt].compactMap { $0 }.min()
        return shown
    }

    private mutating func make(_ prices: Prices, zone: Zone, isOld: Bool, now: Date) -> PriceBoard {
        let current = prices.now(at: now)
        let today = zone.day(of: now)
        let midnight = zone.start(of: today.adding(days: 1))
        let stretch = zone.start(of: today)..<zone.start(of: today.adding(days: 2))
        var board = PriceBoard(
            area: prices.area, currency: prices.currency, slot: current.slot, next: current.next,
            level: current.level, isTomorrowKnown: prices.isTomorrowKnown(zone: zone, now: now),
            isStale: isOld || !prices.coverage(of: min(now, midnight)..<midnight).isComplete,
            holes: Array(prices.coverage(of: stretch).holes.prefix(PriceBoard.holeLimit)),
            until: prices.until, grid: prices.grid(zone: zone, now: now), cheapest: [], isCheapNow: nil)
        var ruled: CheapestWindow?
        var lengths = rules.cheapHours.map(Double.init)
        if case .window(let hours) = rules.cheapNow, !lengths.contains(hours) { lengths.append(hours) }
        for hours in lengths {
            let answer = prices.cheapest(hours: hours, now: now, running: windows[hours])
            windows[hours] = answer.window
            if case .window(hours) = rules.cheapNow { ruled = answer.window }
            guard let whole = Int(exactly: hours), rules.cheapHours.contains(whole) else { continue }
            board.cheapest.append(
                PriceBoard.Cheapest(
                    hours: whole, window: answer.window, isRunning: answer.window?.contains(now) ?? false,
                    knownHours: answer.window == nil ? answer.knownHours : nil,
                    pricesUntil: answer.pricesUntil))
        }
        board.isCheapNow = settled(
            rules.cheapNow.isCheap(prices, window: ruled, now: now), slot: current.slot, now: now)
        return board
    }

    /// Where the quarter of that moment begins, in seconds since 1970.
    private static func quarter(of date: Date) -> Double {
        let length = Double(Prices.quarterS)
        return (Double(date.wholeSeconds) / length).rounded(.down) * length
    }

    /// Prices that are published at the edge of a quarter come a moment after it. Whoever
    /// began to charge at the edge would be stopped at once.
    private mutating func settled(_ isCheap: Bool?, slot: PriceSlot?, now: Date) -> Bool? {
        guard let isCheap, let slot else {
            decision = nil
            return nil
        }
        let quarter = Self.quarter(of: now)
        if let decision, decision.quarter == quarter, decision.slot == slot { return decision.isCheap }
        decision = Decision(quarter: quarter, slot: slot, isCheap: isCheap)
        return isCheap
    }
}

extension PriceTracker {
    /// What makes a restart show the same as before; `nil` while there is nothing.
    public var json: JSONValue? {
        guard let prices else { return nil }
        return [
            "prices": prices.json,
            "windows": .array(
                windows.sorted { $0.key < $1.key }.map { hours, window in
                    [
                        "hours": .double(hours), "start_ms": milliseconds(window.start),
                        "end_ms": milliseconds(window.end), "average_minor": .double(window.averageMinor),
                    ]
                }),
        ]
    }

    /// Takes in what ``json`` wrote; anything else is nothing.
    public mutating func remember(_ json: JSONValue) {
        guard let kept = json["prices"].flatMap(Prices.init) else { return }
        read(kept)
        for item in (json["windows"]?.arrayValue ?? []).prefix(64) {
            guard let hours = item["hours"]?.doubleValue,
                let start = item["start_ms"]?.doubleValue.flatMap(date(milliseconds:)),
                let end = item["end_ms"]?.doubleValue.flatMap(date(milliseconds:)), start < end,
                let average = item["average_minor"]?.doubleValue
            else { continue }
            windows[hours] = CheapestWindow(start: start, end: end, averageMinor: average)
        }
    }

    /// The windows that are running, for telling when there is news to keep.
    public var chosen: [Double: CheapestWindow] { windows }
}

extension Prices {
    /// In the form of the answer to `price.get`, decimals kept.
    public var json: JSONValue {
        [
            "zone": area.map(JSONValue.string) ?? nil, "currency": currency.map(JSONValue.string) ?? nil,
            "slots": .array(
                slots.map { slot in
                    [
                        "startMs": milliseconds(slot.start),
                        "durationMs": .double(slot.end.timeIntervalSince(slot.start) * 1_000),
                        "totalMinor": .double(slot.totalMinor),
                        "spotMinor": slot.spotMinor.map(JSONValue.double) ?? nil,
                    ]
                }),
        ]
    }
}
