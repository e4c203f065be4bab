import EnergyModel
import JSONText
import MQTTTypes

/// Follows conversations: who asked what, which question of ours is open, and
/// which command's end somebody waits to hear.
///
/// Pure: the machine feeds it what was heard and what came of it, and does what
/// it says. Nothing is claimed while a command is under way; one whose end is
/// not known in time is said to be just that.
struct VoiceDesk {
    /// Who asked, and where and how the answer is to be said.
    struct Asker: Equatable {
        var sessionID: String?
        var siteID: String
        /// As the sentence had it.
        var lang: String?
        var language: Language
    }

    /// A car as people name it.
    struct Car: Equatable {
        /// The loadpoint's id at the box.
        var id: String
        /// Its topic level.
        var level: String
        /// What the box calls the car; `nil` when it knows none.
        var name: String?
    }

    enum Action: Equatable {
        case say(String, Asker)
        /// Ask back, and go on listening; only these intents are wanted then.
        case askBack(String, Asker, intents: [String])
        /// Answer from what is known of that car.
        case answer(VoiceWish, car: String, Asker)
        /// Carry out as any other command, and tell ``follow(_:_:)`` under which id.
        case command(VoiceIntent, car: String, topic: String, payload: JSONValue, Asker)
    }

    /// A command whose end somebody waits for.
    struct Pending: Equatable {
        var intent: VoiceIntent
        var asker: Asker
        /// The car's name, when there are several.
        var car: String?
        var until: Duration
    }

    /// A conversation in which we asked "which car?".
    private struct Open {
        var intent: HermesIntent
        var until: Duration
    }

    /// Commands end within 15 s of the box's receipt; a conversation of Rhasspy lasts 30 s.
    static let patience = Duration.seconds(20)
    /// How long a question of ours stands.
    static let openFor = Duration.seconds(60)
    /// The most commands and the most questions that are followed at a time.
    static let limit = 32

    let settings: VoiceSettings
    let configured: Language
    /// This site's id and name.
    let homes: [String]
    private(set) var pending: [String: Pending] = [:]
    private var open: [String: Open] = [:]

    init(settings: VoiceSettings, language: Language, homes: [String]) {
        self.settings = settings
        configured = language
        self.homes = homes
    }

    // MARK: What was heard

    /// - Parameter cars: The loadpoints in the box's order; `nil`: the box has not told yet.
    mutating func heard(_ intent: HermesIntent, cars: [Car]?, now: Moment) -> [Action] {
        forget(now)
        let asker = Asker(
            sessionID: intent.sessionID, siteID: intent.siteID, lang: intent.lang,
            language: intent.language(or: configured))
        let words = VoiceWords(asker.language)
        do throws(VoiceProblem) {
            guard try isMeant(intent) else { return [] }
            if intent.intent == .cancel || intent.intent == .whichCar {
                return try goOn(intent, asker, cars: cars, now: now)
            }
            if let home = try intent.text("home"), !isOurs(home) {
                return [.say(words.noHome(home), asker)]
            }
            let wish = try VoiceWish(intent)
            guard let cars else { return [.say(words.notYet, asker)] }
            return try settle(intent, wish, asker, cars: cars, now: now)
        } catch {
            return [.say(words.problem(error), asker)]
        }
    }

    /// Whether this site is to answer at all. In a household of several each hears everything.
    private func isMeant(_ intent: HermesIntent) throws(VoiceProblem) -> Bool {
        switch intent.intent {
        case .whichCar, .cancel:
            if let session = intent.sessionID, open[session] != nil { return true }
            return settings.otherHomes.isEmpty
        default: break
        }
        guard let home = try? intent.text("home") else { return settings.isFirst }
        if isOurs(home) { return true }
        return settings.isFirst && !settings.otherHomes.contains { Self.isSame($0, home) }
    }

    private func isOurs(_ home: String) -> Bool { homes.contains { Self.isSame($0, home) } }

    /// The answer to a question of ours.
    private mutating func goOn(
        _ intent: HermesIntent, _ asker: Asker, cars: [Car]?, now: Moment
    ) throws(VoiceProblem) -> [Action] {
        let words = VoiceWords(asker.language)
        guard let session = intent.sessionID, let asked = open.removeValue(forKey: session) else {
            return [.say(words.nothingAsked, asker)]
        }
        guard intent.intent == .whichCar, let cars, let named = try intent.text("car") else {
            return [.say(words.leftAlone, asker)]
        }
        let wish = try VoiceWish(asked.intent)
        let found = Self.cars(named, among: cars)
        guard found.count == 1, let car = found.first else {
            return [.say(words.noCar(named, Self.spoken(cars)) + " " + words.leftAlone, asker)]
        }
        return carryOut(asked.intent, wish, car, asker)
    }

