import EnergyModel
import FoundationEssentials
import JSONText

/// Prices, plan and energy as documents: main units, kWh, every sign kept.
extension SiteDocuments {
    /// The unit of a price, such as `SEK/kWh`; `nil` without a currency.
    static func unit(_ currency: String?) -> String? { currency.map { "\($0)/kWh" } }

    func priceNow(_ board: PriceBoard?) -> Document {
        var document = currency(board)
        document["total"] = price(board?.slot?.total)
        document["spot"] = price(board?.slot?.spot)
        document["start"] = time(board?.slot?.start)
        document["end"] = time(board?.slot?.end)
        document["level"] = whole(board?.level)
        document["next"] = price(board?.next?.total)
        document["next_end"] = time(board?.next?.end)
        return document
    }

    func priceSeries(_ board: PriceBoard?) -> Document {
        var document = currency(board)
        document["start"] = time(board?.grid.start)
        document["step_s"] = whole(board?.grid.stepS)
        document["total"] = .array((board?.grid.totals ?? []).map { price($0) })
        document["spot"] = .array((board?.grid.spots ?? []).map { price($0) })
        document["until"] = time(board?.until)
        document["tomorrow_known"] = flag(board?.isTomorrowKnown)
        document["stale"] = flag(board?.isStale)
        document["holes"] = .array(
            (board?.holes ?? []).map { hole -> JSONValue in
                ["start": time(hole.lowerBound), "end": time(hole.upperBound)]
            })
        return document
    }

    func cheapest(hours: Int, in board: PriceBoard?, now: Date) -> Document {
        let found = board?.cheapest.first { $0.hours == hours }
        var document: Document = [:]
        document["hours"] = whole(hours)
        document["start"] = time(found?.window?.start)
        document["end"] = time(found?.window?.end)
        document["average"] = price(found?.window?.average)
        document["unit"] = text(Self.unit(board?.currency))
        document["running"] = flag(found?.isRunning)
        document["prices_until"] = time(found?.pricesUntil)
        document["known_hours"] = optional(found?.knownHours)
        document["sentence"] = cheapestSentence(hours, found, now: now)
        return document
    }

    private func flag(_ value: Bool?) -> JSONValue { value.map(JSONValue.bool) ?? .null }
    private func optional(_ value: Double?) -> JSONValue { value.map { number($0) } ?? .null }

    private func cheapestSentence(
        _ hours: Int, _ found: PriceBoard.Cheapest?, now: Date
    ) -> JSONValue {
        guard let found else {
            return .string(LocalText("No prices are known.", "Inga priser är kända.")[language])
        }
        guard let window = found.window else {
            return sentence(.noCheapest(hours: Double(hours), knownHours: found.knownHours ?? 0), at: now)
        }
        return sentence(
            .cheapest(hours: hours, start: window.start, end: window.end, isRunning: found.isRunning), at: now)
    }

    /// Plain words; what is not known is none of the two.
    func cheapNow(_ board: PriceBoard?) -> String {
        board?.isCheapNow.map { $0 ? "ON" : "OFF" } ?? "null"
    }

    private func currency(_ board: PriceBoard?) -> Document {
        [
            "currency": text(board?.currency), "unit": text(Self.unit(board?.currency)),
            "area": text(board?.area),
        ]
    }

    /// To the hundredth of a minor unit: more than any tariff has.
    private func price(_ value: Double?) -> JSONValue {
        guard let value, value.isFinite, abs(value) <= 1e9 else { return nil }
        return number((value * 10_000).rounded() / 10_000)
    }

    // MARK: The plan

    func planNow(_ board: PlanBoard?, now: Date) -> Document {
        let day = board?.day
        var document: Document = [:]
        document["action"] = text(day?.now?.rawValue)
        document["power"] = watts(day?.nowBatteryW)
        document["until"] = time(day?.until)
        document["reason"] = text(day?.reason.map { String($0.prefix(255)) })
        document["planned_at"] = time(day?.plannedAt)
        document["stale"] = flag(board?.isStale)
        document["enabled"] = flag(board?.isEnabled)
        let said = day?.now.map { Sentence.planStep($0, batteryW: day?.nowBatteryW ?? 0) }
        document["sentence"] = said.map { sentence($0, at: now) } ?? .null
        return document
    }

    /// More cars than this are not marked.
    private static let deadlineLimit = 16

    func planSeries(_ board: PlanBoard?) -> Document {
        let quarters = board?.day.quarters ?? []
        func list(_ value: (PlanDay.Quarter) -> JSONValue) -> JSONValue {
            .array(quarters.map { $0.map(value) ?? nil })
        }
        var document: Document = [:]
        document["start"] = time(board?.day.start)
        document["step_s"] = whole(board.map { _ in PlanDay.stepS })
        document["action"] = list { .string($0.step.rawValue) }
        document["battery"] = list { watts($0.batteryW) }
        document["grid"] = list { watts($0.gridW) }
        document["car"] = list { watts($0.carW) }
        document["solar"] = list { watts($0.solarW) }
        document["level"] = list { percent($0.batterySoc) }
        document["deadlines"] = .array(
            (board?.deadlines ?? []).prefix(Self.deadlineLimit).map { deadline -> JSONValue in
                ["loadpoint": .string(String(deadline.loadpoint.prefix(64))), "at": time(deadline.at)]
            })
        document["planned_at"] = time(board?.day.plannedAt)
        document["stale"] = flag(board?.isStale)
        return document
    }

    // MARK: Energy

    /// The name of each flow as people know it, in the order of the table.
    static let energyMembers: [(name: String, flow: EnergyFlow)] = [
        ("import", .gridImport), ("export", .gridExport), ("solar", .solar), ("battery_in", .batteryCharge),
        ("battery_out", .batteryDischarge), ("house", .house), ("car", .car), ("car_out", .carDischarge),
    ]

    func energy(_ board: EnergyBoard?) -> Document {
        var document: Document = [
            "since": time(board?.since), "day": text(board?.day.iso),
            "counted_until": time(board?.countedUntil),
        ]
        for (name, flow) in Self.energyMembers {
            document[name] = optional(board?.totalsKWh[flow])
            document["today_\(name)"] = optional(board?.todayKWh[flow])
        }
        return document
    }
}
