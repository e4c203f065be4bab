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
                "  car                   ##",
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
