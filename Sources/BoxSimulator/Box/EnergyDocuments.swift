import EnergyModel
import FoundationEssentials
import JSONText

/// Prices and energy as the box's HTTP handlers give them (box-api §I, J).
extension SimulatedBox {
    func pricesDocument(_ query: [String: String]) -> JSONValue {
        guard vintage.hasPrices, !script.hasNoPrices else { return ["items": [], "enabled": false] }
        let now = house.clock.now
        let from = query["since_ms"].flatMap(Self.date) ?? now.addingTimeInterval(-3_600)
        let to = query["until_ms"].flatMap(Self.date) ?? now.addingTimeInterval(48 * 3_600)
        // Rows are chosen by their start, so the quarter under way can be missing.
        let rows = house.now { $0.prices.slots(from: from, to: to, now: now) }.filter { $0.start >= from }
        let zone = house.settings.priceZone
        return [
            "enabled": true, "zone": .string(zone), "currency": .string(house.settings.currency),
            "items": .array(
                rows.map { slot in
                    [
                        "zone": .string(zone), "slot_ts_ms": Self.ms(slot.start), "slot_len_min": 15,
                        "spot_ore_kwh": .double(slot.spotMinor), "total_ore_kwh": .double(slot.totalMinor),
                        "source": "nordpool", "fetched_at_ms": Self.ms(now),
                    ]
                }),
        ]
    }

    private static func date(_ text: String) -> Date? {
        Int64(text).map { Date(timeIntervalSince1970: Double($0) / 1_000) }
    }

    private static func daily(_ energy: EnergyLedger.Energy) -> [String: JSONValue] {
        [
            "import_wh": .double(energy.importWh), "export_wh": .double(energy.exportWh),
            "pv_wh": .double(energy.pvWh), "bat_charged_wh": .double(energy.chargedWh),
            "bat_discharged_wh": .double(energy.dischargedWh), "load_wh": .double(energy.loadWh),
        ]
    }

    func dailyDocument(_ query: [String: String]) -> JSONValue {
        let wanted = query["days"].flatMap { Int($0) } ?? 7
        let count = min(90, max(1, wanted))
        let zone = house.settings.zone
        let days = house.now { model in
            let today = zone.day(of: model.at)
            return (0..<count).reversed().map { back -> (LocalDay, EnergyLedger.Energy) in
                let day = today.adding(days: -back)
                return (day, model.ledger.energy(in: zone.bounds(of: day)) ?? EnergyLedger.Energy())
            }
        }
        return [
            "tz": .string(settings.zoneName ?? zone.name),
            "days": .array(
                days.map { day, energy in
                    var row = Self.daily(energy)
                    row["day"] = .string(day.iso)
                    return .object(row)
                }),
        ]
    }

    /// The part of the status document that tells of energy; `nil` before anything flowed today.
    func energyDocument() -> JSONValue? {
        let zone = house.settings.zone
        return house.now { model -> JSONValue? in
            let today = zone.bounds(of: zone.day(of: model.at))
            guard let energy = model.ledger.energy(in: today) else { return nil }
            let start = (model.at.timeIntervalSince1970 / 900).rounded(.down) * 900
            let quarter =
                Date(timeIntervalSince1970: start)..<Date(timeIntervalSince1970: start + 900)
            let slot = model.ledger.energy(in: quarter) ?? EnergyLedger.Energy()
            return [
                "today": .object(Self.daily(energy)),
                "current_slot": [
                    "slot_start_ms": Self.ms(quarter.lowerBound), "slot_end_ms": Self.ms(quarter.upperBound),
                    "elapsed_s": .double(model.at.timeIntervalSince(quarter.lowerBound)),
                    "import_wh": .double(slot.importWh), "export_wh": .double(slot.exportWh),
                    "net_wh": .double(slot.importWh - slot.exportWh),
                ],
            ]
        }
    }

    /// The ledger: buckets counted from `since`, each flow on its own.
    func historyDocument(_ query: [String: String]) -> HTTPAnswer {
        let now = house.clock.now
        let until = query["until"].flatMap(Self.date) ?? now
        let since = query["since"].flatMap(Self.date) ?? until.addingTimeInterval(-86_400)
        let sizes = ["5m": 300.0, "15m": 900, "1h": 3_600, "1d": 86_400]
        guard let size = sizes[query["bucket"] ?? "15m"], since < until,
            until.timeIntervalSince(since) / size <= 2_000
        else { return .error(400, "invalid range or bucket") }
        let asset = query["asset_id"] ?? ""
        let limit = min(5_000, max(1, query["limit"].flatMap { Int($0) } ?? 2_000))
        let points = house.now { model -> [JSONValue] in
            stride(from: since.timeIntervalSince1970, to: until.timeIntervalSince1970, by: size)
                .prefix(limit).flatMap { second -> [JSONValue] in
                    let start = Date(timeIntervalSince1970: second)
                    let end = min(until, now, start.addingTimeInterval(size))
                    guard start < end, let energy = model.ledger.energy(in: start..<end) else { return [] }
                    return energy.flows.filter { asset.isEmpty || asset == "system" || $0.asset == asset }.map
                    {
                        flow in
                        [
                            "schema_version": 1, "flow": .string(flow.name),
                            "asset_id": .string(asset.isEmpty ? "system" : asset),
                            "bucket_start_ms": Self.ms(start), "bucket_len_ms": .int(Int64(size * 1_000)),
                            "energy_wh": .double(flow.wh), "source": "driver", "quality": "integrated",
                            "provenance": "power", "sample_count": .int(Int64(size / 5)),
                        ]
                    }
                }
        }
        return HTTPAnswer(
            status: 200,
            document: [
                "schema_version": 1, "scope": "site", "asset_id": .string(asset.isEmpty ? "system" : asset),
                "since_ms": Self.ms(since), "until_ms": Self.ms(until),
                "requested_bucket_len_ms": .int(Int64(size * 1_000)), "limit_unit": "buckets",
                "truncated": false, "points": .array(points),
            ])
    }
}
