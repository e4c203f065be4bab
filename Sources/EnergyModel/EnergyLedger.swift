public import FoundationEssentials
public import JSONText

/// A direction in which energy flows, by the box's own names.
public enum EnergyFlow: String, Sendable, CaseIterable {
    case gridImport = "grid_import"
    case gridExport = "grid_export"
    case batteryCharge = "battery_charge"
    case batteryDischarge = "battery_discharge"
    case solar = "pv_generation"
    case house = "consumer_use"
    case car = "vehicle_charge"
    case carDischarge = "vehicle_discharge"
}

/// The answer to `GET /api/energy/history` for the whole site (box-api.md §J).
public struct EnergyHistory: Sendable, Equatable {
    /// Energy of one flow in one stretch of time, all its readings summed.
    public struct Bucket: Sendable, Equatable {
        public var flow: EnergyFlow
        public var start: Date
        public var end: Date
        public var energyWh: Double

        public init(flow: EnergyFlow, start: Date, end: Date, energyWh: Double) {
            self.flow = flow
            self.start = start
            self.end = end
            self.energyWh = energyWh
        }
    }

    public var since: Date
    public var until: Date
    /// The box left some out; ask again from where the buckets end.
    public var isTruncated: Bool
    /// In order of time.
    public var buckets: [Bucket]

    /// A week in buckets of five minutes, of eight flows, with several readings of each.
    static let pointLimit = 60_000

    public init(since: Date, until: Date, isTruncated: Bool = false, buckets: [Bucket]) {
        self.since = since
        self.until = until
        self.isTruncated = isTruncated
        self.buckets = buckets.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
    }

    /// `nil` when the document is no such answer.
    public init?(_ json: JSONValue) {
        guard let members = json.objectValue else { return nil }
        var r = FieldReader(members)
        guard r.has("points"), let since = r.instant("since_ms"), let until = r.instant("until_ms") else {
            return nil
        }
        struct Key: Hashable {
            var flow: EnergyFlow
            var start: Date
            var end: Date
        }
        var sums: [Key: Double] = [:]
        _ = r.objects("points", limit: Self.pointLimit) { r -> Void? in
            // One bucket may hold several readings of different quality; they add up.
            guard r.text("quality") != "invalid",
                let flow = r.text("flow").flatMap(EnergyFlow.init(rawValue:)),
                let start = r.instant("bucket_start_ms"), let length = r.number("bucket_len_ms", 1...1e11),
                let energyWh = r.number("energy_wh", 0...1e8)
            else { return nil }
            sums[Key(flow: flow, start: start, end: start.addingTimeInterval(length / 1_000)), default: 0] +=
                energyWh
            return ()
        }
        self.init(
            since: since, until: until,
            // What was not read here is asked for again, as what the box left out.
            isTruncated: r.bool("truncated") ?? false
                || members["points"]?.arrayValue?.count ?? 0 > Self.pointLimit,
            buckets: sums.map { Bucket(flow: $0.flow, start: $0.start, end: $0.end, energyWh: $1) })
    }

    /// Energy of each flow since an instant, such as the household's midnight.
    /// A flow without a bucket is missing: right after midnight that is not zero.
    public func sums(since start: Date) -> [EnergyFlow: Double] {
        var sums: [EnergyFlow: Double] = [:]
        for bucket in buckets where bucket.start >= start { sums[bucket.flow, default: 0] += bucket.energyWh }
        return sums
    }
}

/// The answer to `GET /api/energy/daily`: days of the box's own calendar. It
/// knows no car, and a day without data reads zero (box-api.md §J).
public struct EnergyDays: Sendable, Equatable {
    public struct Day: Sendable, Equatable {
        /// `2026-11-30`.
        public var date: String
        /// In watt-hours; a flow the box left out is missing.
        public var energyWh: [EnergyFlow: Double]
    }
    /// Oldest first; the last one is today and still grows.
    public var days: [Day]

    private static let keys: [(String, EnergyFlow)] = [
        ("import_wh", .gridImport), ("export_wh", .gridExport), ("pv_wh", .solar),
        ("bat_charged_wh", .batteryCharge), ("bat_discharged_wh", .batteryDischarge), ("load_wh", .house),
    ]

    /// `nil` when the document is no such answer.
    public init?(_ json: JSONValue) {
        guard let members = json.objectValue else { return nil }
        var r = FieldReader(members)
        let days = r.objects("days", limit: 400) { r -> Day? in
            guard let date = r.text("day") else { return nil }
            var energyWh: [EnergyFlow: Double] = [:]
            for (key, flow) in Self.keys { energyWh[flow] = r.wattHours(key) }
            return Day(date: date, energyWh: energyWh)
        }
        guard let days else { return nil }
        self.days = days
    }

    /// In kWh to the hundredth, rounded down; nothing when that day is not told. A day that reads
    /// zero throughout had no data yet, which is not zero.
    func todayKWh(_ day: LocalDay) -> [EnergyFlow: Double] {
        guard let energyWh = days.last(where: { $0.date == day.iso })?.energyWh,
            energyWh.values.contains(where: { $0 > 0 })
        else { return [:] }
        return energyWh.mapValues { ($0 / 10).rounded(.down) / 100 }
    }
}

/// Totals that never fall, summed from the box's own energy buckets, because
/// the box keeps none.
///
/// Every bucket counts once, some minutes after it closed. What arrives late,
/// or grows afterwards, is added as long as the bucket is remembered; what
/// shrinks afterwards is not taken back.
public struct EnergyLedger: Sendable, Equatable {
    /// From when on energy is counted.
    public let since: Date
    /// In watt-hours; a flow that never had a bucket is missing.
    public private(set) var totalsWh: [EnergyFlow: Double] = [:]
    /// Everything before this has been asked for and answered.
    public private(set) var answeredUntil: Date
    /// Counted buckets that may still change, per flow, in order and without overlap.
    private var recent: [EnergyFlow: [EnergyHistory.Bucket]] = [:]

