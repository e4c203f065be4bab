import BoxLink
import EnergyModel
import FoundationEssentials

/// The bridge itself sees that the box could not or must not do it.
struct OrderRefused: Error, Equatable {
    var reason: BoxRefusalReason

    init(_ kind: BoxRefusalReason.Kind, _ detail: String) {
        reason = BoxRefusalReason(kind: kind, detail: detail)
    }

    /// A change that has nothing to take a part from.
    init(missing: BoxRefusalReason.Missing, _ detail: String) {
        reason = BoxRefusalReason(kind: .precondition, detail: detail, missing: missing)
    }
}

/// One intent as a command, and how to tell that the box did it (FTW wire §7.6). Pure.
///
/// Nothing is clamped: what the charger cannot do is refused, so that whoever asked
/// finds out.
struct OrderDraft: Equatable {
    /// What the box must have read back for "done".
    enum Expectation: Equatable {
        case soc(Double)
        /// `stepsW`: a box may round down to what the charger can be set to.
        case held(powerW: Double, stepsW: [Double])
        case paused
        case released
        case flag(Bool)
        /// A mode by its place in the session's catalogue.
        case mode(index: Int, keys: [String])
    }

    var op: Contract.Op
    var args: CBORMap
    var expectation: Expectation
    /// How long the hold lasts that is asked for; `nil` for ever or for no hold.
    var holdSeconds: Int?

    /// What the box has to be asked before anything is sent: a hold at a charger
    /// without a car would be confirmed and gone a moment later (box API §D).
    static func needsLoadpoint(_ intent: Intent) -> Bool {
        switch intent {
        case .control(.chargeNow), .control(.pause), .level(.step): true
        default: false
        }
    }

    /// - Parameters:
    ///   - loadpoint: The loadpoint's id at the box.
    ///   - fresh: Read just now; needed where ``needsLoadpoint(_:)`` says so.
    ///   - modes: The keys of the session's catalogue, in its order.
    ///   - remaining: How long from now until the end that was asked for; `nil` without one.
    /// - Throws: ``OrderRefused`` for what must not even be sent.
    init(
        _ intent: Intent, loadpoint: String?, fresh: Loadpoint? = nil, modes: [String] = [],
        remaining: Duration? = nil
    ) throws(OrderRefused) {
        if case .mode(let key) = intent {
            self = try Self.mode(key, modes)
            return
        }
        guard let loadpoint, !loadpoint.isEmpty else { throw OrderRefused(.noCharger, "no charger is named") }
        switch intent {
        case .level(let wish): self = try Self.level(wish, loadpoint, fresh)
        case .control(let wish): self = try Self.control(wish, loadpoint, fresh, remaining)
        case .surplusOnly(let on):
            self.init(
                .loadpointSurplusOnlySet, ["id": .text(loadpoint), "surplus_only": .bool(on)], .flag(on))
        case .boost(let wish): self = try Self.boost(wish, loadpoint)
        case .goal, .mode: throw OrderRefused(.unsupported, "this is no command")
        }
    }

    private init(
        _ op: Contract.Op, _ args: CBORMap, _ expectation: Expectation, holdSeconds: Int? = nil
    ) {
        self.op = op
        self.args = args
        self.expectation = expectation
        self.holdSeconds = holdSeconds
    }

    /// A hold that charges for some time, as a lease renews it.
    init(lease loadpoint: String, powerW: Double, phaseMode: String?, stepsW: [Double], seconds: Int) {
        self = Self.hold(loadpoint, powerW: powerW, phaseMode: phaseMode, stepsW: stepsW, seconds: seconds)
    }

    // MARK: By kind

    private static func mode(_ key: String, _ modes: [String]) throws(OrderRefused) -> Self {
        guard let index = modes.firstIndex(of: key) else {
            throw OrderRefused(.outOfRange, "this box has the modes \(modes.joined(separator: ", "))")
        }
        return Self(.siteModeSet, ["mode": .text(key)], .mode(index: index, keys: modes))
    }

    private static func level(
        _ wish: Intent.LevelWish, _ id: String, _ fresh: Loadpoint?
    ) throws(OrderRefused) -> Self {
        let soc: Double
        switch wish {
        case .exactly(let wanted): soc = wanted
        case .step(let step):
            guard let fresh, fresh.pluggedIn == true, let current = fresh.currentSoc else {
                throw OrderRefused(.notPluggedIn, "a step needs a car to count from")
            }
            guard (-1...1).contains(step) else { throw OrderRefused(.outOfRange, "a step is -1 to 1") }
            soc = min(1, max(0, current + step))
        }
        guard (0...1).contains(soc) else { throw OrderRefused(.outOfRange, "a level is 0 to 1") }
        return Self(.loadpointSoCSet, ["id": .text(id), "soc": .float(soc)], .soc(soc))
    }

