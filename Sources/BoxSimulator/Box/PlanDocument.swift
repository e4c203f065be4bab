import FoundationEssentials
import JSONText

/// `GET /api/mpc/plan` (box-api §F.1).
extension SimulatedBox {
    func planDocument() -> JSONValue {
        let seen = house.now { model in
            (
                plan: model.plan, isWithheld: model.isPlanWithheld, isReplanning: model.isReplanning,
                storage: model.settings.battery?.capacityWh
            )
        }
        let isNew = vintage.hasCarLevels
        var meta: [String: JSONValue] = [
            "last_replan_ms": seen.plan.map { Self.ms($0.generatedAt) } ?? .int(-62_135_596_800_000),
            "last_replan_reason": .string(seen.plan?.trigger ?? ""),
        ]
        if isNew {
            meta["replanning"] = .bool(seen.isReplanning)
            meta["outdated"] = .bool(seen.isWithheld)
        }
        var plan = JSONValue.null
        if let known = seen.plan, !seen.isWithheld {
            plan = document(of: known, storageWh: seen.storage)
        }
        return ["enabled": true, "meta": .object(meta), "plan": plan]
    }

    private static let strategies = [
        "planner_passive_arbitrage": "passive_arbitrage", "planner_arbitrage": "arbitrage",
        "planner_cheap": "cheap_charge",
    ]

    private func document(of plan: HousePlan, storageWh: Double?) -> JSONValue {
        let cost = plan.slots.map(\.costMinor).reduce(0, +)
        let mean = plan.slots.map(\.price.totalMinor).reduce(0, +) / Double(max(1, plan.slots.count))
        let netKWh = plan.slots.map { $0.gridW / 4_000 }.reduce(0, +)
        var body: [String: JSONValue] = [
            "decision_id": .string(plan.id), "generated_at_ms": Self.ms(plan.generatedAt),
            "mode": .string(Self.strategies[plan.mode] ?? "self_consumption"),
            "horizon_slots": .int(Int64(plan.slots.count)), "capacity_wh": .double(storageWh ?? 0),
            "initial_soc": .double(plan.initialSoc), "total_cost_ore": .double(cost),
            "pv_nameplate_w": .double(house.settings.pvPeakW), "load_max_w": 17_250,
            "actions": .array(
                plan.slots.enumerated().map { action($1, isFirst: $0 == 0, storageWh: storageWh) }),
            "baselines": [
                "no_battery_ore": .double(cost * 1.3), "self_consumption_ore": .double(cost * 1.1),
                "flat_avg_ore": .double(netKWh * mean), "avg_price_ore": .double(mean),
                "net_kwh": .double(netKWh),
            ],
            "solver": [
                "engine": "highspy", "backend": "highs", "status": "optimal", "formulation": "convex",
                "objective_ore": .double(cost), "solve_ms": 39.5, "prepare_ms": 1.9, "build_ms": 3.1,
                "solver_ms": 9.7, "scenario_count": 1, "scenario_policy": "shared",
                "policy_version": "shared-v1", "non_anticipative_slots": .int(Int64(plan.slots.count)),
                "cvar_weight": 0.15, "cvar_alpha": 0.9, "model_variables": 876, "model_constraints": 782,
            ],
        ]
        if vintage.hasCarLevels {
            // What is complete has no entry: nothing missing and nothing known look alike.
            let missing = plan.shortfallWh.filter { $0.value > 0 }
            if !missing.isEmpty {
                body["loadpoint_shortfall_wh"] = .object(missing.mapValues(JSONValue.double))
            }
        }
        return .object(body)
    }

    private func action(_ slot: HousePlan.Slot, isFirst: Bool, storageWh: Double?) -> JSONValue {
        let reason =
            slot.batteryW >= 100
            ? "charge from cheap grid"
            : slot.batteryW <= -100 ? "discharge — price above horizon mean" : "idle — import to cover load"
        var row: [String: JSONValue] = [
            "slot_start_ms": Self.ms(slot.start), "slot_len_min": 15,
            "price_ore": .double(slot.price.totalMinor), "spot_ore": .double(slot.price.spotMinor),
            "confidence": .double(slot.published ? 1 : 0.6), "pv_w": .double(slot.pvW),
            "load_w": .double(slot.loadW), "battery_w": .double(slot.batteryW),
            "grid_w": .double(slot.gridW), "soc": .double(slot.batterySoc),
            "cost_ore": .double(slot.costMinor), "reason": .string(reason),
            "ems_mode": .string(slot.batteryW >= 100 ? "charge" : "self_consumption"),
        ]
        if let storageWh {
            row["storage_power_w"] = ["house-battery": .double(slot.batteryW)]
            row["storage_energy_wh"] = ["house-battery": .double(slot.batterySoc * storageWh)]
        }
        if vintage.hasCarLevels, isFirst, let start = slot.executionStart {
            row["execution_start_ms"] = Self.ms(start)
        }
        if vintage.isLate {
            row["forecast_pv_w"] = .double(slot.pvW)
            row["forecast_load_w"] = .double(slot.loadW)
        }
        if !slot.carSoc.isEmpty {
            let power = slot.carW.filter { $0.value > 0 }
            if !power.isEmpty { row["loadpoint_power_w"] = .object(power.mapValues(JSONValue.double)) }
            row["loadpoint_soc_by_id"] = .object(slot.carSoc.mapValues(JSONValue.double))
            if let first = slot.carSoc.keys.min() {
                if let watts = power[first] { row["loadpoint_w"] = .double(watts) }
                row["loadpoint_soc"] = .double(slot.carSoc[first] ?? 0)
            }
        }
        return .object(row)
    }
}
