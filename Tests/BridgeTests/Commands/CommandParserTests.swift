import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import TestSupport
import Testing

@testable import Bridge

/// A house with a charger of 11 kW in the garage and a plain one at the street.
func houseWithCars() -> SiteState {
    house().changed { house in
        var garage = Loadpoint(id: "garage")
        garage.pluggedIn = true
        garage.minPowerW = 1_380
        garage.maxPowerW = 11_000
        garage.phases = 3
        garage.voltageV = 230
        garage.manualActive = false
        garage.currentSoc = 0.5
        garage.surplusOnly = false
        var street = garage
        street.id = "Gatan Norr"
        street.pluggedIn = false
        house.cars = [garage, street].map { loadpoint in
            CarState(
                loadpoint: loadpoint, readAt: morning, isCurrent: true,
                level: CarLevel(soc: 0.5, origin: .car, at: morning), goal: nil,
                readiness: Readiness(state: .noGoal), charging: .idle)
        }
    }
}

@Suite struct CommandParserTests {
    func parser(
        _ change: (inout SiteState) -> Void = { _ in }, open: Set<CommandName> = Set(CommandName.allCases),
        isReadOnly: Bool = false
    ) -> CommandParser {
        CommandParser(
            household: HouseholdZone(boxZone: "Europe/Stockholm", configured: .utc),
            isReadOnly: isReadOnly, open: open, site: houseWithCars().changed(change))
    }

    let now = Moment(monotonic: .seconds(1_000), wall: morning)

    func parse(_ path: String, _ message: Message, _ parser: CommandParser? = nil) -> CommandParser.Result {
        (parser ?? self.parser()).parse(
            message, topic: CommandTopic(path: path), ownID: "own", now: now)
    }

    func parse(_ path: String, _ payload: String) -> CommandParser.Result {
        parse(path, Message("ftw/home/\(path)", payload))
    }

    func intent(_ result: CommandParser.Result) -> Intent? {
        if case .command(let command) = result { command.intent } else { nil }
    }
    func code(_ result: CommandParser.Result) -> CommandCode? {
        if case .refused(let report, _) = result { report.code } else { nil }
    }
    func text(_ result: CommandParser.Result) -> String? {
        if case .refused(let report, _) = result { report.detail?.en } else { nil }
    }

    @Test(arguments: [
        ("62", 0.62), ("62 %", 0.62), ("62%", 0.62), ("62,5", 0.625), (" 62.5\n", 0.625), ("0", 0),
        ("100", 1),
        (#"{"value":62}"#, 0.62), (#"{"value":"62 %","id":"a","from":"kitchen"}"#, 0.62), ("\"62\"", 0.62),
    ])
    func levelsAreTakenAsAPersonTypesThem(payload: String, soc: Double) {
        #expect(intent(parse("car/garage/level/set", payload)) == .level(.exactly(soc)))
    }

    @Test(arguments: [
        ("101", CommandCode.outOfRange), ("-1", .outOfRange), ("1e3", .badPayload), ("abc", .badPayload),
        ("", .badPayload), ("+5", .badPayload), ("0.62", .badPayload), ("62 kW", .badPayload),
        ("1,000", .badPayload), ("[62]", .badPayload), ("{\"value\":null}", .badPayload),
        ("{", .badPayload), ("{\"value\":true}", .badPayload), ("nan", .badPayload), ("inf", .badPayload),
    ])
    func whatIsNoLevelIsRefusedWithWhatWasFound(payload: String, expected: CommandCode) {
        #expect(code(parse("car/garage/level/set", payload)) == expected)
    }

    @Test func aRefusalNamesWhatWasFoundAndWhatIsAllowed() {
        #expect(
            text(parse("car/garage/level/set", "full"))
                == "Not done: found \"full\"; a level is a number from 0 to 100 %, such as 62.")
        #expect(
            text(parse("car/garage/control/set", #"{"value":"charge_now","power":"22 kW"}"#))
                == "Not done: found \"22 kW\"; power is from 1380 to 11000 W, such as 6000 or 6 kW.")
        #expect(
            text(parse("car/cellar/level/set", "50"))
                == "Not done: found \"cellar\"; the chargers are garage, \(TopicLevel("Gatan Norr").text).")
    }