    /// Finds the car, or asks for it.
    private mutating func settle(
        _ intent: HermesIntent, _ wish: VoiceWish, _ asker: Asker, cars: [Car], now: Moment
    ) throws(VoiceProblem) -> [Action] {
        let words = VoiceWords(asker.language)
        guard let first = cars.first else { return [.say(words.noCharger, asker)] }
        guard let named = try intent.text("car") else {
            return cars.count == 1
                ? carryOut(intent, wish, first, asker) : askWhich(intent, cars, asker, now: now)
        }
        let found = Self.cars(named, among: cars)
        if found.count == 1, let car = found.first { return carryOut(intent, wish, car, asker) }
        if found.count > 1 { return askWhich(intent, found, asker, now: now) }
        return [.say(words.noCar(named, Self.spoken(cars)), asker)]
    }

    private mutating func askWhich(
        _ intent: HermesIntent, _ cars: [Car], _ asker: Asker, now: Moment
    ) -> [Action] {
        let words = VoiceWords(asker.language)
        let names = Self.spoken(cars)
        guard let session = intent.sessionID else { return [.say(words.nameTheCar(names), asker)] }
        guard open.count < Self.limit || open[session] != nil else { return [.say(words.busy, asker)] }
        open[session] = Open(intent: intent, until: now.monotonic + Self.openFor)
        // The recognizer knows intents by their whole names.
        let author: Substring = intent.name.dropLast(settings.prefix.count + intent.intent.rawValue.count)
        let wanted = [VoiceIntent.whichCar, .cancel].map { "\(author)\(settings.prefix)\($0.rawValue)" }
        return [.askBack(words.whichCar(names), asker, intents: wanted)]
    }

    private func carryOut(_ intent: HermesIntent, _ wish: VoiceWish, _ car: Car, _ asker: Asker) -> [Action] {
        switch wish {
        case .level, .ready: return [.answer(wish, car: car.id, asker)]
        case .command(let kind, let topic, var members):
            guard pending.count < Self.limit else { return [.say(VoiceWords(asker.language).busy, asker)] }
            members["from"] = "voice"
            if let session = asker.sessionID {
                members["id"] = .string(Self.id(session, intent.name, car.id, members))
            }
            return [
                .command(
                    kind, car: car.id, topic: "car/\(car.level)/\(topic)", payload: .object(members), asker)
            ]
        }
    }

    /// A conversation's id is its own, so what a broker delivers twice is the
    /// same command and has its first answer.
    private static func id(
        _ session: String, _ name: String, _ car: String, _ members: [String: JSONValue]
    ) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for part in [session, name, car, JSONValue.object(members).text] {
            for byte in part.utf8 + [0] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        let digits = String(hash, radix: 16)
        return "voice-" + String(repeating: "0", count: 16 - digits.count) + digits
    }

    // MARK: Names

    /// What we call each of several cars: its own name, or the charger's where
    /// it has none or another is called the same.
    static func spoken(_ cars: [Car]) -> [String] {
        cars.map { car in
            guard let name = car.name, cars.filter({ $0.name.map { isSame($0, name) } ?? false }).count == 1
            else { return car.id }
            return name
        }
    }

    /// The cars that a spoken name may mean: those called so, else those of whose name it is a part.
    static func cars(_ said: String, among cars: [Car]) -> [Car] {
        let same = cars.filter { car in
            [car.id, car.level, car.name].contains { $0.map { isSame($0, said) } ?? false }
        }
        if !same.isEmpty { return same }
        let wanted = words(said)
        guard !wanted.isEmpty else { return [] }
        return cars.filter { car in
            [car.id, car.name].contains { name in name.map { wanted.isSubset(of: words($0)) } ?? false }
        }
    }

    private static func isSame(_ a: String, _ b: String) -> Bool { fold(a) == fold(b) && !fold(a).isEmpty }

    private static func words(_ text: String) -> Set<String> {
        Set(fold(text).split(separator: " ").map(String.init))
    }

    /// Names as a recognizer may write them: without case and marks.
    private static func fold(_ text: String) -> String {
        text.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: " ")
    }

    // MARK: What came of it

    /// A command went on its way; its end is to be told to `asker`.
    mutating func follow(_ id: String, _ waiting: Pending) {
        if pending[id] == nil { pending[id] = waiting }
    }

    /// A command ended.
    ///
    /// - Returns: Who waited for it; `nil` when nobody does any more.
    mutating func ended(_ id: String) -> Pending? { pending.removeValue(forKey: id) }

    /// Commands of which nothing was heard in time.
    mutating func overdue(_ now: Moment) -> [Pending] {
        let late = pending.filter { $0.value.until <= now.monotonic }.sorted { $0.key < $1.key }
        for (id, _) in late { pending[id] = nil }
        return late.map(\.value)
    }

    var nextDeadline: Duration? { pending.values.map(\.until).min() }

    private mutating func forget(_ now: Moment) { open = open.filter { $0.value.until > now.monotonic } }
}
