import BoxLink
import FoundationEssentials

/// The arguments of each command, and what it does to the house (FTW wire §7.6).
extension SimulatedBox {
    /// What was read back after acting.
    struct Outcome {
        var value: Double
        var applied: Bool
    }

    func checkArguments(_ order: Order) throws(Refusal) {
        if order.op == "site.mode.set" {
            let keys = modes.map(\.key)
            guard let key = order.args["mode"]?.textValue, keys.contains(key) else {
                throw bad(order, "mode")
            }
            return
        }
        guard board.chargerCount > 0 else {
            throw Refusal("E_UNAVAILABLE", ["subsystem": "loadpoints"])
        }
        guard let id = order.args["id"]?.textValue, house.now({ $0.charger(id) }) != nil else {
            throw bad(order, "id")
        }
        switch order.op {
        case "loadpoint.hold": try checkHold(order)
        case "loadpoint.boost": _ = try lease(order)
        case "loadpoint.soc.set":
            guard let soc = order.args["soc"]?.doubleValue, (0...1).contains(soc) else {
                throw bad(order, "soc")
            }
        default:
            guard order.args["surplus_only"]?.boolValue != nil else { throw bad(order, "surplus_only") }
        }
    }

    private func bad(_ order: Order, _ name: String) -> Refusal {
        Refusal(
            "E_UNKNOWN_OP",
            ["op": .text(order.op), "arg": .text(name), "value": order.args[name] ?? .null])
    }

    private func checkHold(_ order: Order) throws(Refusal) {
        let args = order.args
        guard args["clear"]?.boolValue != true else { return }
        // A base box takes a value of the wrong type for a missing one.
        let isStrict = vintage.hasCarLevels
        func check(_ name: String, _ isGood: (Double) -> Bool) throws(Refusal) {
            guard let value = args[name], !value.isNull else { return }
            guard let number = value.doubleValue else {
                if isStrict { throw bad(order, name) } else { return }
            }
            if !isGood(number) { throw bad(order, name) }
        }
        let isWhole = { (value: Double) in value >= 0 && value == value.rounded() }
        try check("power_w") { $0 >= 0 }
        try check("hold_s") { isWhole($0) && $0 <= Double(Contract.Command.maxHoldSeconds) }
        if let value = args["phase_mode"], !value.isNull {
            if let text = value.textValue {
                if !["", "auto", "1p", "3p"].contains(text) { throw bad(order, "phase_mode") }
            } else if isStrict {
                throw bad(order, "phase_mode")
            }
        }
        guard isStrict else { return }
        if let value = args["clear"], !value.isNull, value.boolValue == nil { throw bad(order, "clear") }
        for name in ["phase_split_w", "voltage", "max_amps_per_phase"] { try check(name) { $0 >= 0 } }
        try check("min_phase_hold_s", isWhole)
        try check("site_phases") { [0, 1, 3].contains($0) }
    }

    // MARK: Boost

    private enum Lease {
        case cancel
        case run(Charger.Boost)
    }

    private func lease(_ order: Order) throws(Refusal) -> Lease {
        let args = order.args
        if args["cancel"]?.boolValue == true { return .cancel }
        let refused = Refusal("E_UNKNOWN_OP", ["op": .text(order.op), "arg": "lease", "value": nil])
        let now = house.clock.now
        let duration = args["duration_s"]?.doubleValue
        let expiry = args["expires_at_ms"]?.doubleValue
        guard (duration == nil) != (expiry == nil), let given = duration ?? expiry, given > 0,
            given == given.rounded()
        else { throw bad(order, "duration_s") }
        let end =
            duration.map { now.addingTimeInterval($0) } ?? Date(timeIntervalSince1970: given / 1_000)
        guard (60...14_400).contains(end.timeIntervalSince(now)) else { throw refused }
        guard let reserve = args["min_battery_soc_pct"]?.doubleValue.map(Self.fold),
            (0.05...1).contains(reserve)
        else { throw refused }
        var boost = Charger.Boost(startedAt: now, expiresAt: end, minBatterySoc: reserve)
        if let goal = args["ev_target_soc_pct"]?.doubleValue {
            guard (0...100).contains(goal) else { throw refused }
            boost.targetSoc = goal > 0 ? Self.fold(goal) : nil
        }
        if let departure = args["departure_at_ms"]?.doubleValue {
            let instant = Date(timeIntervalSince1970: departure / 1_000)
            guard departure == departure.rounded(), instant > now, instant <= end else { throw refused }
            boost.departure = instant
        }
        return .run(boost)
    }

