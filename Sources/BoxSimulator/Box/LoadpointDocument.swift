import FoundationEssentials
import JSONText

/// `GET /api/loadpoints` and what hangs below it (box-api §A, E).
extension SimulatedBox {
    func loadpointsDocument() -> JSONValue {
        let seen = house.now { model -> LoadpointView in
            model.refreshTargets()
            return LoadpointView(
                chargers: model.chargers, plan: model.isPlanWithheld ? nil : model.plan,
                isReplanning: model.isReplanning, isWithheld: model.isPlanWithheld, now: model.at,
                pricesEnd: model.prices.publishedEnd(at: model.at))
        }
        let shown = seen.chargers.filter { charger in
            board.duty(of: charger.settings.driver) == .charger(charger.settings.id)
        }
        let rows = shown.map { JSONValue.object(loadpoint($0, seen)) }
        return ["enabled": .bool(!shown.isEmpty), "loadpoints": .array(rows)]
    }

    struct LoadpointView: Sendable {
        var chargers: [Charger]
        var plan: HousePlan?
        var isReplanning: Bool
        var isWithheld: Bool
        var now: Date
        var pricesEnd: Date
    }

    private func loadpoint(_ charger: Charger, _ view: LoadpointView) -> [String: JSONValue] {
        let settings = charger.settings
        // An unreachable charger leaves its last words standing.
        let isHeard = board.state(of: settings.driver, uptimeMs: uptimeMs) == "live"
        var row: [String: JSONValue] = [
            "id": .string(settings.id), "driver_name": .string(settings.driver),
            "plugged_in": .bool(charger.pluggedIn), "current_soc": .double(charger.workingSoc),
            "current_power_w": .double(isHeard ? charger.powerW : board.value(of: settings.driver)),
            "delivered_wh_session": .double(charger.sessionWh),
            "target_soc": .double(charger.target?.soc ?? 0),
            "target_time": .string(Self.rfc3339(charger.target?.time)),
            "updated_at_ms": Self.ms(charger.updatedAt), "min_charge_w": .double(settings.minW),
            "max_charge_w": .double(settings.maxW), "phases": .int(Int64(settings.phases)),
            "voltage_v": .double(settings.voltage), "manual_active": .bool(charger.hold != nil),
            "battery_boost": boost(charger), "surplus_only": .bool(charger.surplusOnly),
            "schedule": schedule(charger.schedule),
        ]
        if script.usesOldSpelling { row["current_soc_pct"] = .double(charger.workingSoc * 100) }
        if let source = source(charger) { row["soc_source"] = .string(source) }
        if let hold = charger.hold, hold.powerW > 0 { row["manual_charge_w"] = .double(hold.powerW) }
        row.merge(carReport(charger, now: view.now)) { _, new in new }
        if vintage.hasCarLevels { row.merge(newer(charger, view, isHeard: isHeard)) { _, new in new } }
        if vintage.isLate {
            row["power_unavailable"] = .bool(!isHeard)
            row["finish_at_vehicle_limit"] = .bool(charger.schedule.finishAtLimit)
            row["goal_complete"] = false
            row["goal_retention"] = "session"
        }
        return row
    }

    /// The origin the box names; a base box calls an assumption an estimate too.
    private func source(_ charger: Charger) -> String? {
        guard charger.pluggedIn else { return nil }
        if isReportLive(charger) { return "vehicle" }
        if charger.anchor == .assumed, vintage.hasCarLevels { return "assumed" }
        return "inferred"
    }

    private func isReportLive(_ charger: Charger) -> Bool {
        if case .old(let at, _) = charger.report {
            return charger.pluggedIn && house.clock.now.timeIntervalSince(at) <= 300
        }
        return charger.isLive
    }

    /// What the car said. Old words stay on display only on late boxes.
    private func carReport(_ charger: Charger, now: Date) -> [String: JSONValue] {
        guard charger.pluggedIn else { return [:] }
        let said: (soc: Double, age: Double, isFlagged: Bool)
        switch charger.report {
        case .none: return [:]
        case .live: said = (charger.truth, 4, false)
        case .old(let at, let soc): said = (soc, max(0, now.timeIntervalSince(at)), false)
        case .flagged(let at, let soc): said = (soc, max(0, now.timeIntervalSince(at)), true)
        }
        let isOld = said.isFlagged || said.age > 300
        guard !isOld || vintage.isLate else { return [:] }
        let state =
            charger.powerW > 100
            ? "Charging" : charger.truth >= charger.carLimit ?? 1 ? "Complete" : "Stopped"
        var row: [String: JSONValue] = [
            "vehicle_driver": "family-car", "vehicle_charging_state": .string(state),
        ]
        // Zero and unknown look the same here: a car at 0 % has no such key.
        if said.soc > 0 { row["vehicle_soc"] = .double(said.soc) }
        if script.usesOldSpelling, said.soc > 0 { row["vehicle_soc_pct"] = .double(said.soc * 100) }
        if let limit = charger.carLimit { row["vehicle_charge_limit"] = .double(limit) }
        if vintage.isLate {
            row["vehicle_soc_age_s"] = .double(said.age)
            if isOld { row["vehicle_stale"] = true }
        }
        return row
    }

