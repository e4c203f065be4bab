import BoxSimulator
import FoundationEssentials

/// Reads one line of the console. Pure.
enum ConsoleParser {
    /// - Returns: `nil` for an empty line and for a remark, `# …`: neither is answered.
    /// - Throws: `ConsoleFault`.
    static func parse(_ line: String) throws(ConsoleFault) -> ConsoleCommand? {
        var words = try ConsoleWords(line)
        guard let first = words.first, !first.hasPrefix("#") else { return nil }
        let verb = try words.word("a command")
        let command = try parse(verb, &words)
        try words.end()
        return command
    }

    private static func parse(_ verb: String, _ words: inout ConsoleWords) throws(ConsoleFault)
        -> ConsoleCommand
    {
        switch verb {
        case "help": return .help(words.isEmpty ? nil : try words.word("a command"))
        case "where": return .place
        case "link": return .link(words.isEmpty ? .owner : try words.choice(BoxRole.self))
        case "clock": return .clock(words.isEmpty ? nil : try time(&words))
        case "speed": return .speed(try words.number("how many times as fast", 1...120))
        case "state": return .state
        case "log":
            _ = try words.choice(["clear"])
            return .clearLog
        case "quit": return .quit
        case "car": return try car(&words)
        case "phone": return try phone(&words)
        case "mode": return try mode(&words)
        case "source":
            return .source(
                try words.word("the name of a source"), try words.choice(ConsoleCommand.SourceChange.self))
        case "meter": return .meter(isThere: try words.choice(["lose", "restore"]) == "restore")
        case "battery":
            _ = try words.choice(["remove"])
            return .removeBattery
        case "box": return .box(try box(&words))
        case "relay": return .relay(try words.choice(ConsoleCommand.RelayChange.self))
        case "role": return .role(try words.choice(BoxRole.self))
        case "revoke": return .revoke
        case "next": return .next(try fate(&words))
        case "swallow": return .swallow(try words.choice(ConsoleCommand.Swallowed.self), try words.isOn())
        case "api": return try api(&words)
        case "prices": return .prices(try prices(&words))
        case "energy":
            _ = try words.choice(["import"])
            return .importEnergy(wh: try words.number("kWh", 0...1_000) * 1_000)
        default:
            throw ConsoleFault(
                "there is no command \(ConsoleWords.shown(verb)); known are \(ConsoleHelp.verbs.joined(separator: ", "))"
            )
        }
    }

    private static func time(_ words: inout ConsoleWords) throws(ConsoleFault) -> Date {
        let rule = "a time such as 2026-10-25T00:00:00+02:00"
        let before = words.place
        let word = try words.word(rule)
        guard let date = HouseTimeText.date(word) else { throw words.wrong(before, word, "give \(rule)") }
        return date
    }

    // MARK: Cars

    private static let carVerbs = ["plug", "unplug", "situation", "draw"]
    private static let phoneVerbs = ["level", "hold", "goal", "surplus_only", "mode"]

    /// The loadpoint, where one is named.
    private static func loadpoint(
        _ words: inout ConsoleWords, before verbs: [String]
    ) throws(ConsoleFault) -> String? {
        guard let first = words.first, !verbs.contains(first), words.count > 1 else { return nil }
        return try words.word("a loadpoint")
    }

    private static func car(_ words: inout ConsoleWords) throws(ConsoleFault) -> ConsoleCommand {
        let id = try loadpoint(&words, before: carVerbs)
        switch try words.choice(carVerbs) {
        case "plug": return .car(loadpoint: id, .plug(true))
        case "unplug": return .car(loadpoint: id, .plug(false))
        case "draw": return .car(loadpoint: id, .draw(try words.choice(SimulatedHouse.CarDraw.self)))
        default: return .car(loadpoint: id, .situation(try situation(&words)))
        }
    }

