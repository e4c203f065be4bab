import BoxLink
import FoundationEssentials

/// `plan.get`, `price.get` and `hist.query` (FTW wire §6.8–6.10).
extension SimulatedBox {
    static func wallMs(_ date: Date) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1_000).rounded()) ?? 0
    }

    func planGet(_ id: UInt32?, _ session: PhoneSession) {
        if let boot = script.boot {
            return refuse("E_BOOTING", ["phase": .text(boot.phase), "pct": .int(boot.pct)], id, session)
        }
        bulk("plan", planBody(), id: id, to: session)
    }

    /// The plan as it goes over the wire, its tail cut until it fits a frame.
    func planBody() -> CBORValue {
        let seen = house.now { (plan: $0.isPlanWithheld ? nil : $0.plan, count: $0.planCount) }
        let now = house.clock.now
        var slots = (seen.plan?.slots ?? []).map(Self.planSlot)
        let isOld =
            seen.plan.map {
                now.timeIntervalSince($0.generatedAt) > Contract.Request.planTooOld / .seconds(1)
            } ?? true
        while true {
            let body: CBORValue = [
                "rev": .int(Int64(max(0, seen.plan == nil ? 0 : seen.count - planBase))),
                "uptimeMs": .int(uptimeMs), "slots": .array(slots), "stale": .bool(isOld), "ceilingW": nil,
            ]
            if payload("plan", .max, body).count <= Frame.maxPayload { return body }
            slots = Array(slots.prefix(slots.count * 3 / 4))
        }
    }

    private static func planSlot(_ slot: HousePlan.Slot) -> CBORValue {
        let battery = Telemetry.whole(slot.batteryW)
        let reason: String
        if battery >= 100 {
            reason = slot.loadW + slot.pvW < 0 ? "solar_surplus" : "cheap_import"
        } else if battery <= -100 {
            reason = "expensive_import"
        } else {
            reason = "idle"
        }
        return [
            "startMs": .int(wallMs(slot.start)), "durationMs": 900_000, "batteryW": .int(battery),
            "gridW": .int(Telemetry.whole(slot.gridW)),
            "priceMinor": .int(Telemetry.whole(slot.price.totalMinor)), "reason": .text(reason),
        ]
    }

    func priceGet(_ envelope: Envelope, _ session: PhoneSession) throws {
        guard let id = envelope.id else { return }
        let body = try BodyReader(envelope.body)
        let from = try body.int("fromMs") ?? 0
        let to = try body.int("toMs") ?? 0
        guard from < to else {
            return refuse("E_UNKNOWN_OP", ["t": "price.get"], id, session)
        }
        guard vintage.hasPrices, !script.hasNoPrices else {
            return refuse("E_UNAVAILABLE", ["subsystem": "prices"], id, session)
        }
        let (limit, overflows) = from.addingReportingOverflow(Contract.Request.priceWindowMs)
        let end = overflows ? to : min(to, limit)
        let known = house.now { model in
            model.prices.slots(
                from: Date(timeIntervalSince1970: Double(from) / 1_000),
                to: Date(timeIntervalSince1970: Double(end) / 1_000), now: model.at)
        }
        var slots = known.map { slot -> CBORValue in
            [
                "startMs": .int(Self.wallMs(slot.start)), "durationMs": 900_000,
                "spotMinor": .int(Telemetry.whole(slot.spotMinor)),
                "totalMinor": .int(Telemetry.whole(slot.totalMinor)),
            ]
        }
        var covered = false
        if let first = known.first, let last = known.last {
            covered = Self.wallMs(first.start) <= from && Self.wallMs(last.end) >= to
        }
        while true {
            let answer: CBORValue = [
                "zone": .text(house.settings.priceZone), "currency": .text(house.settings.currency),
                "slots": .array(slots), "stale": .bool(!covered),
            ]
            if payload("price", id, answer).count <= Frame.maxPayload {
                return bulk("price", answer, id: id, to: session)
            }
            covered = false
            slots = Array(slots.prefix(slots.count * 3 / 4))
        }
    }

    /// This box keeps no history, which it says to every good question.
    func historyQuery(_ envelope: Envelope, _ session: PhoneSession) throws {
        guard let id = envelope.id else { return }
        let body = try BodyReader(envelope.body)
        let names = try body.array("series") ?? []
        let resolution = try body.text("res") ?? ""
        let from = try body.int("fromMs") ?? 0
        let to = try body.int("toMs") ?? 0
        _ = try body.int("maxPoints")
        var series: Set<String> = []
        for name in names {
            guard let name = name.textValue else { throw UnreadableBody() }
            let isPlain = (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { $0 >= 32 && $0 != 127 }
            guard isPlain, series.insert(name).inserted else {
                return refuse("E_UNKNOWN_OP", ["t": "hist.query", "field": "series"], id, session)
            }
        }
        let nowMs = Self.wallMs(house.clock.now)
        guard (1...16).contains(series.count), ["5m", "1h"].contains(resolution), from >= 0, from < to,
            from < nowMs
        else { return refuse("E_UNKNOWN_OP", ["t": "hist.query"], id, session) }
        refuse("E_UNAVAILABLE", ["subsystem": "history"], id, session)
    }
}
