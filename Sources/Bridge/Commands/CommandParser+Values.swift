import EnergyModel
import FoundationEssentials
import JSONText

/// What each topic takes.
extension CommandParser {
    func intent(_ topic: CommandTopic, _ envelope: Envelope, _ car: CarState?, now: Moment)
        throws(CommandProblem) -> Intent
    {
        switch topic.name {
        case .control: try envelope.allow(["power", "until", "minutes"])
        case .boost: try envelope.allow(["minutes", "min_battery"])
        case .level, .surplusOnly, .mode: try envelope.allow([])
        case .goal: break
        }
        return switch (topic.name, topic.verb) {
        case (.level, .set): .level(.exactly(try level(envelope.value)))
        case (.level, .adjust): .level(.step(try step(envelope.value)))
        case (.control, _): .control(try control(envelope, car, now: now))
        case (.goal, _): .goal(try goal(envelope))
        case (.surplusOnly, _): .surplusOnly(try surplusOnly(envelope.value))
        case (.boost, _): .boost(try boost(envelope))
        case (.mode, _): .mode(try mode(envelope.value))
        }
    }

    private func typed(_ value: JSONValue) -> String { value.stringValue ?? value.text }

    // MARK: Level

    private static let levelRule = LocalText(
        "a level is a number from 0 to 100 %, such as 62", "en nivå är ett tal från 0 till 100 %, som 62")

    /// A state of charge, 0 to 1.
    func level(_ value: JSONValue) throws(CommandProblem) -> Double {
        guard let quantity = TypedText.quantity(value, in: TypedText.percentUnits),
            !quantity.hasSign || quantity.number < 0
        else { throw .found(typed(value), Self.levelRule) }
        guard (0...100).contains(quantity.number) else {
            throw .found(typed(value), Self.levelRule, code: .outOfRange)
        }
        // Between nothing and one percent somebody most likely meant a fraction.
        guard quantity.number == 0 || quantity.number >= 1 else {
            throw .found(
                typed(value),
                LocalText("a level is in percent, such as 62", "en nivå är i procent, som 62"))
        }
        return quantity.number / 100
    }

    private func step(_ value: JSONValue) throws(CommandProblem) -> Double {
        let rule = LocalText(
            "a step is a number of percentage points from -100 to 100, such as +5",
            "ett steg är ett antal procentenheter från -100 till 100, som +5")
        guard let quantity = TypedText.quantity(value, in: TypedText.percentUnits) else {
            throw .found(typed(value), rule)
        }
        let size = abs(quantity.number)
        guard size <= 100, size >= 1 else { throw .found(typed(value), rule, code: .outOfRange) }
        return quantity.number / 100
    }

    // MARK: Charge now, pause, plan

    private func control(_ envelope: Envelope, _ car: CarState?, now: Moment) throws(CommandProblem)
        -> Intent.ControlWish
    {
        switch TypedText.word(envelope.value.stringValue ?? "") {
        case "pause", "paused", "pausa", "pausad":
            try refuseOptions(envelope, "pause")
            return .pause
        case "plan", "back_to_plan", "planen", "tillbaka_till_planen", "enligt_plan":
            try refuseOptions(envelope, "plan")
            return .plan
        case "charge_now", "ladda_nu":
            return .chargeNow(
                powerW: try power(envelope.options["power"], car),
                until: try end(envelope.options, now: now))
        default:
            throw .found(
                typed(envelope.value),
                LocalText("allowed are charge_now, pause and plan", "tillåtna är charge_now, pause och plan"))
        }
    }

    /// A pause "until seven" would be a pause for ever, so it is not taken for one.
    private func refuseOptions(_ envelope: Envelope, _ word: String) throws(CommandProblem) {
        for name in ["power", "until", "minutes"] where envelope.options[name].map(\.isNull) == false {
            throw .found(
                "\(name)",
                LocalText("\(word) takes no option", "\(word) tar inget tillval"))
        }
    }

