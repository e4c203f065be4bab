public import FoundationEssentials
public import JSONText

/// One published price and how long it holds.
public struct PriceSlot: Sendable, Equatable {
    public var start: Date
    public var end: Date
    /// What the household pays, in minor units (öre, cent) per kWh, as the box
    /// sent it. Negative is negative.
    public var totalMinor: Double
    /// The exchange's price, which earns for export; `nil` when not told.
    public var spotMinor: Double?

    public init(start: Date, end: Date, totalMinor: Double, spotMinor: Double? = nil) {
        self.start = start
        self.end = end
        self.totalMinor = totalMinor
        self.spotMinor = spotMinor
    }

    /// In main units per kWh: kronor, not öre.
    public var total: Double { totalMinor / 100 }
    /// In main units per kWh.
    public var spot: Double? { spotMinor.map { $0 / 100 } }

    public func contains(_ instant: Date) -> Bool { start <= instant && instant < end }
}

/// Published prices, in order and without overlap (box-api.md §I).
public struct Prices: Sendable, Equatable {
    /// The price area, such as `SE3`.
    public var area: String?
    /// ISO 4217, such as `SEK`.
    public var currency: String?
    public private(set) var slots: [PriceSlot]

    /// More than ten days of quarters is no answer to any question of ours.
    static let slotLimit = 1_000

    /// - Parameter slots: In any order. Where two overlap, the finer one counts.
    public init(area: String? = nil, currency: String? = nil, slots: [PriceSlot]) {
        self.area = area
        self.currency = currency
        self.slots = Self.tidy(slots)
    }

    /// Reads the answer to `price.get` (`slots`) or to `GET /api/prices` (`items`).
    ///
    /// `nil` when the document is neither, or when prices are off.
    public init?(_ json: JSONValue) {
        guard let members = json.objectValue, members["enabled"]?.boolValue != false else { return nil }
        var r = FieldReader(members)
        guard r.has("slots") || r.has("items") else { return nil }
        let slots = r.objects("slots", limit: Self.slotLimit) { r in
            Self.slot(
                r.instant("startMs"), seconds: r.number("durationMs", 1...86_400_000).map { $0 / 1_000 },
                total: r.signedPrice("totalMinor"), spot: r.signedPrice("spotMinor"))
        }
        let items = r.objects("items", limit: Self.slotLimit) { r in
            Self.slot(
                r.instant("slot_ts_ms"), seconds: r.number("slot_len_min", 1...1_440).map { $0 * 60 },
                total: r.signedPrice("total_ore_kwh"), spot: r.signedPrice("spot_ore_kwh"))
        }
        self.init(area: r.text("zone"), currency: r.text("currency"), slots: (slots ?? []) + (items ?? []))
    }

    private static func slot(_ start: Date?, seconds: Double?, total: Double?, spot: Double?) -> PriceSlot? {
        guard let start, let seconds, let total else { return nil }
        return PriceSlot(
            start: start, end: start.addingTimeInterval(seconds), totalMinor: total, spotMinor: spot)
    }

    private static func tidy(_ slots: [PriceSlot]) -> [PriceSlot] {
        let sorted = slots.prefix(slotLimit).filter { $0.start < $0.end && abs($0.totalMinor) <= 1e6 }
            .sorted { $0.start < $1.start }
        let overlaps = zip(sorted, sorted.dropFirst()).contains { one, next in next.start < one.end }
        guard overlaps else { return sorted }
        var result: [PriceSlot] = []
        let bounds = Set(sorted.flatMap { [$0.start, $0.end] }).sorted()
        for (from, to) in zip(bounds, bounds.dropFirst()) {
            let finest = sorted.filter { $0.contains(from) }
                .min { $0.end.timeIntervalSince($0.start) < $1.end.timeIntervalSince($1.start) }
            guard var piece = finest else { continue }
            if let last = result.last, last.end == from, last.totalMinor == piece.totalMinor,
                piece.start < from
            {
                result[result.count - 1].end = to
            } else {
                piece.start = from
                piece.end = to
                result.append(piece)
            }
        }
        return result
    }

    /// The end of the last published slot; `nil` when there is none.
    public var until: Date? { slots.last?.end }

    /// The slot that holds the instant; never the nearest one.
    public func slot(at instant: Date) -> PriceSlot? {
        slots.last { $0.start <= instant }.flatMap { $0.contains(instant) ? $0 : nil }
    }

