import BoxSimulator
import FoundationEssentials
import TestSupport
import Testing

@testable import Daemon

@Suite struct ConsoleParserTests {
    private func fault(_ line: String) -> String? {
        do throws(ConsoleFault) {
            _ = try ConsoleParser.parse(line)
            return nil
        } catch {
            return error.text
        }
    }

    static let understood: [(String, ConsoleCommand)] = [
        ("help", .help(nil)), ("help car", .help("car")), ("where", .place), ("link", .link(.owner)),
        ("link viewer", .link(.viewer)), ("clock", .clock(nil)),
        ("clock 2026-10-25T00:00:00+02:00", .clock(Date(timeIntervalSince1970: 1_792_879_200))),
        ("speed 60", .speed(60)), ("speed 1.5", .speed(1.5)), ("state", .state), ("log clear", .clearLog),
        ("quit", .quit), ("  quit\t", .quit),
        ("car plug", .car(loadpoint: nil, .plug(true))),
        ("car garage unplug", .car(loadpoint: "garage", .plug(false))),
        ("car situation everyday", .car(loadpoint: nil, .situation(.everyday))),
        ("car x situation estimated 55", .car(loadpoint: "x", .situation(.estimated(0.55)))),
        ("car situation car_live 60", .car(loadpoint: nil, .situation(.carLive(0.6)))),
        (
            "car situation car_old 60 1800",
            .car(loadpoint: nil, .situation(.carOld(0.6, ageSeconds: 1_800)))
        ),
        ("car situation car_flagged_old 0", .car(loadpoint: nil, .situation(.carFlaggedOld(0)))),
        ("car situation person_set 100", .car(loadpoint: nil, .situation(.personSet(1)))),
        ("car situation late 4000", .car(loadpoint: nil, .situation(.late(shortfallWh: 4_000)))),
        ("car situation holding 0", .car(loadpoint: nil, .situation(.holding(0)))),
        ("car situation two_chargers", .car(loadpoint: nil, .situation(.twoChargers))),
        ("car draw on", .car(loadpoint: nil, .draw(.on))),
        ("car garage draw auto", .car(loadpoint: "garage", .draw(.auto))),
        ("phone level 62", .order(loadpoint: nil, .level(0.62))),
        ("phone hold charge", .order(loadpoint: nil, .chargeNow)),
        ("phone garage hold pause", .order(loadpoint: "garage", .hold(0))),
        ("phone hold release", .order(loadpoint: nil, .hold(nil))),
        ("phone goal 80 07:00", .order(loadpoint: nil, .goal(HouseholdGoal(soc: 0.8, minute: 420)))),
        (
            "phone goal 80 05:10 mon,sun",
            .order(loadpoint: nil, .goal(HouseholdGoal(soc: 0.8, minute: 310, days: 65)))
        ),
        (
            "phone goal 80 23:59 once",
            .order(loadpoint: nil, .goal(HouseholdGoal(soc: 0.8, minute: 1_439, recurring: false)))
        ),
        ("phone goal none", .order(loadpoint: nil, .goal(nil))),
        ("phone surplus_only on", .order(loadpoint: nil, .surplusOnly(true))),
        ("phone mode idle", .setMode("idle")), ("mode set idle", .setMode("idle")),
        ("mode add party Party  time", .addMode(key: "party", label: "Party time")),
        ("mode remove idle", .removeMode("idle")),
        ("source roof-pv stale", .source("roof-pv", .stale)), ("meter lose", .meter(isThere: false)),
        ("meter restore", .meter(isThere: true)), ("battery remove", .removeBattery),
        ("box restart", .box(.restart)), ("box away", .box(.away)), ("box back", .box(.back)),
        ("box booting 40", .box(.booting(40))), ("box ready", .box(.ready)),
        ("box vintage late", .box(.vintage(.late))), ("box consent on", .box(.consent(true))),
        ("box mute off", .box(.mute(false))), ("relay drop", .relay(.drop)), ("relay start", .relay(.start)),
        ("role viewer", .role(.viewer)), ("revoke", .revoke), ("next lost", .next(.lost)),
        ("next refused E_CONFLICT", .next(.refused("E_CONFLICT"))),
        ("next refused_at_execution E_NEW_2", .next(.refusedAtExecution("E_NEW_2"))),
        ("next overtaken -1.5", .next(.overtaken(by: -1.5))), ("next none", .next(nil)),
        ("next result_late 3", .next(.resultLate(beats: 3))), ("next slow 2", .next(.slow(beats: 2))),
        ("swallow results on", .swallow(.results, true)),
        ("swallow commands off", .swallow(.commands, false)),
        ("api fault /api/loadpoints status 503", .fault(path: "/api/loadpoints", .status(503))),
        ("api fault /api/prices none", .fault(path: "/api/prices", nil)), ("api busy 3", .busy(3)),
        ("api delay 2", .delay(beats: 2)), ("prices none", .prices(.none)),
        ("prices negative", .prices(.negative)),
        ("prices today 10 -20.5 30", .prices(.day(ahead: 0, spot: [10, -20.5, 30]))),
        ("prices tomorrow 5", .prices(.day(ahead: 1, spot: [5]))),
        ("prices published no", .prices(.published(false))),
        ("prices published auto", .prices(.published(nil))),
        ("energy import 1.5", .importEnergy(wh: 1_500)),
    ]

