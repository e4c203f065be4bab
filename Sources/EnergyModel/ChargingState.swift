public import FoundationEssentials

/// What the charging is doing, for a sentence.
public enum ChargingState: Sendable, Equatable {
    case unplugged
    /// Power flows because of the plan or the sun, in watts.
    case charging(powerW: Double)
    /// Power flows because a person said "charge now".
    case heldCharging(powerW: Double)
    /// "Charge now" is on, nothing flows.
    case heldWaiting
    case heldLimited(Limit)
    case paused
    case needsChoice
    case declined
    /// Nothing flows until then.
    case waiting(ChargingWindow)
    /// Plugged in, nothing planned.
    case idle
    case unknown

    /// What holds "charge now" back.
    public enum Limit: String, Sendable, CaseIterable {
        case fuse = "fuse_limit"
        case fuseCooldown = "fuse_cooldown"
        case meter = "site_meter_stale"
        case charger = "charger_limit"
        /// Something this version does not know.
        case other
    }

    /// - Parameters:
    ///   - isReachable: The box is there and the charger answers.
    ///   - windows: When it will charge, in order.
    public init(_ lp: Loadpoint, isReachable: Bool, windows: [ChargingWindow], now: Date) {
        guard isReachable, !lp.isChargerUnavailable, let pluggedIn = lp.pluggedIn else {
            self = .unknown
            return
        }
        guard pluggedIn else {
            self = .unplugged
            return
        }
        switch lp.hold {
        case .needsChoice: self = .needsChoice
        case .paused: self = .paused
        case .chargeNow:
            if lp.manual?.state == .limited {
                self = .heldLimited(lp.manual?.limitReason.flatMap(Limit.init(rawValue:)) ?? .other)
            } else if lp.isDelivering == true, let powerW = lp.powerW {
                self = .heldCharging(powerW: powerW)
            } else {
                self = .heldWaiting
            }
        case Loadpoint.Hold.none?, nil:
            if lp.isDelivering == true, let powerW = lp.powerW {
                self = .charging(powerW: powerW)
            } else if lp.chargingDeclined == true {
                self = .declined
            } else if let next = windows.first(where: { $0.end > now }) {
                self = .waiting(next)
            } else {
                self = .idle
            }
        }
    }
}
