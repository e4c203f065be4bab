import EnergyModel

/// Our verdict on each source: ill at once, well again only after a steady
/// while (FTW wire §6.6).
///
/// A driver that reports errors flaps between `down` and `lagging` on every
/// beat while its values jump between zero and the last one. So a fault is held:
/// after it only `live` counts, and only when it lasted for the whole hold. A
/// source that is merely `lagging`, with no fault before, still reports.
struct SourceHealth: Equatable {
    private struct Entry: Equatable {
        var state: Source.State
        /// When the source was last seen in a state that keeps the hold going.
        var faultAt: Duration?
    }
    private var entries: [String: Entry] = [:]
    private var blockers: [String: Duration] = [:]
    private var current: Set<String> = []

    static let hold = Source.healthHold
    /// More blockers than this are not remembered.
    static let maxBlockers = 64

    /// Takes the table and the blocked list as they stand after a frame.
    mutating func observed(states: [String: Source.State], blockedBy: [String], at now: Duration) {
        expire(at: now)
        entries = entries.filter { states[$0.key] != nil }
        for (id, state) in states {
            var entry = entries[id] ?? Entry(state: state, faultAt: nil)
            entry.state = state
            switch state {
            case .live:
                // The hold runs from the last moment that was not live.
                break
            case .lagging:
                if entry.faultAt != nil { entry.faultAt = now }
            case .stale, .down, .never, .unknown:
                entry.faultAt = now
            }
            entries[id] = entry
        }
        for id in current where !blockedBy.contains(id) { blockers[id] = now }
        current = Set(blockedBy)
        for id in current { blockers[id] = nil }
        while blockers.count > Self.maxBlockers, let oldest = blockers.min(by: { $0.value < $1.value }) {
            blockers[oldest.key] = nil
        }
    }

    /// While a source stays in a faulty state its hold keeps beginning now.
    private mutating func expire(at now: Duration) {
        for (id, entry) in entries {
            guard let faultAt = entry.faultAt else { continue }
            if entry.state == .live {
                if now - faultAt >= Self.hold { entries[id]?.faultAt = nil }
            } else {
                entries[id]?.faultAt = now
            }
        }
        blockers = blockers.filter { now - $0.value < Self.hold }
    }

    /// Whether values of that source may be shown; a source nobody named may not.
    func isHealthy(_ id: String, at now: Duration) -> Bool {
        guard let entry = entries[id] else { return false }
        guard entry.state == .live || entry.state == .lagging else { return false }
        guard let faultAt = entry.faultAt else { return true }
        return entry.state == .live && now - faultAt >= Self.hold
    }

    /// Who stops the box from steering, each held for the same while, by id.
    func blockedBy(at now: Duration) -> [String] {
        current.union(blockers.filter { now - $0.value < Self.hold }.keys).sorted()
    }

    /// When a verdict changes by time alone; `nil` when none will.
    func nextChange(after now: Duration) -> Duration? {
        var next: Duration?
        for entry in entries.values where entry.state == .live {
            guard let faultAt = entry.faultAt, now - faultAt < Self.hold else { continue }
            next = next.map { min($0, faultAt + Self.hold) } ?? faultAt + Self.hold
        }
        for since in blockers.values where now - since < Self.hold {
            next = next.map { min($0, since + Self.hold) } ?? since + Self.hold
        }
        return next
    }

    /// The box process is another one.
    mutating func restarted() { self = SourceHealth() }
}