    /// 24 hours, and the days on which the clock goes forward and back.
    @Test(arguments: [(24, 11...15), (23, 10...14), (25, 12...16)])
    func negativePricesAreAroundNoonOnTheClock(count: Int, below: ClosedRange<Int>) {
        let hours = DemoConsole.negativeAroundNoon([Double](repeating: 50, count: count))
        #expect(hours.count == count && hours.indices.filter { hours[$0] < 0 } == Array(below))
        #expect(DemoConsole.negativeAroundNoon([50]) == [50])
    }

    @Test(arguments: understood)
    func theLineIsUnderstood(line: String, command: ConsoleCommand) throws {
        #expect(try ConsoleParser.parse(line) == command)
    }

    @Test(arguments: ["", "   ", "\t", "# a remark", "#quit"])
    func anEmptyLineAndARemarkAreNotAnswered(line: String) throws {
        #expect(try ConsoleParser.parse(line) == nil)
    }

    static let refused: [(String, String)] = [
        ("car", "car needs one of plug, unplug, situation, draw"),
        ("car fly", "car: \"fly\" is not right; allowed: plug, unplug, situation, draw"),
        ("car garage fly", "car garage: \"fly\" is not right; allowed: plug, unplug, situation, draw"),
        ("car plug now", "car plug takes nothing more, but there is \"now\""),
        ("car situation estimated", "car situation estimated needs the level in percent, 0 to 100"),
        (
            "car situation estimated 101",
            "car situation estimated: \"101\" is not right; give the level in percent, 0 to 100"
        ),
        (
            "car situation car_old 60 -1",
            "situation car_old 60: \"-1\" is not right; give its age in seconds, 0 to 604800"
        ),
        (
            "phone level nan", "phone level: \"nan\" is not right; give the level in percent, 0 to 100"
        ),
        (
            "phone level 1e1", "phone level: \"1e1\" is not right; give the level in percent, 0 to 100"
        ),
        (
            "phone level 99999999999999999999999",
            "phone level: \"99999999999999999999999\" is not right; give the level in percent, 0 to 100"
        ),
        (
            "phone goal 80 24:00",
            "phone goal 80: \"24:00\" is not right; give a time of day from 00:00 to 23:59"
        ),
        (
            "phone goal 80 7:00",
            "phone goal 80: \"7:00\" is not right; give a time of day from 00:00 to 23:59"
        ),
        (
            "phone goal 80 07:00 mon,,tue",
            "goal 80 07:00: \"mon,,tue\" is not right; give once, or days such as mon,tue"
        ),
        (
            "clock yesterday",
            "clock: \"yesterday\" is not right; give a time such as 2026-10-25T00:00:00+02:00"
        ),
        (
            "clock 9999-10-25T00:00:00Z",
            "clock: \"9999-10-25T00:00:00Z\" is not right; give a time such as 2026-10-25T00:00:00+02:00"
        ),
        ("speed 0", "speed: \"0\" is not right; give how many times as fast, 1 to 120"),
        ("speed inf", "speed: \"inf\" is not right; give how many times as fast, 1 to 120"),
        ("box booting 1.5", "box booting: \"1.5\" is not right; give percent, a whole number from 0 to 100"),
        ("box vintage new", "box vintage: \"new\" is not right; allowed: ancient, base, soc, late"),
        ("next refused conflict", "next refused: \"conflict\" is not right; give a code such as E_CONFLICT"),
        ("next refused", "next refused needs a code such as E_CONFLICT"),
        (
            "api fault loadpoints none",
            "api fault: \"loadpoints\" is not right; give a path such as /api/loadpoints"
        ),
        (
            "api fault /api/x status 99",
            "fault /api/x status: \"99\" is not right; give an HTTP status, a whole number from 400 to 599"
        ),
        ("prices today", "prices today needs öre per kWh, -10000 to 10000"),
        ("prices today 1 x", "prices today 1: \"x\" is not right; give öre per kWh, -10000 to 10000"),
        ("energy import -1", "energy import: \"-1\" is not right; give kWh, 0 to 1000"),
        ("mode add Party Party", "mode add: \"Party\" is not right; a key is at most 40 of a-z, 0-9 and _"),
        ("mode add party", "mode add party needs a label"),
        ("quit\u{7}", "the line holds characters that are not text"),
    ]

    @Test(arguments: refused)
    func aWrongLineIsExplained(line: String, text: String) {
        #expect(fault(line) == text)
    }

