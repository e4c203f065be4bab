public import FoundationEssentials
public import JSONText

/// Energy per flow, as it may be shown.
public struct EnergyBoard: Sendable, Equatable {
    /// From when on the totals count.
    public var since: Date
    /// In kWh to the hundredth, never falling; a flow that never had a bucket is
    /// missing, and so are all while an earlier history is still being read.
    public var totalsKWh: [EnergyFlow: Double]
    /// The household's day that ``todayKWh`` is about.
    public var day: LocalDay
    /// In kWh since the household's midnight; a flow without a bucket is missing.
    public var todayKWh: [EnergyFlow: Double]
    /// What flowed before this is counted.
    public var countedUntil: Date

    public init(
        since: Date, totalsKWh: [EnergyFlow: Double], day: LocalDay, todayKWh: [EnergyFlow: Double],
        countedUntil: Date
    ) {
        self.since = since
        self.totalsKWh = totalsKWh
        self.day = day
        self.todayKWh = todayKWh
        self.countedUntil = countedUntil
    }
}

/// Where totals begin when there are none yet.
public enum EnergyStart: Sendable, Equatable {
    /// At zero, now.
    case zero
    /// With all that the box's ledger still knows.
    case backfill
}

/// Sums the box's energy buckets to totals that never fall, and to the day's energy.
///
/// Both are ``EnergyLedger``s fed with the same answers; only the totals are kept
/// on disk, the day is read again after a restart. Pure.
public struct EnergyTracker: Sendable {
    private let start: EnergyStart
    public private(set) var total: EnergyLedger?
    private var today: EnergyLedger?
    private var day: LocalDay?
    /// The midnight that ``today`` counts from: the zone may become known after the day began.
    private var midnight: Date?
    /// What a box without a ledger says of its days.
    private var days: EnergyDays?
    /// The first reading of an earlier history is done. Before that a total would
    /// look like energy that flows now.
    private var isComplete = false
    private var shown: EnergyBoard?

    /// The box keeps a ledger for two years.
    static let ledgerMemory = 729.0 * 86_400
    /// Behind by more than this, there is more to ask at once. In seconds.
    static let lag = EnergyLedger.settling + 2 * EnergyLedger.bucketS

    public init(start: EnergyStart) { self.start = start }

    /// The next stretch to ask for, in buckets of five minutes aligned to its
    /// start; `nil` when there is none yet. Never longer than the box answers.
    public mutating func nextAsk(zone: Zone, now: Date) -> Range<Date>? {
        if total == nil || (total.map { $0.since > now && $0.totalsWh.isEmpty } ?? false) {
            total = EnergyLedger(since: start == .zero ? now : now.addingTimeInterval(-Self.ledgerMemory))
            isComplete = start == .zero
        }
        turn(zone: zone, now: now)
        let asks = [total, today].compactMap { $0?.nextAsk(now: now) }
        guard let from = asks.map(\.lowerBound).min(), let to = asks.map(\.upperBound).max() else {
            return nil
        }
        return from..<min(to, from.addingTimeInterval(EnergyLedger.longestAsk))
    }

    /// Takes in an answer; the same one again changes nothing.
    public mutating func add(_ history: EnergyHistory, zone: Zone, now: Date) {
        turn(zone: zone, now: now)
        total?.add(history, now: now)
        today?.add(history, now: now)
        days = nil
        if !isBehind(now: now) { isComplete = true }
        shown = nil
    }

    /// Takes in the days of a box that keeps no ledger: they show today's energy and add nothing to
    /// the totals, because a day of samples may be stretched or corrected. The car is in none of them.
    public mutating func add(_ days: EnergyDays) {
        self.days = days
        shown = nil
    }

    /// There is more to ask for at once.
    public func isBehind(now: Date) -> Bool {
        [total, today].contains { ledger in
            ledger.map { $0.answeredUntil < now.addingTimeInterval(-Self.lag) && $0.since < now } ?? false
        }
    }

    /// `nil` until anything is counted or remembered.
    public mutating func board(zone: Zone, now: Date) -> EnergyBoard? {
        guard total != nil else { return nil }
        turn(zone: zone, now: now)
        if let shown { return shown }
        guard let total, let day else { return nil }
        func kWh(_ ledger: EnergyLedger?) -> [EnergyFlow: Double] {
            var result: [EnergyFlow: Double] = [:]
            for flow in EnergyFlow.allCases { result[flow] = ledger?.shownKWh(flow) }
            return result
        }
        shown = EnergyBoard(
            since: total.since, totalsKWh: isComplete ? kWh(total) : [:], day: day,
            todayKWh: days?.todayKWh(day) ?? kWh(today), countedUntil: total.answeredUntil)
        return shown
    }

    private mutating func turn(zone: Zone, now: Date) {
        let current = zone.day(of: now)
        let start = zone.start(of: current)
        guard day != current || midnight != start else { return }
        (day, midnight) = (current, start)
        today = EnergyLedger(since: start)
        shown = nil
    }
}

extension EnergyTracker {
    /// Everything that must survive a restart; `nil` before anything was asked.
    public var json: JSONValue? {
        total.map { ["ledger": $0.json, "complete": .bool(isComplete)] }
    }

    /// Takes in what ``json`` wrote.
    ///
    /// - Returns: Whether it could be used. If not, the totals begin anew, which
    ///   whoever adds them up sees as a new meter.
    public mutating func remember(_ json: JSONValue) -> Bool {
        guard let kept = json["ledger"].flatMap(EnergyLedger.init(json:)) else { return false }
        total = kept
        isComplete = json["complete"]?.boolValue ?? false
        shown = nil
        return true
    }
}