    /// The price now, and when that changes.
    public struct Now: Sendable, Equatable {
        public var slot: PriceSlot?
        /// The slot that follows without a hole.
        public var next: PriceSlot?
        /// When to look again; `nil` when nothing is known ahead.
        public var changesAt: Date?
        /// 1 (cheap) to 8 within the next 24 hours.
        public var level: Int?

        public init(slot: PriceSlot? = nil, next: PriceSlot? = nil, changesAt: Date? = nil, level: Int? = nil)
        {
            self.slot = slot
            self.next = next
            self.changesAt = changesAt
            self.level = level
        }
    }

    /// The level is reckoned from the slot's start, so that it holds as long as the slot.
    public func now(at instant: Date) -> Now {
        guard let slot = slot(at: instant) else {
            return Now(changesAt: slots.first { $0.start > instant }?.start)
        }
        let next = slots.first { $0.start == slot.end }
        return Now(slot: slot, next: next, changesAt: slot.end, level: level(of: slot, from: slot.start))
    }

    /// 1 (cheapest) to 8 among the published slots of the 24 hours from `now`
    /// on; 4 for all when they differ by less than one minor unit.
    public func level(of slot: PriceSlot, from now: Date) -> Int? {
        let ahead = slots.filter { $0.end > now && $0.start < now.addingTimeInterval(86_400) }.map(
            \.totalMinor)
        guard let low = ahead.min(), let high = ahead.max() else { return nil }
        guard high - low >= 1 else { return 4 }
        let position = min(max((slot.totalMinor - low) / (high - low), 0), 1)
        return 1 + min(7, Int((8 * position).rounded(.down)))
    }

    /// What of a stretch of time has no published price.
    public struct Coverage: Sendable, Equatable {
        /// Missing in front of or between slots: a fault of whoever publishes.
        public var holes: [Range<Date>]
        /// Missing at the end: not published yet.
        public var missingTail: Range<Date>?

        public var isComplete: Bool { holes.isEmpty && missingTail == nil }
    }

    public func coverage(of stretch: Range<Date>) -> Coverage {
        var holes: [Range<Date>] = []
        var position = stretch.lowerBound
        for slot in slots where slot.end > stretch.lowerBound && slot.start < stretch.upperBound {
            if slot.start > position { holes.append(position..<slot.start) }
            position = max(position, slot.end)
        }
        let tail = position < stretch.upperBound ? position..<stretch.upperBound : nil
        return Coverage(holes: holes, missingTail: tail)
    }

    /// Tomorrow's household day is published to its end.
    public func isTomorrowKnown(zone: Zone, now: Date) -> Bool {
        coverage(of: zone.bounds(of: zone.day(of: now).adding(days: 1))).isComplete
    }

    /// Prices on an even grid, for charts.
    public struct Grid: Sendable, Equatable {
        public var start: Date
        public var stepS: Int
        /// Main units per kWh; `nil` where nothing is published. Ends with the last known one.
        public var totals: [Double?]
        public var spots: [Double?]
    }

    /// Today and tomorrow of the household, in quarters when any slot is shorter than an hour.
    public func grid(zone: Zone, now: Date) -> Grid {
        let today = zone.day(of: now)
        let stretch = zone.start(of: today)..<zone.start(of: today.adding(days: 2))
        let inside = slots.filter { $0.end > stretch.lowerBound && $0.start < stretch.upperBound }
        let isCoarse = inside.allSatisfy { $0.end.timeIntervalSince($0.start) >= 3_600 }
        let stepS = isCoarse && !inside.isEmpty ? 3_600 : 900
        let count = Int(stretch.upperBound.timeIntervalSince(stretch.lowerBound)) / stepS
        var grid = Grid(start: stretch.lowerBound, stepS: stepS, totals: [], spots: [])
        var index = 0
        for step in 0..<count {
            let instant = stretch.lowerBound.addingTimeInterval(Double(step * stepS))
            while index < inside.count, inside[index].end <= instant { index += 1 }
            let slot = index < inside.count && inside[index].contains(instant) ? inside[index] : nil
            grid.totals.append(slot?.total)
            grid.spots.append(slot?.spot)
        }
        while let last = grid.totals.last, last == nil {
            grid.totals.removeLast()
            grid.spots.removeLast()
        }
        return grid
    }
}

extension FieldReader {
    /// A price in minor units, of either sign.
    mutating func signedPrice(_ key: String) -> Double? { number(key, -1e6...1e6) }
}