    private static let situations = [
        "everyday", "unplugged", "assumed", "estimated", "car_live", "car_old", "car_flagged_old",
        "person_set",
        "late", "no_goal", "holding", "replanning", "no_plan", "two_chargers", "old_box",
    ]

    private static func situation(_ words: inout ConsoleWords) throws(ConsoleFault) -> CarSituation {
        switch try words.choice(situations) {
        case "everyday": return .everyday
        case "unplugged": return .unplugged
        case "assumed": return .assumed
        case "estimated": return .estimated(try words.percent("the level"))
        case "car_live": return .carLive(try words.percent("the level"))
        case "car_old":
            let soc = try words.percent("the level")
            return .carOld(soc, ageSeconds: try words.number("its age in seconds", 0...604_800))
        case "car_flagged_old": return .carFlaggedOld(try words.percent("the level"))
        case "person_set": return .personSet(try words.percent("the level"))
        case "late": return .late(shortfallWh: try words.number("the Wh that will be missing", 0...200_000))
        case "no_goal": return .noGoal
        case "holding": return .holding(try words.number("watts", 0...50_000))
        case "replanning": return .replanning
        case "no_plan": return .noPlan
        case "two_chargers": return .twoChargers
        default: return .oldBox
        }
    }

    // MARK: The household's other app

    private static func phone(_ words: inout ConsoleWords) throws(ConsoleFault) -> ConsoleCommand {
        let id = try loadpoint(&words, before: phoneVerbs)
        switch try words.choice(phoneVerbs) {
        case "level": return .order(loadpoint: id, .level(try words.percent("the level")))
        case "hold":
            switch try words.choice(["charge", "pause", "release"]) {
            case "charge": return .order(loadpoint: id, .chargeNow)
            case "pause": return .order(loadpoint: id, .hold(0))
            default: return .order(loadpoint: id, .hold(nil))
            }
        case "goal": return .order(loadpoint: id, .goal(try goal(&words)))
        case "surplus_only": return .order(loadpoint: id, .surplusOnly(try words.isOn()))
        default: return .setMode(try words.word("a mode's key"))
        }
    }

    private static func goal(_ words: inout ConsoleWords) throws(ConsoleFault) -> HouseholdGoal? {
        if words.first == "none" {
            _ = try words.word("none")
            return nil
        }
        var goal = HouseholdGoal(soc: try words.percent("the level"), minute: try clock(&words))
        if words.isEmpty { return goal }
        let before = words.place
        let word = try words.word("days")
        if word == "once" {
            goal.recurring = false
            return goal
        }
        let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
        for name in word.split(separator: ",", omittingEmptySubsequences: false) {
            guard let bit = names.firstIndex(of: String(name)) else {
                throw words.wrong(before, word, "give once, or days such as mon,tue")
            }
            goal.days |= 1 << bit
        }
        return goal
    }

    /// `07:00` as minutes after midnight.
    private static func clock(_ words: inout ConsoleWords) throws(ConsoleFault) -> Int {
        let rule = "a time of day from 00:00 to 23:59"
        let before = words.place
        let word = try words.word(rule)
        let parts = word.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = Int(parts[0]),
            let minute = Int(parts[1]), (0..<24).contains(hour), (0..<60).contains(minute)
        else { throw words.wrong(before, word, "give \(rule)") }
        return hour * 60 + minute
    }

    private static func mode(_ words: inout ConsoleWords) throws(ConsoleFault) -> ConsoleCommand {
        let verb = try words.choice(["add", "remove", "set"])
        let before = words.place
        let key = try words.word("a mode's key")
        let isPlain = key.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
        }
        guard isPlain, key.utf8.count <= 40 else {
            throw words.wrong(before, key, "a key is at most 40 of a-z, 0-9 and _")
        }
        switch verb {
        case "add":
            let label = try words.text("a label")
            guard label.count <= 40 else { throw ConsoleFault("a label has at most 40 characters") }
            return .addMode(key: key, label: label)
        case "remove": return .removeMode(key)
        default: return .setMode(key)
        }
    }
}