    /// A share that may have come as percent: at most 1 is a fraction, up to 2 is all.
    static func fold(_ value: Double) -> Double {
        guard value.isFinite, value > 0 else { return 0 }
        return value <= 1 ? value : value < 2 ? 1 : min(1, value / 100)
    }

    // MARK: Acting

    func act(on order: Order) throws(Refusal) -> Outcome {
        let args = order.args
        if order.op == "site.mode.set" { return setMode(args["mode"]?.textValue ?? "") }
        guard let id = args["id"]?.textValue else { throw bad(order, "id") }
        switch order.op {
        case "loadpoint.hold": return hold(id, args)
        case "loadpoint.boost": return try boost(id, order)
        case "loadpoint.soc.set":
            let soc = args["soc"]?.doubleValue ?? 0
            guard let outcome = setLevel(id, soc) else {
                throw Refusal("E_UNAVAILABLE", ["op": .text(order.op), "reason": "unplugged"])
            }
            return outcome
        default:
            let isOn = args["surplus_only"]?.boolValue ?? false
            house.now { model in
                guard let index = model.charger(id) else { return }
                model.chargers[index].surplusOnly = isOn
                model.replan(isOn ? "surplus_only_enabled" : "surplus_only_disabled")
            }
            return Outcome(value: isOn ? 1 : 0, applied: true)
        }
    }

    private func setMode(_ key: String) -> Outcome {
        let now = house.now { model in
            model.mode = key
            model.replan("mode_changed")
            return model.mode
        }
        _ = observe()
        let index = modes.firstIndex { $0.key == now } ?? -1
        return Outcome(value: Double(index), applied: now == key)
    }

    private func hold(_ id: String, _ args: CBORMap) -> Outcome {
        let isCleared = args["clear"]?.boolValue == true
        let power = args["power_w"]?.doubleValue ?? 0
        let seconds = args["hold_s"]?.doubleValue ?? 0
        let phaseMode = args["phase_mode"]?.textValue
        let held = house.now { model -> Double in
            guard let index = model.charger(id) else { return 0 }
            model.chargers[index].hold =
                isCleared
                ? nil
                : Charger.Hold(
                    powerW: power, startedAt: model.at,
                    expiresAt: seconds > 0 ? model.at.addingTimeInterval(seconds) : nil,
                    phaseMode: phaseMode)
            return model.chargers[index].hold?.powerW ?? 0
        }
        return Outcome(value: held, applied: true)
    }

    private func setLevel(_ id: String, _ soc: Double) -> Outcome? {
        house.now { model -> Outcome? in
            guard let index = model.charger(id), model.chargers[index].pluggedIn else { return nil }
            model.chargers[index].confirm(soc: soc)
            if model.chargers[index].report != .live { model.chargers[index].truth = soc }
            model.replan("loadpoint_soc_corrected")
            return Outcome(value: soc, applied: true)
        }
    }

    private func boost(_ id: String, _ order: Order) throws(Refusal) -> Outcome {
        let lease = try lease(order)
        let running = house.now { model -> Bool? in
            guard let index = model.charger(id) else { return nil }
            switch lease {
            case .cancel:
                model.chargers[index].stopBoost("cancelled", at: model.at)
                return false
            case .run(let boost):
                guard model.chargers[index].pluggedIn, model.chargers[index].hold == nil,
                    !model.chargers[index].surplusOnly, let soc = model.batterySoc,
                    soc > boost.minBatterySoc
                else { return nil }
                model.chargers[index].boost = boost
                model.chargers[index].boostStopped = nil
                return true
            }
        }
        guard let running else { throw Refusal("E_UNAVAILABLE", ["op": .text(order.op)]) }
        return Outcome(value: running ? 1 : 0, applied: true)
    }
}
