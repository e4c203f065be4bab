import BoxSimulator
import EnergyModel
import FoundationEssentials

/// The house's time as it is written and read.
enum HouseTimeText {
    /// RFC 3339 with its zone; years 2000 to 2099, for which prices and zones mean something.
    static func date(_ text: String) -> Date? {
        guard let date = instant(rfc3339: text) else { return nil }
        return (946_684_800..<4_102_444_800).contains(date.timeIntervalSince1970) ? date : nil
    }
}

extension ConsoleParser {
    static func box(_ words: inout ConsoleWords) throws(ConsoleFault) -> ConsoleCommand.BoxChange {
        switch try words.choice(["restart", "away", "back", "booting", "ready", "vintage", "consent", "mute"])
        {
        case "restart": return .restart
        case "away": return .away
        case "back": return .back
        case "booting": return .booting(try words.whole("percent", 0...100))
        case "ready": return .ready
        case "consent": return .consent(try words.isOn())
        case "mute": return .mute(try words.isOn())
        default:
            let name = try words.choice(BoxVintage.allCases.map { "\($0)" })
            return .vintage(BoxVintage.allCases.first { "\($0)" == name } ?? .soc)
        }
    }

    /// - Returns: `nil` for `none`.
    static func fate(_ words: inout ConsoleWords) throws(ConsoleFault) -> CommandFate? {
        let fates = [
            "lost", "answers_lost", "receipt_lost", "result_lost", "result_late", "slow", "unconfirmed",
            "refused",
            "refused_at_execution", "overtaken", "none",
        ]
        switch try words.choice(fates) {
        case "lost": return .lost
        case "answers_lost": return .answersLost
        case "receipt_lost": return .receiptLost
        case "result_lost": return .resultLost
        case "result_late": return .resultLate(beats: try words.whole("how many seconds", 1...60))
        case "slow": return .slow(beats: try words.whole("how many seconds", 1...60))
        case "unconfirmed": return .unconfirmed
        case "refused": return .refused(try code(&words))
        case "refused_at_execution": return .refusedAtExecution(try code(&words))
        case "overtaken": return .overtaken(by: try words.number("what is read back", -1_000_000...1_000_000))
        default: return nil
        }
    }

    /// Known or not, as long as it looks like one: newer boxes have newer codes.
    private static func code(_ words: inout ConsoleWords) throws(ConsoleFault) -> String {
        let before = words.place
        let word = try words.word("a code such as E_CONFLICT")
        let isPlain = word.utf8.allSatisfy {
            (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
        }
        guard isPlain, word.hasPrefix("E_"), (3...40).contains(word.utf8.count) else {
            throw words.wrong(before, word, "give a code such as E_CONFLICT")
        }
        return word
    }

    static func api(_ words: inout ConsoleWords) throws(ConsoleFault) -> ConsoleCommand {
        switch try words.choice(["fault", "busy", "delay"]) {
        case "busy": return .busy(try words.whole("how many calls", 0...1_000))
        case "delay": return .delay(beats: try words.whole("how many seconds", 0...60))
        default: break
        }
        let before = words.place
        let path = try words.word("a path such as /api/loadpoints")
        guard path.hasPrefix("/api/"), path.utf8.count <= 200 else {
            throw words.wrong(before, path, "give a path such as /api/loadpoints")
        }
        switch try words.choice(["truncated", "garbled", "foreign", "refused", "status", "none"]) {
        case "truncated": return .fault(path: path, .truncated)
        case "garbled": return .fault(path: path, .garbled)
        case "foreign": return .fault(path: path, .foreign)
        case "refused": return .fault(path: path, .refused)
        case "status": return .fault(path: path, .status(try words.whole("an HTTP status", 400...599)))
        default: return .fault(path: path, nil)
        }
    }

    static func prices(_ words: inout ConsoleWords) throws(ConsoleFault) -> ConsoleCommand.PriceChange {
        switch try words.choice(["none", "known", "negative", "today", "tomorrow", "published"]) {
        case "none": return .none
        case "known": return .known
        case "negative": return .negative
        case "today": return .day(ahead: 0, spot: try spot(&words))
        case "tomorrow": return .day(ahead: 1, spot: try spot(&words))
        default:
            switch try words.choice(["yes", "no", "auto"]) {
            case "yes": return .published(true)
            case "no": return .published(false)
            default: return .published(nil)
            }
        }
    }

    private static func spot(_ words: inout ConsoleWords) throws(ConsoleFault) -> [Double] {
        try words.numbers("öre per kWh", -10_000...10_000)
    }
}
