import EnergyModel
import JSONText

/// Why a sentence led to nothing, before anybody was asked for anything.
enum VoiceProblem: Error, Equatable {
    case notUnderstood
    /// A number or a time that the sentence needs was not said.
    case noLevel, noGoal
}

/// What a sentence asks for, without for which car.
enum VoiceWish: Sendable, Equatable {
    case level
    case ready
    /// A command as it would be published: the topic below the car, and the payload's members.
    case command(VoiceIntent, topic: String, members: [String: JSONValue])

    /// - Throws: `VoiceProblem` when the sentence lacks what it is about.
    init(_ intent: HermesIntent) throws(VoiceProblem) {
        switch intent.intent {
        case .carLevel: self = .level
        case .carReady: self = .ready
        case .pause: self = .command(.pause, topic: "control/set", members: ["value": "pause"])
        case .backToPlan: self = .command(.backToPlan, topic: "control/set", members: ["value": "plan"])
        case .chargeNow:
            var members: [String: JSONValue] = ["value": "charge_now"]
            if let minutes = try Self.minutes(intent) { members["minutes"] = .int(Int64(minutes)) }
            if let clock = try Self.clock(intent) { members["until"] = .string(clock) }
            self = .command(.chargeNow, topic: "control/set", members: members)
        case .setLevel:
            guard let level = try Self.level(intent) else { throw .noLevel }
            self = .command(.setLevel, topic: "level/set", members: ["value": .string(level)])
        case .setGoal:
            var goal: [String: JSONValue] = [:]
            if let level = try Self.level(intent) { goal["level"] = .string(level) }
            if let clock = try Self.clock(intent) { goal["by"] = .string(clock) }
            if let days = try intent.text("days") { goal["days"] = .string(days) }
            guard !goal.isEmpty else { throw .noGoal }
            self = .command(.setGoal, topic: "goal/set", members: ["value": .object(goal)])
        case .whichCar, .cancel: throw .notUnderstood
        }
    }

    /// As typed; whether it makes sense the parser of commands decides, as for any other.
    private static func level(_ intent: HermesIntent) throws(VoiceProblem) -> String? {
        guard let typed = try intent.text("level") else { return nil }
        // People say "percent"; the parser knows the sign.
        for word in ["percent", "per cent", "procent"] where typed.lowercased().hasSuffix(word) {
            return TypedText.trimmed(String(typed.dropLast(word.count)))
        }
        return typed
    }

    private static func minutes(_ intent: HermesIntent) throws(VoiceProblem) -> Int? {
        let hours = try intent.whole("hours", 0...24)
        let minutes = try intent.whole("minutes", 0...1_440)
        guard hours != nil || minutes != nil else { return nil }
        return (hours ?? 0) * 60 + (minutes ?? 0)
    }

    /// `07:00`: from the slot `time`, or from `hour`, `minute` and `part` (am, pm).
    /// Without a part the clock has 24 hours.
    private static func clock(_ intent: HermesIntent) throws(VoiceProblem) -> String? {
        if let typed = try intent.text("time") {
            if let minute = TypedText.minuteOfDay(typed) { return clockText(minute: minute) }
            guard let hour = try intent.whole("time", 0...23) else { throw .notUnderstood }
            return clockText(minute: hour * 60)
        }
        let part = try intent.text("part").map { TypedText.word($0.replacing(".", with: "")) }
        let minute = try intent.whole("minute", 0...59)
        guard var hour = try intent.whole("hour", part == nil ? 0...23 : 1...12) else {
            guard part == nil, minute == nil else { throw .notUnderstood }
            return nil
        }
        switch part {
        case nil: break
        case "am"?, "a_m"?: hour %= 12
        case "pm"?, "p_m"?: hour = hour % 12 + 12
        default: throw .notUnderstood
        }
        return clockText(minute: hour * 60 + (minute ?? 0))
    }
}
