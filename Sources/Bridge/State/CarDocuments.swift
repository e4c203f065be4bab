import EnergyModel
import FoundationEssentials
import JSONText

/// One car as it is to be shown.
struct ShownCar {
    /// What a box said at a time.
    struct Reading: Equatable {
        var loadpoint: Loadpoint
        var at: Date
    }
    var car: CarState
    /// The last reading that was current when it was made; `nil`: none is known.
    var good: Reading?
    /// Live frames arrive from the box.
    var isLinkUp: Bool
    /// The box told it in this session, even if the charger is silent.
    var isTold: Bool
    /// Who placed the hold; `nil` when nobody did or nobody knows.
    var askedBy: String?
    /// When the hold ends; `nil` when it has no end or nobody knows.
    var holdEndsAt: Date?

    /// Readings of the charger. A box keeps or zeroes those of a silent one, so
    /// they are shown only while current, and dated as a whole when the box is gone.
    var measured: Loadpoint? { car.isCurrent || !isLinkUp ? good?.loadpoint : nil }
    /// What the box itself holds: limits, orders, goal.
    var held: Loadpoint? { heldAt != nil && (isTold || !isLinkUp) ? car.loadpoint : nil }
    /// When the box said it; `nil` when it never did.
    var heldAt: Date? { car.readAt == .distantPast ? nil : car.readAt }
}

/// One car as the documents of the topic table.
extension SiteDocuments {
    func carState(_ shown: ShownCar) -> Document {
        let (car, measured, held) = (shown.car, shown.measured, shown.held)
        let isPowerUsable = measured?.powerUnavailable != true
        return [
            "name": .string(car.id), "car_name": text(car.vehicleName),
            "plugged_in": flag(measured?.pluggedIn), "charging": flag(measured?.isDelivering),
            "activity": .string(car.charging.token),
            "power": watts(isPowerUsable ? measured?.powerW : nil),
            "session_kwh": kilowattHours(measured?.sessionWh), "min_power": watts(held?.minPowerW),
            "max_power": watts(held?.maxPowerW), "full_power": watts(held?.fullPower.powerW),
            "phases": whole(held?.phases), "surplus_only": flag(held?.surplusOnly),
            "boost": flag(held.flatMap { $0.boost?.active }),
            "at": time(shown.good?.at), "live": .bool(car.isCurrent),
        ]
    }

    func carLevel(_ shown: ShownCar) -> Document {
        let level = shown.car.level
        return [
            "level": percent(level.soc), "origin": .string(level.origin.rawValue), "at": time(level.at),
            "outdated": .bool(level.outdated), "unplugged": .bool(level.isUnplugged),
            "plan_level": percent(level.planCountsFrom), "person_level": percent(level.person?.soc),
            "person_at": time(level.person?.at), "needs_real_level": .bool(level.needsRealLevel),
            "unconfirmed": .bool(level.isUnconfirmed), "car_limit": percent(shown.held?.vehicleLimitSoc),
            "live": .bool(shown.car.isCurrent),
        ]
    }

    /// A plain word has no date, so what is not of now is unknown.
    func carControl(_ shown: ShownCar) -> String {
        shown.isTold ? shown.car.loadpoint.hold?.intention.rawValue ?? "unknown" : "unknown"
    }

    func carHold(_ shown: ShownCar) -> Document {
        let held = shown.held
        let (kind, power): (String?, Double?) =
            switch held?.hold {
            case Loadpoint.Hold.none?: ("none", nil)
            case .chargeNow(let powerW)?: ("charge_now", powerW)
            case .paused?: ("paused", nil)
            case .needsChoice?: ("needs_choice", nil)
            case nil: (nil, nil)
            }
        let isHeld = shown.isTold && kind != nil && kind != "none"
        let account = held?.manualActive == true ? held?.manual : nil
        return [
            "kind": text(kind), "power": watts(power), "charger": text(account?.state?.rawValue),
            "limited_by": text(account?.limitReason), "asked_by": isHeld ? text(shown.askedBy) : nil,
            "since": time(held?.holdSince), "until": isHeld ? time(shown.holdEndsAt) : nil,
            "until_level": percent(held?.manualActive == true ? held?.manualReleaseSoc : nil),
            "at": time(shown.heldAt), "live": .bool(shown.isTold),
        ]
    }

