import BoxLink
import EnergyModel
import FoundationEssentials
public import JSONText

/// How it really is at the box, for whoever plays or tests: nothing of this goes over the wire.
extension SimulatedBox {
    /// The truth as one JSON document: cars, mode, sources, the ledger's energy by flow, what was
    /// commanded and asked.
    ///
    /// Watts, watt-hours, shares from 0 to 1, times on the household's clock.
    public func truth() -> JSONValue {
        let seen = house.now {
            (
                at: $0.at, soc: $0.batterySoc, mode: $0.mode, chargers: $0.chargers, energy: $0.ledger.total
            )
        }
        _ = observe()
        return [
            "at": time(seen.at), "zone": .string(house.settings.zone.name),
            "vintage": .string("\(vintage)"), "build": .string(build), "uptime_ms": .int(uptimeMs),
            "mode": .string(seen.mode), "modes": .array(modeKeys.map(JSONValue.string)),
            "control_rev": .int(controlRev), "sessions": .int(Int64(sessions.count)),
            "handshakes": .int(Int64(log.handshakes)),
            "clients": .array(
                clients.map { client in
                    [
                        "id": .string(BoxNames.deviceID(clientKey: client.key)),
                        "role": .string(client.role.rawValue),
                    ]
                }),
            "battery_soc": seen.soc.map(JSONValue.double) ?? nil,
            "energy_wh": .object(
                Dictionary(
                    seen.energy.flows.map { ($0.name, .double($0.wh)) }, uniquingKeysWith: { _, last in last }
                )),
            "sources": .object(sourceStates.mapValues(JSONValue.string)),
            "cars": .array(seen.chargers.map(car)), "commands": .array(log.commands.map(command)),
            "executed": .array(log.executed.map(JSONValue.string)),
            "requests": .object(log.counts.mapValues { .int(Int64($0)) }),
        ]
    }

    private func time(_ date: Date?) -> JSONValue {
        date.map { .string(house.settings.zone.iso8601($0)) } ?? nil
    }

    private func car(_ charger: Charger) -> JSONValue {
        let report =
            switch charger.report {
            case .none: "none"
            case .live: "live"
            case .old: "old"
            case .flagged: "flagged"
            }
        let hold: JSONValue? = charger.hold.map { hold in
            [
                "power_w": .double(hold.powerW), "started_at": time(hold.startedAt),
                "expires_at": time(hold.expiresAt),
                "phase_mode": hold.phaseMode.map(JSONValue.string) ?? nil,
            ]
        }
        let boost: JSONValue? = charger.boost.map { boost in
            [
                "started_at": time(boost.startedAt), "expires_at": time(boost.expiresAt),
                "min_battery_soc": .double(boost.minBatterySoc),
            ]
        }
        let target: JSONValue? = charger.target.map { ["soc": .double($0.soc), "at": time($0.time)] }
        let schedule: JSONValue = charger.schedule.hasGoal ? Self.truth(charger.schedule) : nil
        return [
            "id": .string(charger.settings.id), "plugged": .bool(charger.pluggedIn),
            "soc": .double(charger.workingSoc), "truth": .double(charger.truth),
            "anchor": charger.anchor == .confirmed ? "confirmed" : "assumed", "report": .string(report),
            "power_w": .double(charger.powerW), "session_wh": .double(charger.sessionWh),
            "surplus_only": .bool(charger.surplusOnly), "hold": hold ?? nil, "boost": boost ?? nil,
            "target": target ?? nil, "schedule": schedule,
        ]
    }

    private static func truth(_ schedule: Charger.Schedule) -> JSONValue {
        [
            "soc": .double(schedule.soc),
            "time_of_day_min": schedule.localMinute.map { .int(Int64($0)) } ?? nil,
            "time_of_day_min_utc": .int(Int64(schedule.utcMinute)), "recurring": .bool(schedule.recurring),
            "days": .int(Int64(schedule.days)), "finish_at_vehicle_limit": .bool(schedule.finishAtLimit),
            "surplus_unlock_bat_soc": .double(schedule.unlockBatterySoc),
        ]
    }

    private func command(_ command: BoxLog.Command) -> JSONValue {
        [
            "id": .string(command.id), "op": .string(command.op), "args": Self.json(command.args),
            "outcome": .string(command.outcome), "refusal": command.refusal.map(JSONValue.string) ?? nil,
            "at": time(command.at), "uptime_ms": .int(command.uptimeMs),
        ]
    }

    /// Bytes, which no command has, become their number.
    private static func json(_ value: CBORValue) -> JSONValue {
        switch value {
        case .int(let number): .int(number)
        case .unsigned(let number): .double(Double(number))
        case .bytes(let bytes): .int(Int64(bytes.count))
        case .text(let text): .string(text)
        case .array(let items): .array(items.map(json))
        case .map(let map):
            .object(
                Dictionary(
                    map.members.map { ($0.key, json($0.value)) }, uniquingKeysWith: { _, last in last }))
        case .bool(let flag): .bool(flag)
        case .null: nil
        case .float(let number): .double(number)
        }
    }
}