    /// Watts, within what the charger can do; `nil`: its full power.
    private func power(_ value: JSONValue?, _ car: CarState?) throws(CommandProblem) -> Double? {
        guard let value, !value.isNull else { return nil }
        let limits = PowerLimits(
            leastW: car?.loadpoint.minPowerW ?? 0, mostW: car?.loadpoint.fullPower.powerW ?? 11_040)
        let rule = Self.powerRule(limits)
        guard let quantity = TypedText.quantity(value, in: ["w", "kw"]) else {
            throw .found(typed(value), rule)
        }
        let watts = quantity.unit == "kw" ? quantity.number * 1_000 : quantity.number
        guard limits.allows(watts) else {
            throw .found(typed(value), rule, code: .outOfRange)
        }
        return watts
    }

    /// What is allowed, with an example that this charger takes, in both units where it has few decimals.
    private static func powerRule(_ limits: PowerLimits) -> LocalText {
        let (least, most) = limits.text
        guard let example = limits.example else {
            return LocalText(
                "power is from \(least) to \(most) W", "effekten är från \(least) till \(most) W")
        }
        var english = "\(example)"
        var swedish = english
        if example % 10 == 0 {
            let kilowatts =
                example % 1_000 == 0 ? "\(example / 1_000)" : "\(Double(example) / 1_000)"
            english += " or \(kilowatts) kW"
            swedish += " eller \(kilowatts.replacing(".", with: ",")) kW"
        }
        return LocalText(
            "power is from \(least) to \(most) W, such as \(english)",
            "effekten är från \(least) till \(most) W, som \(swedish)")
    }

    /// When charging shall fall back to the plan; `nil`: when somebody says so.
    private func end(_ options: [String: JSONValue], now: Moment) throws(CommandProblem) -> Date? {
        let until = options["until"] ?? .null
        let minutes = options["minutes"] ?? .null
        if !until.isNull, !minutes.isNull {
            throw .found(
                "until, minutes", LocalText("only one of them can hold", "bara ett av dem kan gälla"))
        }
        if !minutes.isNull {
            let rule = LocalText("minutes is from 1 to 1440", "minutes är från 1 till 1440")
            guard let quantity = TypedText.quantity(minutes, in: TypedText.minuteUnits) else {
                throw .found(typed(minutes), rule)
            }
            guard (1...1_440).contains(quantity.number) else {
                throw .found(typed(minutes), rule, code: .outOfRange)
            }
            return now.wall + quantity.number * 60
        }
        guard !until.isNull else { return nil }
        let rule = LocalText(
            "until is a time within 24 hours, such as 07:00", "until är en tid inom 24 timmar, som 07:00")
        let end: Date
        if let text = until.stringValue, let minute = TypedText.minuteOfDay(text) {
            let zone = household.zone
            let today = zone.day(of: now.wall)
            let first = zone.instant(today, minute: minute)
            // A wish that comes a little late means the time that has just passed. Taken
            // for tomorrow's it would charge for a day.
            guard !(0...Self.justPassed).contains(now.wall.timeIntervalSince(first)) else {
                throw .found(
                    typed(until),
                    LocalText(
                        "this time has just passed; tomorrow's is written with its date, such as "
                            + "2026-12-01T07:00:00+01:00",
                        "den tiden har just passerat; morgondagens skrivs med datum, som "
                            + "2026-12-01T07:00:00+01:00"),
                    code: .outOfRange)
            }
            end = first > now.wall ? first : zone.instant(today.adding(days: 1), minute: minute)
        } else if let instant = Self.instant(until) {
            end = instant
        } else {
            throw .found(typed(until), rule)
        }
        guard end > now.wall, end.timeIntervalSince(now.wall) <= 25 * 3_600 else {
            throw .found(typed(until), rule, code: .outOfRange)
        }
        return end
    }

    /// In seconds.
    private static let justPassed = 3_600.0

    // MARK: Goal

    private static let goalRule = LocalText(
        "a goal is written like 80 % 07:00 weekdays, like {\"level\":80,\"by\":\"07:00\"}, or clear",
        "ett mål skrivs som 80 % 07:00 vardagar, som {\"level\":80,\"by\":\"07:00\"}, eller clear")