    @Test func anUnknownCommandIsToldWhatIsKnown() throws {
        let text = try #require(fault("frobnicate 5"))
        #expect(text.hasPrefix("there is no command \"frobnicate\"; known are help, where, "))
        for verb in ConsoleHelp.verbs { #expect(text.contains(verb)) }
    }

    @Test func anAnswerIsShortHoweverLongTheLine() {
        #expect(fault(String(repeating: "x", count: 2_001)) == "the line is longer than 2000 bytes")
        let word = String(repeating: "ö", count: 990)
        #expect((fault(word)?.count ?? 0) < 400)
        #expect((fault("car \(word) \(word.prefix(1))")?.count ?? 0) < 200)
    }

    @Test func noGarbageTraps() {
        var dice = SeededDice(26)
        let words =
            ConsoleHelp.entries.flatMap { $0.form.split { " |[]%…".contains($0) }.map(String.init) }
            + ["-1", "0", "55", "1e309", "9223372036854775808", "07:00", "::", "é", "🚗", "--", "'"]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...6, using: &dice)
            let line = (0..<count).map { _ in words.randomElement(using: &dice) ?? "" }.joined(separator: " ")
            if let text = fault(line) { #expect(!text.contains("\n") && text.count < 600) }
        }
    }

    @Test func helpNamesEveryCommandThatIsUnderstood() throws {
        let verbs = Set(ConsoleHelp.verbs)
        for (line, _) in Self.understood {
            #expect(verbs.contains(String(line.split { " \t".contains($0) }.first ?? "")))
        }
        #expect(ConsoleHelp.lines("nothing") == nil)
        #expect(
            ConsoleHelp.lines("meter") == [
                "  meter lose|restore", "      the site meter; without it nothing may be dispatched",
            ])
        // Nothing of it could be taken for an answer, and it fits a terminal.
        let all = ConsoleHelp.lines(nil) ?? []
        #expect(all.count == 2 * ConsoleHelp.entries.count)
        #expect(all.allSatisfy { $0.hasPrefix("  ") && $0.count <= 120 && !$0.contains("\n") })
    }

    /// What the list says can be typed is understood, whichever way one chooses.
    @Test(arguments: ConsoleHelp.entries.map(\.form))
    func everyFormOfTheHelpIsUnderstood(form: String) throws {
        let examples = [
            "%": ["55"], "SECONDS": ["30"], "WH": ["4000"], "W": ["2300"], "N": ["1", "120"], "KEY": ["idle"],
            "LABEL": ["At home"], "NAME": ["grid-meter"], "CODE": ["E_CONFLICT"], "VALUE": ["0.7"],
            "PATH": ["/api/loadpoints"], "ÖRE…": ["90", "80 70.5 -60"], "KWH": ["1.5"], "HH:MM": ["07:00"],
            "WORD": ["car"], "TIME": ["2026-10-25T00:00:00+02:00"], "ID": ["garage"],
        ]
        func choices(_ word: String) -> [String] { word.split(separator: "|").map(String.init) }
        var lines = [""]
        for word in form.split(separator: " ").map(String.init) {
            let isOptional = word.hasPrefix("[")
            let bare = isOptional ? String(word.dropFirst().dropLast()) : word
            let numbers = form.contains("status") ? ["503"] : examples["N"] ?? []
            let options = choices(bare).flatMap { $0 == "N" ? numbers : examples[$0] ?? [$0] }
            lines = lines.flatMap { line in
                (isOptional ? [line] : []) + options.map { line.isEmpty ? $0 : "\(line) \($0)" }
            }
        }
        for line in lines { #expect(throws: Never.self) { try ConsoleParser.parse(line) } }
    }
}

@Suite struct LineSplitterTests {
    private func lines(_ pieces: [String], longest: Int = 10) -> [LineSplitter.Line] {
        var splitter = LineSplitter(longest: longest)
        let lines = pieces.flatMap { splitter.take(Array($0.utf8)) }
        return lines + (splitter.finish().map { [$0] } ?? [])
    }

    @Test func linesAreCutWhereverThePiecesEnd() {
        #expect(lines(["a", "b\nc", "\n\nd\r\n"]) == [.text("ab"), .text("c"), .text(""), .text("d")])
        #expect(lines(["last"]) == [.text("last")])
        #expect(lines([]) == [])
    }

    @Test func aLineThatIsTooLongIsOneLine() {
        #expect(lines(["0123456789\n"]) == [.text("0123456789")])
        #expect(lines(["0123456789x\nok\n"]) == [.tooLong, .text("ok")])
        #expect(lines([String(repeating: "x", count: 100_000), "\nok"]) == [.tooLong, .text("ok")])
    }

    @Test func whatIsNoTextIsSaidSo() {
        var splitter = LineSplitter()
        #expect(splitter.take([0xFF, 0x0A, 0x6F, 0x6B, 0x0A]) == [.notText, .text("ok")])
    }
}
