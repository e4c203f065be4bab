import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText

/// What the box's HTTP handlers answer.
extension SimulatedBox {
    func document(for call: APICall, role: BoxRole) -> HTTPAnswer {
        _ = observe()
        if let status = script.httpStatus { return .error(status, "not available") }
        let parts = call.path.split(separator: "/").map(String.init)
        if parts.count == 4, parts[1] == "loadpoints" {
            return loadpointDocument(call, id: parts[2], resource: parts[3])
        }
        let query = Dictionary(call.query.map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
        switch call.path {
        case "/api/status": return HTTPAnswer(status: 200, document: statusDocument())
        case "/api/mode":
            return HTTPAnswer(status: 200, document: ["grid_target_w": 0, "mode": .string(house.mode)])
        case "/api/modes": return HTTPAnswer(status: 200, document: modesDocument())
        case "/api/drivers": return HTTPAnswer(status: 200, document: driversDocument())
        case "/api/loadpoints": return HTTPAnswer(status: 200, document: loadpointsDocument())
        case "/api/mpc/plan": return HTTPAnswer(status: 200, document: planDocument())
        case "/api/mpc/replan":
            house.now { $0.replan("manual") }
            return HTTPAnswer(status: 200, document: ["ok": true])
        case "/api/prices": return HTTPAnswer(status: 200, document: pricesDocument(query))
        case "/api/energy/daily": return HTTPAnswer(status: 200, document: dailyDocument(query))
        case "/api/energy/history": return historyDocument(query)
        case "/api/app-link/devices":
            guard role == .owner else {
                return .error(403, "only this home's owner can see or change who has access")
            }
            return HTTPAnswer(status: 200, document: devicesDocument())
        default: return .error(404, "not found")
        }
    }

    /// A date as Go writes it.
    static func rfc3339(_ date: Date?) -> String {
        guard let date else { return "0001-01-01T00:00:00Z" }
        let second = Int((date.timeIntervalSince1970).rounded(.down))
        let clock = (second % 86_400 + 86_400) % 86_400
        let two = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
        let day = Zone.utc.day(of: date).iso
        return "\(day)T\(two(clock / 3_600)):\(two(clock / 60 % 60)):\(two(clock % 60))Z"
    }

    static func ms(_ date: Date) -> JSONValue { .int(wallMs(date)) }

    private func modesDocument() -> JSONValue {
        [
            "modes": .array(
                modes.map { mode in
                    [
                        "key": .string(mode.key), "label": .string(mode.label),
                        "tooltip": .string(mode.tooltip), "tier": .string(mode.tier),
                    ]
                })
        ]
    }

    /// The kind of number each driver measures is the only hint at what it is.
    private func statusDocument() -> JSONValue {
        let now = observe()
        let reading = board.reading(uptimeMs: now.uptimeMs)
        var drivers: [String: JSONValue] = [:]
        for name in board.names where board.lastOkMs(of: name) != nil {
            let state = board.state(of: name, uptimeMs: now.uptimeMs)
            var row: [String: JSONValue] = [
                "status": .string(state == "live" ? "ok" : state == "down" ? "offline" : "degraded"),
                "consecutive_errors": state == "live" ? 0 : 3,
                "tick_count": .int(Int64(board.ticks(of: name))),
            ]
            let power = JSONValue.double(board.value(of: name))
            switch board.duty(of: name) {
            case .meter: row["meter_w"] = power
            case .solar, .extra: row["pv_w"] = power
            case .battery:
                row["bat_w"] = power
                row["bat_soc"] = .double(reading.batterySoc ?? 0)
            case .charger(let id):
                let charger = house.now { model in model.charger(id).map { model.chargers[$0] } }
                row["ev_w"] = power
                row["ev_charging"] = .bool(board.value(of: name) > 100)
                row["ev_connected"] = .bool(charger?.pluggedIn ?? false)
                row["ev_max_a"] = 0
                row["ev_phases"] = .int(Int64(charger?.settings.phases ?? 3))
                row["ev_session_wh"] = .double(charger?.sessionWh ?? 0)
            case nil: break
            }
            drivers[name] = .object(row)
        }
        let phase = reading.gridW / 3
        var status: [String: JSONValue] = [
            "version": .string(build), "mode": .string(house.mode), "grid_w": .double(reading.gridW),
            "pv_w": .double(reading.pvW), "bat_w": .double(reading.batteryW),
            "bat_soc": .double(reading.batterySoc ?? 0), "load_w": .double(reading.loadW),
            "ev_w": .double(reading.evW ?? 0), "v2x_w": 0, "grid_target_w": 0, "peak_limit_w": 5_000,
            "peak_import_ceiling_w": 0, "ev_charging_w": 0, "battery_covers_ev": false,
            "ev_credentials_saved": false, "plan_stale": false, "troubleshooting_mode": false,
            "dispatch": [], "drivers": .object(drivers),
            "fuse": ["max_amps": 25, "phases": 3, "voltage": 230],
            "phase_powers": .array(Array(repeating: .double(phase), count: 3)),
            "phase_amps": .array(Array(repeating: .double(phase / 230), count: 3)),
            "slot_delivery_stats": [
                "over_delivery_count": 0, "under_delivery_count": 0, "sign_mismatch_count": 0,
            ],
            "v2x_policy": [
                "drivers": [:],
                "policy": ["enabled": false, "export_allowed": false, "grid_charging_allowed": false],
            ],
        ]
        let zone = house.settings.zone
        let forecast = house.now { model in
            (
                load: model.load.forecastW(minuteOfDay: zone.minuteOfDay(of: model.at)),
                pv: -model.sun.forecastW(at: model.at)
            )
        }
        status["load_w_predicted"] = .double(forecast.load)
        status["pv_w_predicted"] = .double(forecast.pv)
        if let energy = energyDocument() { status["energy"] = energy }
        return .object(status)
    }

    private func driversDocument() -> JSONValue {
        let now = observe()
        var rows: [String: JSONValue] = [:]
        for name in board.names {
            let state = board.state(of: name, uptimeMs: now.uptimeMs)
            let last = board.lastOkMs(of: name).map {
                house.clock.now.addingTimeInterval(Double($0 - now.uptimeMs) / 1_000)
            }
            rows[name] = [
                "Name": .string(name), "Status": state == "live" ? 0 : state == "down" ? 2 : 1,
                "LastSuccess": .string(Self.rfc3339(last)), "ConsecutiveErrors": state == "live" ? 0 : 3,
                "LastError": .string(state == "live" ? "" : "no answer"),
                "TickCount": .int(Int64(board.ticks(of: name))), "WatchdogTimeoutOverride": 0,
                "DeviceFault": false, "DeviceFaultReason": "",
            ]
        }
        return .object(rows)
    }

    private func devicesDocument() -> JSONValue {
        let owners = enrolment.devices.values.count { $0.role == .owner }
        let rows = enrolment.devices.sorted { $0.value.addedAt > $1.value.addedAt }.map { key, device in
            var row: [String: JSONValue] = [
                "id": .string(BoxNames.deviceID(clientKey: key)), "added_at_ms": Self.ms(device.addedAt),
                "last_seen_ms": Self.ms(device.lastSeen), "role": .string(device.role.rawValue),
            ]
            if device.role == .owner, owners == 1 { row["last_owner"] = true }
            return JSONValue.object(row)
        }
        return ["devices": .array(rows)]
    }
}