    private func goal(_ envelope: Envelope) throws(CommandProblem) -> Intent.GoalWish {
        let extras = envelope.extras
        if let members = envelope.value.objectValue {
            guard let name = extras.keys.sorted().first else {
                return try goal(members, of: envelope.value)
            }
            throw .found(name, Self.goalNames)
        }
        // A level with its time and days beside it.
        let isLevel = TypedText.quantity(envelope.value, in: TypedText.percentUnits) != nil
        if !extras.isEmpty, isLevel, extras["level"] == nil {
            return try goal(extras.merging(["level": envelope.value]) { own, _ in own }, of: envelope.value)
        }
        if let name = extras.keys.sorted().first { throw .found(name, Self.goalNames) }
        if let text = envelope.value.stringValue { return try goal(typed: text) }
        // Null is what a template makes of what it does not know, and clears nothing.
        guard envelope.value.doubleValue != nil else {
            throw .found(typed(envelope.value), Self.goalRule)
        }
        return .change(
            soc: try goalLevel(envelope.value), minuteOfDay: nil, days: nil, isRecurring: nil)
    }

    private static let goalNames = LocalText(
        "a goal has level, by, days, once and clear", "ett mål har level, by, days, once och clear")

    private func goal(_ members: [String: JSONValue], of value: JSONValue) throws(CommandProblem)
        -> Intent.GoalWish
    {
        for name in members.keys.sorted()
        where !["level", "by", "days", "once", "clear"].contains(name) {
            throw .found(name, Self.goalNames)
        }
        if let clear = members["clear"], !clear.isNull {
            guard TypedText.flag(clear) == true, members.count == 1 else {
                throw .found("clear", LocalText("clear is true and alone", "clear är true och ensamt"))
            }
            return .clear
        }
        let level = try members["level"].flatMap(present).map(goalLevel)
        let minute = try members["by"].flatMap(present).map(goalMinute)
        let days = try members["days"].flatMap(present).map(goalDays)
        var recurring: Bool? = days == nil ? nil : true
        if let once = members["once"].flatMap(present) {
            guard let flag = TypedText.flag(once) else {
                throw .found(typed(once), LocalText("once is true or false", "once är true eller false"))
            }
            guard !(flag && days != nil) else {
                throw .found(
                    "once, days", LocalText("only one of them can hold", "bara ett av dem kan gälla"))
            }
            recurring = !flag
        }
        guard level != nil || minute != nil || days != nil || recurring != nil else {
            throw .found(typed(value), Self.goalRule)
        }
        return .change(soc: level, minuteOfDay: minute, days: days, isRecurring: recurring)
    }

    /// A bare `nil` here would be the JSON value null.
    private func present(_ value: JSONValue) -> JSONValue? { value.isNull ? Optional.none : value }

    /// A goal of nothing would be no goal; whoever wants none says `clear`.
    private func goalLevel(_ value: JSONValue) throws(CommandProblem) -> Double {
        let soc = try level(value)
        guard soc > 0 else {
            throw .found(
                typed(value),
                LocalText("a goal is from 1 to 100 %, or clear", "ett mål är från 1 till 100 %, eller clear"),
                code: .outOfRange)
        }
        return soc
    }

    private func goalMinute(_ value: JSONValue) throws(CommandProblem) -> Int {
        guard let text = value.stringValue, let minute = TypedText.minuteOfDay(text) else {
            throw .found(
                typed(value),
                LocalText("by is a time of day such as 07:00", "by är ett klockslag som 07:00"))
        }
        return minute
    }

    private func goalDays(_ value: JSONValue) throws(CommandProblem) -> Int {
        let text = value.stringValue ?? value.arrayValue?.map(typed).joined(separator: " ")
        guard let days = text.flatMap(TypedText.days) else {
            throw .found(
                typed(value),
                LocalText(
                    "days are every day, weekdays, weekends or names such as mon,wed",
                    "dagar är varje dag, vardagar, helger eller namn som mån,ons"))
        }
        return days
    }

