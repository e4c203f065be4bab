import EnergyModel

/// When a new set of power values is worth a message.
///
/// A step goes out at once, a drift after a while, and the last value before a
/// silence always. Whoever needs every reading chooses `fast`.
struct PowerPace: Sendable, Equatable {
    /// A change of that many watts is a step.
    let stepW: Double
    /// So is a change by that share of the larger value, if it is at least ``driftW``.
    let stepShare: Double
    /// A smaller change of that many watts is a drift.
    let driftW: Double
    /// How long a drift may wait.
    let patience: Duration
    /// The least time between two messages.
    let gap: Duration

    /// While values are live they are sent at least so often, whatever they are.
    static let renewal = Duration.seconds(30)

    /// When a drift began; `nil` while there is none.
    private var driftSince: Duration?

    init(_ rate: BridgeSettings.Rate) {
        switch rate {
        case .calm:
            (stepW, stepShare, driftW, patience, gap) = (500, 0.25, 100, .seconds(15), .seconds(1))
        case .normal:
            (stepW, stepShare, driftW, patience, gap) = (200, 0.1, 50, .seconds(5), .milliseconds(250))
        case .fast:
            (stepW, stepShare, driftW, patience, gap) = (1, 0, 1, .zero, .zero)
        }
    }

    /// - Parameters:
    ///   - sent: What was sent last.
    ///   - sentAt: When that was.
    /// - Returns: When the new values should go out; `nil` if the next renewal is soon enough.
    mutating func due(_ power: Power, after sent: Power, sentAt: Duration, now: Duration) -> Duration? {
        let changes = (
            change(sent.gridW, power.gridW), change(sent.solarW, power.solarW),
            change(sent.batteryW, power.batteryW), change(sent.carW, power.carW),
            change(sent.houseW, power.houseW)
        )
        let greatest = max(changes.0, changes.1, changes.2, changes.3, changes.4)
        if greatest == .step { return max(now, sentAt + gap) }
        guard greatest == .drift else {
            driftSince = nil
            return nil
        }
        let since = driftSince ?? now
        driftSince = since
        return max(since + patience, sentAt + gap)
    }

    mutating func sent() { driftSince = nil }

    private enum Change: Int, Comparable {
        case none, drift, step
        static func < (a: Change, b: Change) -> Bool { a.rawValue < b.rawValue }
    }

    /// Becoming known or unknown is a step.
    private func change(_ old: Double?, _ new: Double?) -> Change {
        guard let old, let new else { return old == nil && new == nil ? .none : .step }
        let change = abs(new - old)
        if change >= stepW || change >= driftW && change >= stepShare * max(abs(old), abs(new)) {
            return .step
        }
        return change >= driftW ? .drift : .none
    }
}