    private func newer(
        _ charger: Charger, _ view: LoadpointView, isHeard: Bool
    ) -> [String: JSONValue] {
        let settings = charger.settings
        let commanded = charger.powerW
        let reason =
            charger.hold != nil
            ? "manual_hold" : charger.surplusOnly ? "pv_surplus" : commanded > 0 ? "plan" : "no_plan_budget"
        var hardware: [String: JSONValue] = [
            "known": true, "available": .bool(isHeard), "updated_at_ms": Self.ms(charger.updatedAt),
            "limit_a": .double(settings.maxW / settings.voltage / Double(settings.phases)),
        ]
        if !isHeard { hardware["reason"] = "no answer" }
        let isConfirmed = charger.pluggedIn && charger.anchor == .confirmed
        var row: [String: JSONValue] = [
            "charger": .object(hardware), "vehicle_capacity_wh": .double(settings.carCapacityWh),
            "capacity_source": settings.capacityConfigured ? "configured" : "default",
            "soc_retention": isConfirmed ? "session" : "unavailable",
            "charging_declined": .bool(charger.declined), "manual": manual(charger),
            "manual_restore_unconfirmed": false, "manual_save_error": false, "commanded_known": true,
            "commanded_w": .double(commanded), "commanded_reason": .string(reason),
            "commanded_since_ms": Self.ms(charger.commandedSince),
            "plan_pending": .bool(view.isReplanning), "plan_outdated": .bool(view.isWithheld),
            "grid_deferred": .bool(isDeferred(charger, view)),
        ]
        if charger.pluggedIn, isReportLive(charger) { row["vehicle_name"] = .string(settings.carName) }
        if let plan = view.plan, !view.isReplanning {
            let windows = plan.windows(of: settings.id, from: view.now).prefix(32)
            if let next = windows.first {
                row["plan_next_start_ms"] = Self.ms(next.start)
                row["plan_next_end_ms"] = Self.ms(next.end)
                row["plan_next_wh"] = .double(next.wh)
                row["plan_total_wh"] = .double(windows.map(\.wh).reduce(0, +))
                row["plan_windows"] = .array(
                    windows.map { window in
                        [
                            "start_ms": Self.ms(window.start), "end_ms": Self.ms(window.end),
                            "wh": .double(window.wh),
                        ]
                    })
            }
        }
        return row
    }

    private func isDeferred(_ charger: Charger, _ view: LoadpointView) -> Bool {
        guard charger.pluggedIn, let target = charger.target else { return false }
        return target.time > view.pricesEnd && target.time.timeIntervalSince(view.now) > 3 * 3_600
    }

    private func manual(_ charger: Charger) -> JSONValue {
        guard let hold = charger.hold else { return ["active": false, "requested_w": 0, "requested_a": 0] }
        let perAmpere = charger.settings.voltage * Double(charger.settings.phases)
        let state =
            hold.powerW == 0
            ? "paused"
            : charger.powerW >= 100
                ? charger.powerW < hold.powerW - 1 ? "limited" : "charging" : "accepted"
        var row: [String: JSONValue] = [
            "active": true, "state": .string(state), "started_at_ms": Self.ms(hold.startedAt),
            "since_ms": Self.ms(hold.startedAt), "requested_w": .double(hold.powerW),
            "requested_a": .double(hold.powerW / perAmpere),
            "charger_limit_a": .double(charger.settings.maxW / perAmpere), "charger_limit_known": true,
            "charger_updated_at_ms": Self.ms(charger.updatedAt),
        ]
        if charger.powerW > 0 {
            row["commanded_w"] = .double(charger.powerW)
            row["commanded_a"] = .double(charger.powerW / perAmpere)
        }
        if state == "limited" { row["limit_reason"] = "charger_limit" }
        return .object(row)
    }

    private func boost(_ charger: Charger) -> JSONValue {
        if let boost = charger.boost {
            var row: [String: JSONValue] = [
                "state": "active", "active": true, "started_at_ms": Self.ms(boost.startedAt),
                "expires_at_ms": Self.ms(boost.expiresAt), "min_battery_soc": .double(boost.minBatterySoc),
            ]
            if let goal = boost.targetSoc { row["ev_target_soc"] = .double(goal) }
            if let departure = boost.departure { row["departure_at_ms"] = Self.ms(departure) }
            return .object(row)
        }
        guard let stopped = charger.boostStopped else { return ["state": "inactive", "active": false] }
        return [
            "state": "stopped", "active": false, "stop_reason": .string(stopped.reason),
            "stopped_at_ms": Self.ms(stopped.at),
        ]
    }

