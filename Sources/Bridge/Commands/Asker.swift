public import EnergyModel
public import FoundationEssentials
import JSONText

/// Whose order stands at a loadpoint, as far as it went through this bridge.
public struct Asker: Sendable, Equatable {
    /// The command's own words; `nil` when it did not say.
    public var from: String?
    /// `nil`: one whose outcome nobody knows, so the next hold may be its doing.
    public var wish: Intent.ControlWish?
    /// When it ended, by our clock.
    public var at: Date

    /// - Returns: `nil` for "back to the plan", after which nobody's order stands.
    init?(_ wish: Intent.ControlWish, _ report: StageReport) {
        guard wish != .plan || report.stage != .done else { return nil }
        from = report.from
        self.wish = report.stage == .done ? wish : nil
        at = report.at
    }

    /// Until when it was to last; `nil` without an end.
    public var until: Date? { if case .chargeNow(_, let until)? = wish { until } else { nil } }

    /// Whether that may be the order a box holds now. One at full power, or rounded
    /// down to what the charger can be set to, is known by its kind.
    func isBehind(_ hold: Loadpoint.Hold) -> Bool {
        switch (wish, hold) {
        case (.pause?, .paused): true
        case (.chargeNow(let asked?, _)?, .chargeNow(let held?)): held <= asked + 1
        case (.chargeNow?, .chargeNow): true
        default: false
        }
    }

    var document: JSONValue {
        [
            "from": from.map(JSONValue.string) ?? .null,
            "intent": wish.map { Intent.control($0).document } ?? .null,
            "at": .double(at.timeIntervalSince1970),
        ]
    }

    /// - Returns: `nil` for a document that is none.
    init?(document: JSONValue) {
        guard let at = document["at"]?.doubleValue, at.isFinite else { return nil }
        from = document["from"]?.stringValue
        if case .control(let wish)? = document["intent"].flatMap(Intent.init(document:)) { self.wish = wish }
        self.at = Date(timeIntervalSince1970: at)
    }
}

/// Follows the hold of one loadpoint from reading to reading, to tell whose it is.
///
/// The box does not say who placed a hold (box API §A.4). One that fits the last
/// order that went through us is that order's, until it changes without us.
struct HoldWatch: Equatable {
    /// Who placed a hold.
    enum Origin: Equatable {
        /// It went through this bridge.
        case bridge(from: String?)
        /// The app, the box's page, or whoever else has a way of their own.
        case elsewhere
        /// The box itself, after a restart.
        case box

        /// As it is published: whoever named itself, else one of three words.
        var word: String {
            switch self {
            case .bridge(let from): from ?? "bridge"
            case .elsewhere: "elsewhere"
            case .box: "box"
            }
        }
    }
    private struct Reading: Equatable {
        var hold: Loadpoint.Hold
        /// When the box says that it began; `nil` when it does not say.
        var since: Date?
    }
    private var last: Reading?
    private var lastAt = Date.distantPast
    /// `nil`: nobody holds, or nobody knows who.
    private(set) var origin: Origin?

    /// The loadpoint as it is now.
    ///
    /// - Parameters:
    ///   - asker: Whose order last went through us; `nil` when none is known to stand.
    ///   - isRenewed: We keep a timed hold alive there, which makes it look new.
    ///   - isTaken: It was ours and is found to be somebody else's.
    ///   - isBusy: A command of ours is under way, so a change may be its doing.
    mutating func read(_ car: CarState, asker: Asker?, isRenewed: Bool, isTaken: Bool, isBusy: Bool) {
        guard let hold = car.loadpoint.hold else { return }
        let new = Reading(hold: hold, since: car.loadpoint.holdSince)
        // Placed by a command whose end we have not heard: a later reading tells.
        if isBusy, new != last { return }
        defer { (last, lastAt) = (new, car.readAt) }
        switch hold {
        case .none: origin = nil
        case .needsChoice: origin = .box
        case .chargeNow where isTaken && !(asker.map { $0.at > lastAt } ?? false): origin = .elsewhere
        case .chargeNow, .paused:
            if new == last, origin != nil { return }
            let isNews = asker.map { $0.at > lastAt } ?? false
            if let asker, asker.isBehind(hold), isNews || isRenewal(of: new, asker, isRenewed, at: car.readAt)
            {
                origin = .bridge(from: asker.from)
            } else if last == nil || (isNews && asker?.wish == nil) {
                // Placed before we looked, or perhaps by an order that got no answer.
                origin = nil
            } else if new != last {
                origin = .elsewhere
            }
        }
    }

    private func isRenewal(of new: Reading, _ asker: Asker, _ isRenewed: Bool, at readAt: Date) -> Bool {
        guard case .bridge = origin, new.hold == last?.hold else { return false }
        return isRenewed || asker.until.map { $0 > readAt } ?? false
    }
}
