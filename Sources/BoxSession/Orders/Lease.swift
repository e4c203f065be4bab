import EnergyModel
import FoundationEssentials

/// A timed "charge now" that lasts longer than one hold may: the box allows half an
/// hour, so it is asked again every ten minutes (box API §D). Pure.
///
/// It lives in this process only. When anybody else changed the hold, the car left
/// or nobody could renew, it ends, and what is left of the last hold runs out.
struct Lease: Equatable {
    enum Verdict: Equatable {
        /// Hold again for that long.
        case renew(seconds: Int)
        case end(Reason)
    }
    /// Why a lease is not renewed any more; for the log.
    enum Reason: String, Equatable {
        case complete = "the last hold lasts to the end"
        case notHeld = "nothing is held any more"
        case changed = "somebody else changed the hold"
        case carLeft = "the car left"
        case anotherOrder = "another order came"
        case ranOut = "it could not be renewed in time"
        case boxRestarted = "the box restarted"
        case refused = "the box refused"
    }

    static let every = Duration.seconds(600)
    static let retryAfter = Duration.seconds(60)

    /// Tells this lease from a later one at the same loadpoint.
    let number: UInt64
    let loadpoint: String
    let powerW: Double
    let phaseMode: String?
    let stepsW: [Double]
    /// Monotonic, so that a clock that is set moves nothing.
    let endsAt: Duration
    /// What the box said it holds.
    private(set) var heldW: Double
    /// The end of the hold by the box's own clock, whatever that shows; `nil`
    /// until it was read.
    private var expiry: Date?
    /// When the hold began by the chargers' reading, as it was found to be ours; `nil` until then.
    private var since: Date?
    private(set) var holdEndsAt: Duration
    /// When the box last said that it holds, to tell younger readings from older ones.
    private(set) var heldSince: Date
    /// When the box first said so.
    private let begunAt: Date
    /// When to look and renew.
    private(set) var dueAt: Duration

    /// - Returns: `nil` when the one hold lasts to the end.
    init?(
        number: UInt64, loadpoint: String, powerW: Double, phaseMode: String?, stepsW: [Double],
        heldW: Double, holdSeconds: Int, endsAt: Duration, at now: Duration, wall: Date
    ) {
        // A hold lasts whole seconds: what is less than one is no time to renew for.
        guard endsAt > now + .seconds(holdSeconds + 1) else { return nil }
        self.number = number
        self.loadpoint = loadpoint
        self.powerW = powerW
        self.phaseMode = phaseMode
        self.stepsW = stepsW
        self.endsAt = endsAt
        self.heldW = heldW
        heldSince = wall
        begunAt = wall
        holdEndsAt = now + .seconds(holdSeconds)
        dueAt = now + Self.every
    }

    /// Whether that reading is of what is held here, and not of what was there before.
    func isShown(by car: CarState) -> Bool {
        guard car.readAt > begunAt, case .chargeNow? = car.loadpoint.hold else { return false }
        return stranger(car.loadpoint) == nil
    }

    // MARK: Events

    /// The hold was read soon after it was placed: this is what it looks like untouched.
    ///
    /// - Parameter since: When it began by the chargers' reading, if that led to the look.
    /// - Returns: A reason when it is already not ours.
    mutating func looked(_ detail: ManualHoldDetail, since: Date? = nil) -> Reason? {
        if let reason = stranger(detail) { return reason }
        expiry = detail.expiresAt
        self.since = since ?? self.since
        return nil
    }

    /// The hold was read because renewing is due.
    func verdict(_ detail: ManualHoldDetail, at now: Duration) -> Verdict {
        if let reason = stranger(detail) { return .end(reason) }
        guard now < endsAt else { return .end(.complete) }
        return .renew(seconds: OrderDraft.holdSeconds(for: endsAt - now))
    }

    /// The box holds again.
    ///
    /// - Returns: A reason when that was the last time.
    mutating func renewed(heldW: Double, seconds: Int, at now: Duration, wall: Date) -> Reason? {
        self.heldW = heldW
        heldSince = wall
        (expiry, since) = (nil, nil)
        holdEndsAt = now + .seconds(seconds)
        dueAt = now + Self.every
        return holdEndsAt >= endsAt - .seconds(1) ? .complete : nil
    }

    /// Looking or renewing did not work, and nobody knows whether the box holds anew.
    ///
    /// - Returns: A reason when there is no time to try again.
    mutating func failed(mayHaveRenewed: Bool, at now: Duration) -> Reason? {
        if mayHaveRenewed { (expiry, since) = (nil, nil) }
        dueAt = now + Self.retryAfter
        return dueAt >= min(holdEndsAt, endsAt) ? .ranOut : nil
    }

    /// When the hold began, if the chargers' own reading tells another time than when it was
    /// found to be ours: somebody may have placed the same power anew, which only a look at the
    /// hold itself can tell.
    func newSince(_ loadpoint: Loadpoint) -> Date? {
        loadpoint.holdSince.flatMap { $0 == since ? nil : $0 }
    }

    /// What the chargers' own reading says, taken after the hold was placed.
    func stranger(_ loadpoint: Loadpoint) -> Reason? {
        if loadpoint.pluggedIn == false { return .carLeft }
        switch loadpoint.hold {
        case .chargeNow(let powerW?): return isOurs(powerW) ? nil : .changed
        case .chargeNow, nil: return nil
        case .some(.none): return .notHeld
        case .paused, .needsChoice: return .changed
        }
    }

    private func stranger(_ detail: ManualHoldDetail) -> Reason? {
        guard detail.active else { return .notHeld }
        guard isOurs(detail.powerW) else { return .changed }
        // A hold without an end is somebody's who wants it to last.
        guard let expiresAt = detail.expiresAt else { return .changed }
        guard let expiry else { return nil }
        return expiry == expiresAt ? nil : .changed
    }

    private func isOurs(_ observedW: Double) -> Bool {
        abs(observedW - heldW) <= 1 || OrderDraft.isHeld(observedW, asked: powerW, stepsW: stepsW)
    }
}