    private func schedule(_ schedule: Charger.Schedule) -> JSONValue {
        var row: [String: JSONValue] = [
            "soc": .double(schedule.soc), "time_of_day_min_utc": .int(Int64(schedule.utcMinute)),
            "recurring": .bool(schedule.recurring),
        ]
        if schedule.days != 0 { row["days"] = .int(Int64(schedule.days)) }
        if schedule.unlockBatterySoc > 0 {
            row["surplus_unlock_bat_soc"] = .double(schedule.unlockBatterySoc)
        }
        if vintage.isLate {
            if let minute = schedule.localMinute { row["time_of_day_min"] = .int(Int64(minute)) }
            row["finish_at_vehicle_limit"] = .bool(schedule.finishAtLimit)
        }
        return .object(row)
    }

    // MARK: Below one loadpoint

    func loadpointDocument(_ call: APICall, id: String, resource: String) -> HTTPAnswer {
        guard let charger = house.now({ model in model.charger(id).map { model.chargers[$0] } }) else {
            return .error(404, "loadpoint not found")
        }
        if resource == "schedule" {
            let body = call.method == "DELETE" ? nil : call.body
            if call.method == "PUT", body?.isEmpty ?? true { return .error(400, "empty body") }
            return saveSchedule(body, id: id)
        }
        guard let hold = charger.hold else {
            return HTTPAnswer(
                status: 200,
                document: vintage.hasCarLevels ? ["active": false, "power_w": 0] : ["active": false])
        }
        var row: [String: JSONValue] = ["active": true]
        if hold.powerW > 0 || vintage.hasCarLevels { row["power_w"] = .double(hold.powerW) }
        if let mode = hold.phaseMode, !mode.isEmpty { row["phase_mode"] = .string(mode) }
        if let end = hold.expiresAt { row["expires_at_ms"] = Self.ms(end) }
        if vintage.hasCarLevels { row["started_at_ms"] = Self.ms(hold.startedAt) }
        return HTTPAnswer(status: 200, document: .object(row))
    }

    /// Stores the whole schedule, or with `nil` or a JSON null clears it (box-api §E.2).
    private func saveSchedule(_ body: [UInt8]?, id: String) -> HTTPAnswer {
        var wanted = Charger.Schedule()
        if let body {
            guard let document = try? JSONValue(parsing: body) else {
                return .error(400, "invalid character in JSON text")
            }
            switch read(document) {
            case .success(let schedule): wanted = schedule
            case .failure(let reason): return .error(400, reason.text)
            }
        }
        let keepsTarget = !vintage.hasCarLevels
        let schedule = wanted
        house.now { model in
            guard let index = model.charger(id) else { return }
            model.chargers[index].schedule = schedule
            if schedule.hasGoal {
                model.setTarget(index)
            } else if !keepsTarget {
                model.chargers[index].target = nil
            }
            model.replan("loadpoint_schedule_changed")
        }
        return HTTPAnswer(status: 200, document: ["ok": true])
    }

    private struct BadSchedule: Error { let text: String }

    private func read(_ document: JSONValue) -> Result<Charger.Schedule, BadSchedule> {
        func wrong(_ field: String) -> Result<Charger.Schedule, BadSchedule> {
            .failure(
                BadSchedule(text: "invalid schedule: json: cannot unmarshal into Go struct field .\(field)"))
        }
        var schedule = Charger.Schedule()
        if document.isNull { return .success(schedule) }
        guard let members = document.objectValue else { return wrong("") }
        for (name, value) in members where !value.isNull {
            switch name {
            case "soc", "soc_pct":
                guard let number = value.doubleValue else { return wrong(name) }
                // The old spelling counts only where the new one says nothing.
                let level = Self.fold(number)
                if name == "soc" ? level > 0 : schedule.soc == 0 { schedule.soc = level }
            case "time_of_day_min", "time_of_day_min_utc":
                guard case .int(let minute) = value else { return wrong(name) }
                guard (0..<1_440).contains(minute) else {
                    return .failure(BadSchedule(text: "\(name) must be 0 to 1439"))
                }
                if name == "time_of_day_min_utc" {
                    schedule.utcMinute = Int(minute)
                } else if vintage.isLate {
                    schedule.localMinute = Int(minute)
                }
            case "recurring":
                guard let flag = value.boolValue else { return wrong(name) }
                schedule.recurring = flag
            case "days":
                guard case .int(let days) = value, (0...255).contains(days) else { return wrong(name) }
                guard days < 128 else { return .failure(BadSchedule(text: "days must be a 7-bit mask")) }
                schedule.days = Int(days)
            case "surplus_unlock_bat_soc":
                guard let number = value.doubleValue else { return wrong(name) }
                schedule.unlockBatterySoc = Self.fold(number)
            case "finish_at_vehicle_limit":
                guard let flag = value.boolValue else { return wrong(name) }
                schedule.finishAtLimit = vintage.isLate && flag
            default: break
            }
        }
        return .success(schedule)
    }
}