    private static func control(
        _ wish: Intent.ControlWish, _ id: String, _ fresh: Loadpoint?, _ remaining: Duration?
    ) throws(OrderRefused) -> Self {
        if wish == .plan {
            return Self(.loadpointHold, ["id": .text(id), "clear": true], .released)
        }
        guard let fresh else { throw OrderRefused(.noCharger, "the box has no charger \(id)") }
        guard fresh.pluggedIn != false else {
            // An unreachable charger's cable is only the last one known.
            throw fresh.isChargerUnavailable
                ? OrderRefused(.unavailable, "the charger does not answer")
                : OrderRefused(.notPluggedIn, "no car is plugged in")
        }
        guard case .chargeNow(let wanted, let until) = wish else {
            return Self(.loadpointHold, ["id": .text(id), "power_w": 0, "hold_s": 0], .paused)
        }
        var seconds = 0
        if until != nil {
            guard let remaining, remaining > .zero else {
                throw OrderRefused(.outOfRange, "the end lies in the past")
            }
            seconds = holdSeconds(for: remaining)
        }
        let full = fresh.fullPower
        let powerW = wanted ?? full.powerW
        try check(powerW, fresh)
        // Below six amperes on each of three phases a fixed mode would mean no charging at all.
        let isLow = (fresh.phases ?? 3) != 1 && powerW < 18 * (fresh.voltageV ?? 230)
        return hold(
            id, powerW: powerW, phaseMode: isLow ? nil : full.phaseMode, stepsW: fresh.stepsW ?? [],
            seconds: seconds)
    }

    private static func check(_ powerW: Double, _ fresh: Loadpoint) throws(OrderRefused) {
        let limits = PowerLimits(leastW: fresh.minPowerW ?? 0, mostW: fresh.fullPower.powerW)
        guard limits.allows(powerW) else {
            let (least, most) = limits.text
            throw OrderRefused(.outOfRange, "this charger takes \(least) to \(most) W")
        }
    }

    private static func hold(
        _ id: String, powerW: Double, phaseMode: String?, stepsW: [Double], seconds: Int
    ) -> Self {
        // The power is always a number: left out or as text it would be a pause (FTW wire §11.18).
        var members: [(String, CBORValue)] = [
            ("id", .text(id)), ("power_w", .float(powerW)), ("hold_s", .int(Int64(seconds))),
        ]
        if let phaseMode { members.append(("phase_mode", .text(phaseMode))) }
        return Self(
            .loadpointHold, CBORMap(members), .held(powerW: powerW, stepsW: stepsW),
            holdSeconds: seconds > 0 ? seconds : nil)
    }

    private static func boost(_ wish: Intent.BoostWish, _ id: String) throws(OrderRefused) -> Self {
        guard case .start(let seconds, let minBatterySoc) = wish else {
            return Self(.loadpointBoost, ["id": .text(id), "cancel": true], .flag(false))
        }
        guard Contract.Command.boostSeconds.contains(Int64(seconds)) else {
            throw OrderRefused(.outOfRange, "a boost lasts 60 to 14400 s")
        }
        guard minBatterySoc.isFinite, Contract.Command.boostBatterySoC.contains(minBatterySoc) else {
            throw OrderRefused(.outOfRange, "the house battery's floor is 0.05 to 1")
        }
        // Whole percents from 5 on: smaller numbers the box would read as a fraction.
        let percent = Int64((minBatterySoc * 100).rounded())
        return Self(
            .loadpointBoost,
            ["id": .text(id), "duration_s": .int(Int64(seconds)), "min_battery_soc_pct": .int(percent)],
            .flag(true))
    }

    /// Whole seconds of a timed hold, at most what a box allows and at least one.
    static func holdSeconds(for remaining: Duration) -> Int {
        let whole = (remaining / .seconds(1)).rounded()
        return Int(max(1, min(Double(Contract.Command.maxHoldSeconds), whole)))
    }
}

// MARK: - The answer

extension OrderDraft {
    /// What the box's result means for whoever asked. `applied` is checked by value.
    func outcome(of result: CommandResultMessage) -> BoxOutcome {
        let observed = result.observed?.value
        switch result.state {
        case .applied:
            guard let observed else { return .applied(nil) }
            return holds(observed) ? .applied(value(observed)) : .overtaken(value(observed))
        case .superseded: return .overtaken(observed.flatMap(value))
        case .expired: return .expired
        case .rejected where result.refusal?.code == Contract.ErrorCode.commandExpired.rawValue:
            return .expired
        case .rejected:
            return .refused(
                result.refusal.map(RefusalTable.reason)
                    ?? BoxRefusalReason(kind: .unavailable, detail: "the box gave no reason"))
        // A word of a later box: it has the command, and we cannot tell.
        case .unconfirmed, nil: return .unconfirmed
        }
    }

    private func holds(_ observed: Double) -> Bool {
        switch expectation {
        case .soc(let soc): abs(observed - soc) <= Contract.Command.socTolerance
        case .held(let powerW, let stepsW): Self.isHeld(observed, asked: powerW, stepsW: stepsW)
        case .paused, .released: observed == 0
        case .flag(let on): observed == (on ? 1 : 0)
        case .mode(let index, _): observed == Double(index)
        }
    }

    /// Whether that power is the one asked for, or what the charger makes of it.
    static func isHeld(_ observedW: Double, asked: Double, stepsW: [Double]) -> Bool {
        guard observedW > 0 else { return false }
        return abs(observedW - asked) <= 1 || observedW == stepsW.last { $0 <= asked }
    }

    private func value(_ observed: Double) -> BoxOutcome.BoxValue? {
        switch expectation {
        case .soc: return .number(observed)
        case .held, .paused: return observed == 0 ? .text("paused") : .number(observed)
        case .released: return observed == 0 ? .text("plan") : .number(observed)
        case .flag: return .flag(observed != 0)
        case .mode(_, let keys):
            guard let index = Int(exactly: observed), keys.indices.contains(index) else { return nil }
            return .text(keys[index])
        }
    }
}