    @Test(arguments: [("+5", 0.05), ("-5", -0.05), ("5", 0.05), ("−10 %", -0.1), (#"{"value":5}"#, 0.05)])
    func stepsHaveASign(payload: String, step: Double) {
        #expect(intent(parse("car/garage/level/adjust", payload)) == .level(.step(step)))
    }

    @Test(arguments: [
        ("charge_now", Intent.ControlWish.chargeNow(powerW: nil, until: nil)),
        ("Charge now", .chargeNow(powerW: nil, until: nil)),
        ("Ladda nu", .chargeNow(powerW: nil, until: nil)), ("pause", .pause), ("PAUSED", .pause),
        ("plan", .plan),
        (#"{"value":"charge_now","power":4140}"#, .chargeNow(powerW: 4_140, until: nil)),
        (#"{"value":"charge_now","power":"7,4 kW"}"#, .chargeNow(powerW: 7_400, until: nil)),
        (#"{"value":"charge_now","minutes":20}"#, .chargeNow(powerW: nil, until: morning + 1_200)),
        (#"{"value":"charge_now","until":"11:30"}"#, .chargeNow(powerW: nil, until: morning + 5_400)),
        (#"{"value":"charge_now","until":"07:00"}"#, .chargeNow(powerW: nil, until: morning + 75_600)),
        (
            #"{"value":"charge_now","until":"2026-11-30T12:00:00+01:00"}"#,
            .chargeNow(powerW: nil, until: morning + 7_200)
        ),
    ])
    func controlTakesWordsAndOptions(payload: String, wish: Intent.ControlWish) {
        #expect(intent(parse("car/garage/control/set", payload)) == .control(wish))
    }

    @Test(arguments: [
        "on", "ON", "charge", "0", #"{"value":"pause","minutes":20}"#, #"{"value":"plan","power":100}"#,
        #"{"value":"charge_now","minutes":5,"until":"07:00"}"#, #"{"value":"charge_now","minutes":0}"#,
        #"{"value":"charge_now","minutes":1441}"#, #"{"value":"charge_now","until":"soon"}"#,
        #"{"value":"charge_now","until":"2026-11-29T12:00:00+01:00"}"#, #"{"value":"charge_now","power":0}"#,
        #"{"value":"charge_now","power":1000}"#, #"{"value":"charge_now","power":"4 A"}"#,
    ])
    func whatIsNoControlIsRefused(payload: String) {
        #expect(intent(parse("car/garage/control/set", payload)) == nil)
    }

    /// A name that is not known may have been meant to be one that matters.
    @Test(arguments: [
        ("car/garage/control/set", #"{"value":"charge_now","minuts":30}"#, "minuts"),
        ("car/garage/control/set", #"{"value":"charge_now","hours":1}"#, "hours"),
        ("car/garage/boost/set", #"{"value":"ON","minute":5}"#, "minute"),
        ("car/garage/boost/set", #"{"minutes":5,"min_batery":90}"#, "min_batery"),
        ("car/garage/level/set", #"{"value":62,"expire_s":5}"#, "expire_s"),
        ("car/garage/level/adjust", #"{"value":"+5","level":5}"#, "level"),
        ("car/garage/surplus_only/set", #"{"value":true,"until":"07:00"}"#, "until"),
        ("car/garage/goal/set", #"{"value":80,"bye":"07:00"}"#, "bye"),
        ("mode/set", #"{"value":"idle","minutes":5}"#, "minutes"),
    ])
    func aMisspeltOptionIsRefusedByName(path: String, payload: String, name: String) {
        guard case .refused(let report, _) = parse(path, payload) else {
            Issue.record("\(payload) was taken")
            return
        }
        #expect(report.code == .badPayload)
        #expect(report.detail?.en.contains("\"\(name)\"") == true, "\(report.detail?.en ?? "nothing")")
    }

    /// An automation that is a minute late does not mean tomorrow.
    @Test(arguments: [("09:58", false), ("10:00", false), ("09:00", false), ("08:59", true), ("10:01", true)])
    func aTimeOfDayThatHasJustPassedIsNotTomorrows(until: String, isTaken: Bool) {
        let result = parse("car/garage/control/set", #"{"value":"charge_now","until":"\#(until)"}"#)
        #expect((intent(result) != nil) == isTaken)
        if !isTaken { #expect(code(result) == .outOfRange) }
    }

    static func goal(_ soc: Double?, _ minute: Int?, _ days: Int?, _ recurring: Bool?) -> Intent {
        .goal(.change(soc: soc, minuteOfDay: minute, days: days, isRecurring: recurring))
    }

    @Test(arguments: [
        ("80", goal(0.8, nil, nil, nil)), ("07:00", goal(nil, 420, nil, nil)),
        ("80 % by 7:00 weekdays", goal(0.8, 420, 31, true)), ("80 07.00 mån-fre", goal(0.8, 420, 31, true)),
        ("once", goal(nil, nil, nil, false)), ("every day", goal(nil, nil, 0, true)),
        ("vardagar", goal(nil, nil, 31, true)), ("mon, wed sun", goal(nil, nil, 1 + 4 + 64, true)),
        ("clear", .goal(.clear)), (#"{"clear":true}"#, .goal(.clear)),
        (#"{"value":80,"by":"06:00"}"#, goal(0.8, 360, nil, nil)),
        (#"{"value":"70 %","days":"mon"}"#, goal(0.7, nil, 1, true)),
        (#"{"value":60,"by":"06:00","days":"mon","id":"x","expires_s":5}"#, goal(0.6, 360, 1, true)),
        (#"{"level":80,"by":"05:10","days":["mon","tue"],"id":"g"}"#, goal(0.8, 310, 3, true)),
        (#"{"value":{"level":"80 %","once":true}}"#, goal(0.8, nil, nil, false)),
        (#"{"by":"07:00:00"}"#, goal(nil, 420, nil, nil)), (#"{"days":"helger"}"#, goal(nil, nil, 96, true)),
        (#"{"value":75}"#, goal(0.75, nil, nil, nil)),
        // What a template fills with nothing is not there.
        (#"{"level":80,"by":"07:00","days":null,"once":null,"clear":null}"#, goal(0.8, 420, nil, nil)),
        (#"{"level":null,"by":"07:00"}"#, goal(nil, 420, nil, nil)),
    ])
    func goalsAreWholeOrInParts(payload: String, expected: Intent) {
        #expect(intent(parse("car/garage/goal/set", payload)) == expected)
    }

    @Test(arguments: [
        "", "{}", "0", "101", "25:00", "80 80", "someday", #"{"level":0}"#, #"{"by":7}"#, #"{"by":"7"}"#,
        #"{"days":[]}"#, #"{"days":"mon","once":true}"#, #"{"clear":false}"#, #"{"clear":true,"level":80}"#,
        #"{"levle":80}"#, #"{"value":true}"#, "null", #"{"value":null}"#, #"{"value":null,"level":70}"#,
        #"{"value":"80 % 07:00","by":"06:00"}"#, #"{"value":80,"bye":"06:00"}"#,
        #"{"value":80,"level":70}"#, #"{"value":{"level":80},"by":"06:00"}"#,
        #"{"value":"clear","by":"06:00"}"#,
    ])
    func whatIsNoGoalIsRefused(payload: String) {
        #expect(intent(parse("car/garage/goal/set", payload)) == nil)
    }

    @Test(arguments: [
        ("surplus_only", "ON", Intent.surplusOnly(true)), ("surplus_only", "off", .surplusOnly(false)),
        ("surplus_only", #"{"value":true}"#, .surplusOnly(true)),
        ("boost", "OFF", .boost(.cancel)),
        ("boost", "ON", .boost(.start(seconds: 3_600, minBatterySoc: 0.5))),
        ("boost", "90 min", .boost(.start(seconds: 5_400, minBatterySoc: 0.5))),
        (
            "boost", #"{"value":"ON","minutes":30,"min_battery":"20 %"}"#,
            .boost(.start(seconds: 1_800, minBatterySoc: 0.2))
        ),
        (
            "boost", #"{"value":"ON","minutes":null,"min_battery":null}"#,
            .boost(.start(seconds: 3_600, minBatterySoc: 0.5))
        ),
    ])
    func switchesAndBoost(name: String, payload: String, expected: Intent) {
        #expect(intent(parse("car/garage/\(name)/set", payload)) == expected)
    }

    @Test(arguments: [
        ("surplus_only", "maybe"), ("boost", "0.5"), ("boost", "241"), ("boost", "often"),
        ("boost", #"{"value":"ON","min_battery":4}"#), ("boost", #"{"min_battery":40}"#),
        ("boost", #"{"value":45,"minutes":30}"#), ("boost", #"{"minutes":null}"#),
        // An hour is no minute, and neither is a percent.
        ("boost", "1h"), ("boost", #"{"minutes":"1h"}"#), ("boost", #"{"minutes":"30 %"}"#),
        ("boost", #"{"value":"ON","min_battery":"20 min"}"#),
    ])
    func whatIsNoSwitchIsRefused(name: String, payload: String) {
        #expect(intent(parse("car/garage/\(name)/set", payload)) == nil)
    }

    @Test(arguments: [("planner_self", "planner_self"), ("Self use", "planner_self"), ("IDLE", "idle")])
    func aModeIsAKeyOrALabelOfTheBox(payload: String, key: String) {
        #expect(intent(parse("mode/set", payload)) == .mode(key))
    }

    @Test func anUnknownModeIsRefusedUnlessTheBoxNamedNone() {
        #expect(code(parse("mode/set", "party")) == .outOfRange)
        let message = Message("ftw/home/mode/set", "party")
        #expect(intent(parse("mode/set", message, parser { $0.mode = nil })) == .mode("party"))
    }

    @Test(arguments: [
        "car/garage/level", "car/garage/power/set", "car/garage/mode/set", "car/garage/control/adjust",
        "car//level/set", "mode/adjust", "car/garage/level/set/x",
    ])
    func elsewhereThereIsNoCommand(path: String) {
        #expect(CommandTopic(path: path) == nil)
        #expect(code(parse(path, "1")) == .unknownCommand)
    }

    @Test func aRetainedMessageIsRefusedWhateverItSays() {
        let path = "car/garage/control/set"
        let message = Message("ftw/home/\(path)", #"{"id":"old","value":"charge_now"}"#, retained: true)
        guard case .refused(let report, let isOurID) = parse(path, message) else {
            Issue.record("not refused")
            return
        }
        #expect(report.id == "old" && !isOurID)
        #expect(report.stage == .refused && report.code == .retained)
        #expect(report.loadpoint == "garage")
    }

    @Test func whoMayOnlyLookIsTold() {
        let message = Message("ftw/home/car/garage/level/set", "50")
        let path = "car/garage/level/set"
        #expect(code(parse(path, message, parser(isReadOnly: true))) == .readOnly)
        #expect(code(parse(path, message, parser(open: [.control]))) == .notAllowed)
        #expect(code(parse(path, message, parser { $0.box?.role = "viewer" })) == .notAllowed)
        #expect(code(parse(path, message, parser { $0.link.state = .readonly })) == .notAllowed)
        #expect(code(parse(path, message, parser { $0.cars = [] })) == .noCharger)
        #expect(code(parse(path, message, parser { $0.cars = nil })) == .starting)
        #expect(
            code(
                parse(
                    path, message,
                    parser {
                        $0.cars = nil
                        $0.link.state = .lost
                    })) == .boxUnreachable)
    }

    @Test func theDeadlineIsTheEarliestOfThree() {
        func deadline(_ payload: String, expiry: UInt32? = nil) -> Duration? {
            let path = "car/garage/control/set"
            var message = Message("ftw/home/\(path)", payload)
            message.expirySeconds = expiry
            guard case .command(let command) = parse(path, message) else { return nil }
            return command.deadline - now.monotonic
        }
        #expect(deadline("pause") == .seconds(30))
        #expect(deadline("pause", expiry: 7) == .seconds(7))
        #expect(deadline("pause", expiry: 600) == .seconds(30))
        #expect(deadline(#"{"value":"pause","expires_s":10}"#) == .seconds(10))
        #expect(deadline(#"{"value":"pause","expires_s":600}"#) == .seconds(30))
        #expect(
            deadline(#"{"value":"pause","at":"2026-11-30T09:59:55+01:00","expires_s":12}"#) == .seconds(7))
        #expect(deadline(#"{"value":"pause","at":1796029190}"#) == .seconds(20))
        #expect(deadline(#"{"value":"pause","at":"2026-11-30T08:00:00+01:00"}"#) == nil)
        #expect(deadline(#"{"value":"pause","expires_s":0}"#) == nil)
        #expect(deadline(#"{"value":"pause","expires_s":"5 s"}"#) == .seconds(5))
        #expect(deadline(#"{"value":"pause","expires_s":"5 min"}"#) == nil)
        // A clock that is a little ahead makes nothing younger than it can be; one that is far
        // ahead tells no age at all, and a time is no appointment.
        #expect(deadline(#"{"value":"pause","at":"2026-11-30T10:00:50+01:00"}"#) == .seconds(30))
        let ahead = parse("car/garage/control/set", #"{"value":"pause","at":"2026-11-30T10:01:30+01:00"}"#)
        #expect(code(ahead) == .badPayload)
        #expect(text(ahead)?.contains("2026-11-30T10:00:00+01:00") == true)
        #expect(deadline(#"{"value":"charge_now","at":"2026-12-01T02:00:00+01:00"}"#) == nil)
        #expect(deadline(#"{"value":"pause","at":1e300}"#) == nil)
        let late = parse("car/garage/control/set", #"{"value":"pause","at":1796029100,"expires_s":60}"#)
        #expect(code(late) == .expired)
        if case .refused(let report, _) = late { #expect(report.stage == .expired) }
    }

    /// Frozen or suspended, the bridge finds commands that waited, and each looks new.
    @Test func whatLayUnreadWhileEverythingStoodStillIsAsOldAsItMayBe() {
        func left(_ payload: String, waited: Duration, expiry: UInt32? = nil) -> Duration? {
            let path = "car/garage/control/set"
            var message = Message("ftw/home/\(path)", payload)
            message.expirySeconds = expiry
            message.waited = waited
            guard case .command(let command) = parse(path, message) else { return nil }
            return command.deadline - now.monotonic
        }
        #expect(left("charge_now", waited: .seconds(22)) == .seconds(8))
        #expect(left("charge_now", waited: .seconds(30)) == nil)
        #expect(left("charge_now", waited: .seconds(22), expiry: 20) == nil)
        #expect(left(#"{"value":"charge_now","expires_s":10}"#, waited: .seconds(10)) == nil)
        // The sender's own clock is not counted twice.
        #expect(
            left(#"{"value":"pause","at":"2026-11-30T09:59:55+01:00","expires_s":12}"#, waited: .seconds(4))
                == .seconds(7))
    }

    @Test func idsAreShortAndPrintable() {
        func id(_ payload: String) -> (String, Bool)? {
            guard case .command(let command) = parse("car/garage/level/set", payload) else { return nil }
            return (command.id, command.isOurID)
        }
        #expect(id("50").map { $0 == ("own", true) } == true)
        #expect(id(#"{"value":50,"id":"köket 7"}"#).map { $0 == ("köket 7", false) } == true)
        #expect(id(#"{"value":50,"id":17}"#).map { $0 == ("17", false) } == true)
        #expect(id("{\"value\":50,\"id\":\"\(String(repeating: "x", count: 64))\"}") != nil)
        #expect(id("{\"value\":50,\"id\":\"\(String(repeating: "x", count: 65))\"}") == nil)
        for bad in [#""""#, #""a\nb""#, #""\u0000""#, "[]", "true", #""\u202e""#, "1.5"] {
            #expect(id("{\"value\":50,\"id\":\(bad)}") == nil, "\(bad)")
        }
    }

    @Test func aCommandIsWhole() {
        var message = Message(
            "ftw/home/car/garage/level/set", #"{"id":"a1","value":"62 %","from":"kitchen"}"#)
        message.responseTopic = "answers/me"
        message.correlationData = [1, 2]
        #expect(
            parse("car/garage/level/set", message)
                == .command(
                    Command(
                        id: "a1", from: "kitchen", topic: "ftw/home/car/garage/level/set",
                        loadpoint: "garage",
                        intent: .level(.exactly(0.62)), requested: "62 %", deadline: .seconds(1_030),
                        responseTopic: "answers/me", correlationData: [1, 2])))
    }

    // MARK: Whatever arrives

    @Test func tooLongTooDeepAndNoTextAreRefused() {
        let topic = "ftw/home/car/garage/goal/set"
        let long = Message(topic, Array(repeating: UInt8(ascii: "1"), count: 4_097))
        #expect(code(parse("car/garage/goal/set", long)) == .badPayload)
        #expect(code(parse("car/garage/goal/set", Message(topic, [0xFF, 0xFE]))) == .badPayload)
        let deep = String(repeating: "{\"value\":", count: 400) + "1" + String(repeating: "}", count: 400)
        #expect(code(parse("car/garage/goal/set", deep)) == .badPayload)
    }

    static let good = [
        "62 %", "+5", "charge_now", "80 % 07:00 mon-fri", "ON",
        #"{"id":"a","value":"charge_now","power":"7,4 kW","until":"07:00","expires_s":10,"at":"2026-11-30T09:59:59+01:00"}"#,
        #"{"id":"b","level":80,"by":"07:00","days":["mon","tue"],"once":false}"#,
        #"{"value":"ON","minutes":30,"min_battery":"20 %"}"#,
    ]
    static let paths = [
        "car/garage/level/set", "car/garage/level/adjust", "car/garage/control/set", "car/garage/goal/set",
        "car/garage/surplus_only/set", "car/garage/boost/set", "mode/set", "car/x/level/set",
    ]

    /// Every result has an id and either a command of sane numbers or a reason.
    func check(_ path: String, _ payload: [UInt8], _ parser: CommandParser) -> Bool {
        let result = parser.parse(
            Message("ftw/home/\(path)", payload), topic: CommandTopic(path: path), ownID: "own", now: now)
        switch result {
        case .refused(let report, _): return report.code != nil && report.stage.isFinal && !report.id.isEmpty
        case .command(let command):
            guard command.deadline > now.monotonic, command.deadline <= now.monotonic + .seconds(30) else {
                return false
            }
            switch command.intent {
            case .level(.exactly(let soc)): return (0...1).contains(soc)
            case .level(.step(let step)): return (-1...1).contains(step)
            case .control(.chargeNow(let power, let until)):
                return power.map { (1_380...11_000).contains($0) } ?? true
                    && until.map { $0 > morning && $0 < morning + 90_001 } ?? true
            case .goal(.change(let soc, let minute, let days, _)):
                return soc.map { $0 > 0 && $0 <= 1 } ?? true
                    && minute.map { (0..<1_440).contains($0) } ?? true
                    && days.map { (0...127).contains($0) } ?? true
            case .boost(.start(let seconds, let soc)):
                return (60...14_400).contains(seconds) && (0.05...1).contains(soc)
            default: return true
            }
        }
    }

    @Test func everyPrefixIsAnswered() {
        let parser = parser()
        for payload in Self.good {
            let bytes = Array(payload.utf8)
            for length in 0...bytes.count {
                for path in Self.paths { #expect(check(path, Array(bytes.prefix(length)), parser)) }
            }
        }
    }

    @Test func aHundredThousandMutationsAreAnswered() {
        let parser = parser()
        var dice = SeededDice(4)
        var strange = 0
        for _ in 0..<100_000 {
            var bytes = Array(Self.good[Int.random(in: 0..<Self.good.count, using: &dice)].utf8)
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                let at = Int.random(in: 0...max(0, bytes.count - 1), using: &dice)
                switch Int.random(in: 0...3, using: &dice) {
                case 0 where !bytes.isEmpty: bytes[at] = UInt8.random(in: 0...255, using: &dice)
                case 1 where !bytes.isEmpty: bytes.remove(at: at)
                case 2: bytes.insert(UInt8.random(in: 32...126, using: &dice), at: min(at, bytes.count))
                default: bytes.insert(contentsOf: Array("9999999999".utf8), at: min(at, bytes.count))
                }
            }
            let path = Self.paths[Int.random(in: 0..<Self.paths.count, using: &dice)]
            if !check(path, bytes, parser) { strange += 1 }
        }
        #expect(strange == 0)
    }
}