    func carGoal(_ shown: ShownCar) -> Document {
        let isKnown = shown.held != nil
        let goal = isKnown ? shown.car.goal : nil
        let days = goal.flatMap { $0.recurring ? $0.days : nil }
        return [
            "active": isKnown ? .bool(goal != nil) : nil, "level": percent(goal?.soc),
            "by": text(goal.map { clockText(minute: $0.minuteOfDay) }),
            "days": days.map { days in .array(days.weekdays.map { .string(Self.dayNames[$0]) }) } ?? nil,
            "once": flag(goal.map { !$0.recurring }), "car_decides": flag(goal?.finishesAtVehicleLimit),
            "spent": flag(goal?.isSpent), "next_deadline": time(goal?.nextDeadline),
            "zone": text(goal?.zone.zone.name), "home_time": flag(goal?.zone.isHomeTime),
            "at": time(shown.heldAt), "live": .bool(shown.isTold),
        ]
    }

    func carReady(_ shown: ShownCar, now: Date) -> Document {
        let ready = shown.car.readiness
        let next = ready.windows.first { $0.end > now }
        return [
            "state": .string(ready.state.rawValue), "reason": text(ready.reason?.rawValue),
            "goal": percent(ready.goalSoc), "expected": percent(ready.expectedSoc),
            "shortfall_wh": watts(ready.shortfallWh), "by": time(ready.by),
            "assumed_from": percent(ready.assumedFrom), "size_guessed": .bool(ready.isCapacityGuessed),
            "charging_start": time(next?.start), "charging_end": time(next?.end),
            "windows": .array(
                ready.windows.map { window in
                    [
                        "start": time(window.start), "end": time(window.end),
                        "energy_wh": watts(window.energyWh),
                    ]
                }),
            "planned_at": time(ready.plannedAt), "live": .bool(shown.car.isCurrent),
        ]
    }

    /// - Parameter receipt: How the last command ended.
    func carTexts(
        _ shown: ShownCar, _ language: Language, receipt: JSONValue, now: Date
    ) -> Document {
        let car = shown.car
        func say(_ sentence: Sentence) -> JSONValue {
            let said = sentence.text(language, zone: zone, now: now)
            return said.isEmpty ? nil : .string(said)
        }
        return [
            "level": say(.level(car.level)),
            // A goal that is not told now would be said without its date.
            "goal": shown.isTold ? say(.goal(car.goal)) : nil,
            "readiness": car.isCurrent ? say(.readiness(car.readiness)) : nil,
            "charging": shown.isTold ? say(.charging(car.charging)) : nil, "receipt": receipt,
            "spoken": .string(spoken(shown, language, now: now)),
        ]
    }

    /// How full the car is, what it does and whether it will be ready, in whole
    /// sentences and in words for the ear; what would be too long is left out.
    func spoken(_ shown: ShownCar, _ language: Language, now: Date) -> String {
        let car = shown.car
        var sentences = [Sentence.level(car.level)]
        if shown.isTold { sentences.append(.charging(car.charging)) }
        if car.isCurrent { sentences.append(.readiness(car.readiness)) }
        let speakable = Speakable(language: language)
        var said: [String] = []
        for sentence in sentences {
            let text = speakable.text(sentence.text(language, zone: zone, now: now))
            // An empty place at the charger is told by its level and by its activity.
            guard !text.isEmpty, !said.contains(text) else { continue }
            let longer = (said + [text]).joined(separator: " ")
            if said.isEmpty || longer.unicodeScalars.count <= Sentence.limit { said.append(text) }
        }
        return Sentence.limited(said.joined(separator: " "))
    }

    private static let dayNames = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    private func flag(_ value: Bool?) -> JSONValue { value.map(JSONValue.bool) ?? nil }

    /// Two decimals, rounded down: energy never steps back because of rounding.
    private func kilowattHours(_ wattHours: Double?) -> JSONValue {
        guard let wattHours, let tens = Int64(exactly: (wattHours / 10).rounded(.down)) else { return nil }
        return number(Double(tens) / 100)
    }
}
