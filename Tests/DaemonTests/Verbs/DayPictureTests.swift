import FoundationEssentials
import JSONText
import Testing

@testable import Daemon

@Suite struct DayPictureTests {
    /// 30 November 2026, 10:05 in Stockholm.
    let now = Date(timeIntervalSince1970: 1_796_029_500)
    let plainText = Terminal(isTerminal: false, windowColumns: nil, environment: ["COLUMNS": "80"])

    var topics: [String: JSONValue] {
        [
            "bridge/info": ["zone": "Europe/Stockholm"],
            "price/series": [
                "start": "2026-11-30T00:00:00+01:00", "step_s": 3_600, "unit": "SEK/kWh",
                "total": .array((0..<24).map { .double(Double($0 - 12) / 10) }),
            ],
            "plan/series": [
                "start": "2026-11-30T10:00:00+01:00", "step_s": 900,
                "action": .array(
                    (0..<96).map { $0 < 8 ? "stores" : $0 < 16 ? "gives" : $0 < 90 ? "waits" : nil }),
                "car": .array((0..<96).map { (20..<24).contains($0) ? 7_000 : 0 }),
            ],
        ]
    }

    @Test func theDayIsDrawnInPlainText() throws {
        let picture = try #require(DayPicture(topics: topics, now: now))
        #expect(
            picture.lines(plainText) == [
                "  next 24 h       12    15    18    21    00    03    06    09",
                picturePrice,
                "              -0.20 to 1.10 SEK/kWh",
                "  plan        ++++----" + String(repeating: ".", count: 37),
                "              + stores  - gives  . waits",
                row("car", [10: "##"]), row("", [0: "# charges"]),
            ])
    }

    /// Ten o'clock is -0.20, eleven at night 1.10: eight levels over the thirteen steps between.
    private var picturePrice: String {
        let levels = (0..<14).map { 1 + min(7, 8 * $0 / 13) }
        return "  price       " + levels.map { "\($0)\($0)" }.joined()
    }

    @Test func aTerminalGetsColouredBars() throws {
        let picture = try #require(DayPicture(topics: topics, now: now))
        let terminal = Terminal(isTerminal: true, windowColumns: 120, environment: [:])
        let lines = picture.lines(terminal)
        #expect(lines[1].contains("\u{1B}[32m▁\u{1B}[0m") && lines[1].contains("\u{1B}[31m█\u{1B}[0m"))
        let calm = Terminal(isTerminal: true, windowColumns: 120, environment: ["NO_COLOR": "1"])
        #expect(picture.lines(calm).allSatisfy { !$0.contains("\u{1B}") })
        #expect(picture.lines(calm)[1].hasPrefix("  price       ▁▁▁▁"))
    }

    /// A row with texts from given columns on.
    private func row(_ label: String, _ marks: KeyValuePairs<Int, String>) -> String {
        var text = "  \(label)"
        for (column, mark) in marks {
            text += String(repeating: " ", count: max(0, 14 + column - text.count)) + mark
        }
        return text
    }

    /// What a car's own document says: two windows, and to be ready at seven.
    private func ready(_ state: String = "on_track", expected: JSONValue = 80) -> JSONValue {
        [
            "state": .string(state), "goal": 80, "expected": expected, "by": "2026-12-01T07:00:00+01:00",
            "windows": [
                ["start": "2026-11-30T23:00:00+01:00", "end": "2026-12-01T00:30:00+01:00"],
                ["start": "2026-12-01T02:07:00+01:00", "end": "2026-12-01T02:31:00+01:00"],
            ],
        ]
    }

    @Test func aCarsOwnWindowsAndDeadlineAreDrawn() throws {
        var topics = topics
        topics["car/garage/ready"] = ready()
        let lines = try #require(DayPicture(topics: topics, now: now)).lines(plainText)
        #expect(
            lines.suffix(2) == [
                row("car", [26: "###", 32: "##", 42: "|"]), row("", [0: "# charges  | 80 % by 07:00"]),
            ])
        topics["car/garage/ready"] = ready("late", expected: 62)
        let late = try #require(DayPicture(topics: topics, now: now))
        #expect(late.lines(plainText).last == "              # charges  | 80 % by 07:00, about 62 % then")
        let colour = Terminal(isTerminal: true, windowColumns: 120, environment: [:])
        let coloured = try #require(late.lines(colour).first { $0.hasPrefix("  car") })
        // In quarters: six, the three that the short window touches, and the deadline's.
        let plain = coloured.replacing("\u{1B}[36m#\u{1B}[0m", with: "#")
            .replacing("\u{1B}[31m|\u{1B}[0m", with: "|")
        #expect(plain == row("car", [52: "######", 64: "###", 84: "|"]))
    }

    @Test func everyCarHasARowAndThePlanFillsInForOneWithoutWindows() throws {
        var topics = topics
        topics["car/garage/ready"] = ready()
        topics["car/a-very-long-loadpoint/ready"] = [
            "state": "no_goal", "by": nil,
            "windows": [["start": "2026-11-30T10:30:00+01:00", "end": "2026-11-30T11:00:00+01:00"]],
        ]
        let two = try #require(DayPicture(topics: topics, now: now)).lines(plainText)
        #expect(
            two.suffix(4) == [
                row("a-very-long", [1: "#"]), row("", [0: "# charges"]),
                row("garage", [26: "###", 32: "##", 42: "|"]), row("", [0: "# charges  | 80 % by 07:00"]),
            ])
        // No windows are told: what the plan gives the only car is its.
        topics = self.topics
        topics["car/garage/ready"] = ["state": "unknown", "by": "2026-12-01T07:00:00+01:00", "goal": 80]
        let one = try #require(DayPicture(topics: topics, now: now)).lines(plainText)
        #expect(one.contains(row("car", [10: "##", 42: "|"])))
    }

    @Test func aNightWithTwoTwoOClocksHasBoth() throws {
        // 25 October 2026, 00:00 in Stockholm; ready at seven is eight hours away.
        let topics: [String: JSONValue] = [
            "bridge/info": ["zone": "Europe/Stockholm"],
            "car/garage/ready": [
                "state": "on_track", "by": "2026-10-25T07:00:00+01:00", "goal": 80,
                "windows": [["start": "2026-10-25T02:00:00+02:00", "end": "2026-10-25T02:00:00+01:00"]],
            ],
        ]
        let lines = try #require(
            DayPicture(topics: topics, now: Date(timeIntervalSince1970: 1_792_879_200))
        ).lines(plainText)
        let hours: KeyValuePairs = [
            0: "00", 8: "03", 14: "06", 20: "09", 26: "12", 32: "15", 38: "18", 44: "21",
        ]
        #expect(
            lines.prefix(3) == [
                row("next 24 h", hours), row("price", [0: "prices unknown"]), row("car", [4: "##", 16: "|"]),
            ])
    }

    @Test(arguments: [
        #"{"windows":7,"by":"x"}"#, #"{"windows":[7,{"start":"x","end":null}],"by":null}"#, "null", "[]",
        #"{"by":"9999-12-31T00:00:00Z","windows":[{"start":"2026-12-01T00:00:00Z","end":"2026-11-01T00:00:00Z"}]}"#,
        #"{"by":"1970-01-01T00:00:00Z","goal":1e300}"#,
    ])
    func whatIsNoReadinessDrawsNothing(text: String) throws {
        let topics = ["car/garage/ready": try JSONValue(parsing: text)]
        #expect(DayPicture(topics: topics, now: now) == nil)
    }

    @Test func nothingAheadIsNothingDrawn() {
        #expect(DayPicture(topics: [:], now: now) == nil)
        #expect(DayPicture(topics: topics, now: now.addingTimeInterval(3 * 86_400)) == nil)
        #expect(
            DayPicture(
                topics: ["price/series": ["start": "x", "step_s": 0, "total": [1]]], now: now) == nil)
    }

    @Test func negativePricesKeepTheirSign() throws {
        var topics = topics
        topics["price/series"] = [
            "start": "2026-11-30T10:00:00+01:00", "step_s": 3_600, "total": [.double(-0.05), .double(-1.2)],
        ]
        let picture = try #require(DayPicture(topics: topics, now: now))
        #expect(picture.lines(plainText)[2] == "              -1.20 to -0.05 per kWh")
    }
}