    /// A bucket counts this long after its end, in seconds.
    public static let settling = 600.0
    /// How far back a bucket may still change, in seconds.
    public static let memory = 7_200.0
    /// The box aligns buckets to the start that is asked for.
    public static let bucketS = 300.0
    /// What one question may ask for: the box answers at most 2,000 buckets.
    static let longestAsk = 1_900 * bucketS

    public init(since: Date) {
        self.since = Self.aligned(since)
        answeredUntil = self.since
    }

    private static func aligned(_ date: Date) -> Date {
        Date(timeIntervalSince1970: (Double(date.wholeSeconds) / bucketS).rounded(.down) * bucketS)
    }

    /// A total as it is shown, in kWh to the hundredth; rounded down, so that a
    /// total that never falls is never shown to fall.
    public func shownKWh(_ flow: EnergyFlow) -> Double? {
        totalsWh[flow].map { ($0 / 10).rounded(.down) / 100 }
    }

    /// The next stretch to ask for, in buckets of five minutes; `nil` when there is none yet.
    public func nextAsk(now: Date) -> Range<Date>? {
        let from = max(since, Self.aligned(answeredUntil.addingTimeInterval(-Self.memory)))
        let to = min(Self.aligned(now), from.addingTimeInterval(Self.longestAsk))
        return from < to ? from..<to : nil
    }

    /// Adds an answer. The same answer again changes nothing.
    public mutating func add(_ history: EnergyHistory, now: Date) {
        let forgotten = answeredUntil.addingTimeInterval(-Self.memory)
        var lastEnd: Date?
        for bucket in history.buckets {
            lastEnd = max(lastEnd ?? bucket.end, bucket.end)
            guard bucket.start >= since, bucket.start >= forgotten, bucket.energyWh.isFinite,
                bucket.energyWh >= 0,
                bucket.end.addingTimeInterval(Self.settling) <= now
            else { continue }
            count(bucket)
        }
        // A truncated answer says nothing about what lies past its last bucket.
        let answered = history.isTruncated ? lastEnd ?? answeredUntil : history.until
        let closed = min(answered, now.addingTimeInterval(-Self.settling))
        if history.since <= answeredUntil, closed > answeredUntil { answeredUntil = closed }
        let keep = answeredUntil.addingTimeInterval(-Self.memory)
        for flow in recent.keys { recent[flow]?.removeAll { $0.end <= keep } }
    }

    private mutating func count(_ bucket: EnergyHistory.Bucket) {
        var counted = recent[bucket.flow] ?? []
        var upper = counted.count
        while upper > 0, counted[upper - 1].start >= bucket.end { upper -= 1 }
        var lower = upper
        while lower > 0, counted[lower - 1].end > bucket.start { lower -= 1 }
        let overlapping = counted[lower..<upper]
        // Other bounds than before: only a bucket that holds the counted ones whole can add to them.
        guard overlapping.allSatisfy({ $0.start >= bucket.start && $0.end <= bucket.end }) else { return }
        let known = overlapping.reduce(0) { $0 + $1.energyWh }
        totalsWh[bucket.flow, default: 0] += max(0, bucket.energyWh - known)
        var settled = bucket
        settled.energyWh = max(bucket.energyWh, known)
        counted.replaceSubrange(lower..<upper, with: [settled])
        recent[bucket.flow] = counted
    }
}

extension EnergyLedger {
    /// Reads what ``json`` wrote; `nil` for anything else, so that a damaged
    /// file is noticed and not counted on.
    public init?(json: JSONValue) {
        guard let since = json["since_ms"]?.doubleValue.flatMap(date(milliseconds:)),
            let until = json["answered_until_ms"]?.doubleValue.flatMap(date(milliseconds:)), until >= since,
            let totals = json["totals_wh"]?.objectValue, let recent = json["recent"]?.arrayValue
        else { return nil }
        self.init(since: since)
        answeredUntil = until
        for (name, value) in totals {
            guard let flow = EnergyFlow(rawValue: name) else { continue }
            guard let total = value.doubleValue, total >= 0 else { return nil }
            totalsWh[flow] = total
        }
        var last: [EnergyFlow: Date] = [:]
        for item in recent {
            guard let flow = item["flow"]?.stringValue.flatMap(EnergyFlow.init(rawValue:)),
                let start = item["start_ms"]?.doubleValue.flatMap(date(milliseconds:)),
                let end = item["end_ms"]?.doubleValue.flatMap(date(milliseconds:)), start < end,
                let energyWh = item["wh"]?.doubleValue, energyWh >= 0, start >= last[flow] ?? start
            else { return nil }
            last[flow] = end
            self.recent[flow, default: []].append(
                EnergyHistory.Bucket(flow: flow, start: start, end: end, energyWh: energyWh))
        }
    }

    /// Everything that must survive a restart.
    public var json: JSONValue {
        var totals: [String: JSONValue] = [:]
        for (flow, total) in totalsWh { totals[flow.rawValue] = .double(total) }
        return [
            "since_ms": milliseconds(since), "answered_until_ms": milliseconds(answeredUntil),
            "totals_wh": .object(totals),
            "recent": .array(
                EnergyFlow.allCases.flatMap { recent[$0] ?? [] }.map { bucket in
                    [
                        "flow": .string(bucket.flow.rawValue), "start_ms": milliseconds(bucket.start),
                        "end_ms": milliseconds(bucket.end), "wh": .double(bucket.energyWh),
                    ]
                }),
        ]
    }
}