    /// `80 % 07:00 weekdays` in any order, `once`, `clear`.
    private func goal(typed text: String) throws(CommandProblem) -> Intent.GoalWish {
        if ["clear", "none", "off", "rensa", "inget"].contains(TypedText.word(text)) { return .clear }
        var rest = text.lowercased()
        for (long, short) in [
            (" %", "%"), ("every day", "daily"), ("varje dag", "daily"), ("en gång", "once"),
            ("en gang", "once"),
        ] {
            rest = rest.replacing(long, with: short)
        }
        var soc: Double?
        var minute: Int?
        var days: [String] = []
        var once = false
        for part in rest.split(whereSeparator: { $0.isWhitespace || $0 == ";" }).map(String.init) {
            if minute == nil, let found = TypedText.minuteOfDay(part) {
                minute = found
            } else if soc == nil, TypedText.quantity(part) != nil {
                soc = try goalLevel(.string(part))
            } else if part == "once" {
                once = true
            } else if !["by", "at", "till", "kl", "to"].contains(part) {
                days.append(part)
            }
        }
        let mask = days.isEmpty ? nil : TypedText.days(days.joined(separator: " "))
        guard days.isEmpty || mask != nil, !(once && mask != nil),
            soc != nil || minute != nil || mask != nil || once
        else { throw .found(text, Self.goalRule) }
        return .change(
            soc: soc, minuteOfDay: minute, days: mask, isRecurring: once ? false : mask.map { _ in true })
    }

    // MARK: The rest

    private func surplusOnly(_ value: JSONValue) throws(CommandProblem) -> Bool {
        guard let flag = TypedText.flag(value) else {
            throw .found(typed(value), LocalText("allowed are ON and OFF", "tillåtna är ON och OFF"))
        }
        return flag
    }

    /// `ON` is an hour down to half the house battery, unless the message says otherwise.
    private func boost(_ envelope: Envelope) throws(CommandProblem) -> Intent.BoostWish {
        let rule = LocalText(
            "boost is OFF, ON, or minutes from 1 to 240; min_battery is from 5 to 100 %",
            "boost är OFF, ON eller minuter från 1 till 240; min_battery är från 5 till 100 %")
        var minutes = 60.0
        if TypedText.flag(envelope.value) == false || TypedText.word(typed(envelope.value)) == "cancel" {
            return .cancel
        }
        if let quantity = TypedText.quantity(envelope.value, in: TypedText.minuteUnits) {
            minutes = quantity.number
        } else if TypedText.flag(envelope.value) != true, envelope.value.objectValue == nil {
            throw .found(typed(envelope.value), rule)
        }
        if let given = envelope.options["minutes"].flatMap(present) {
            guard TypedText.quantity(envelope.value, in: TypedText.minuteUnits) == nil else {
                throw .found(
                    "value, minutes", LocalText("only one of them can hold", "bara ett av dem kan gälla"))
            }
            guard let quantity = TypedText.quantity(given, in: TypedText.minuteUnits) else {
                throw .found(typed(given), rule)
            }
            minutes = quantity.number
        } else if envelope.value.objectValue != nil {
            throw .found(typed(envelope.value), rule)
        }
        guard (1...240).contains(minutes) else {
            throw .found(String(minutes), rule, code: .outOfRange)
        }
        var reserve = 50.0
        if let given = envelope.options["min_battery"].flatMap(present) {
            guard let quantity = TypedText.quantity(given, in: TypedText.percentUnits) else {
                throw .found(typed(given), rule)
            }
            guard (5...100).contains(quantity.number) else {
                throw .found(typed(given), rule, code: .outOfRange)
            }
            reserve = quantity.number
        }
        return .start(seconds: Int((minutes * 60).rounded()), minBatterySoc: reserve / 100)
    }

    /// The box's own key, or the label that people see. Without a list from the
    /// box any key is passed on: the box knows its modes better than we do.
    private func mode(_ value: JSONValue) throws(CommandProblem) -> String {
        let text = value.stringValue ?? ""
        let catalogue = site.mode?.catalogue ?? []
        if catalogue.contains(where: { $0.key == text }) { return text }
        let labels = ModeLabels(catalogue)
        if let entry = catalogue.first(where: { labels.label(of: $0) == text }) { return entry.key }
        let word = TypedText.word(text)
        if let entry = catalogue.first(where: { TypedText.word($0.key) == word }) { return entry.key }
        guard catalogue.isEmpty, (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            let known = catalogue.map(\.key).joined(separator: ", ")
            throw .found(
                typed(value),
                known.isEmpty
                    ? LocalText("a mode is one of the box's keys", "ett läge är en av boxens nycklar")
                    : LocalText("the modes are \(known)", "lägena är \(known)"),
                code: .outOfRange)
        }
        return text
    }
}
