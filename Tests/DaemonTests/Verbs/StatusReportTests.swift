import FoundationEssentials
import MQTTTypes
import Testing

@testable import Daemon

@Suite struct StatusReportTests {
    /// 30 November 2026, 10:05 in Stockholm.
    let now = Date(timeIntervalSince1970: 1_796_029_500)
    let plainText = Terminal(isTerminal: false, windowColumns: nil, environment: ["COLUMNS": "80"])

    private func lines(
        _ topics: [String: String], language: String = "en", at now: Date? = nil, on terminal: Terminal? = nil
    ) -> [String] {
        var topics = topics
        topics["bridge/info"] =
            #"{"version":"1.2.3","zone":"Europe/Stockholm","language":"\#(language)"}"#
        let retained = topics.map { ("ftw/home/\($0)", Message("ftw/home/\($0)", $1, retained: true)) }
        return StatusReport(
            name: "Home", id: "home", base: "ftw/home",
            topics: Dictionary(uniqueKeysWithValues: retained), now: now ?? self.now
        ).lines(terminal ?? plainText)
    }

    private let house = [
        "bridge/availability": "online",
        "bridge/health": #"{"at":"2026-11-30T10:04:40+01:00"}"#,
        "power":
            #"{"grid":-1500,"solar":-2300.5,"battery":0,"car":null,"at":"2026-11-30T10:05:00+01:00","live":true}"#,
        "price/now": #"{"total":1.234,"end":"2026-11-30T11:00:00+01:00","unit":"SEK/kWh","level":3}"#,
        "price/cheap/2h":
            #"{"hours":2,"start":"2026-11-30T23:00:00+01:00","end":"2026-12-01T01:00:00+01:00"}"#,
        "price/cheap/3h":
            #"{"hours":3,"start":"2026-12-01T01:00:00+01:00","end":"2026-12-01T04:00:00+01:00"}"#,
        "price/cheap/4h":
            #"{"hours":4,"start":"2026-11-30T09:00:00+01:00","end":"2026-11-30T13:00:00+01:00"}"#,
        "price/series":
            #"{"start":"2026-11-30T10:00:00+01:00","step_s":3600,"total":[1,2,3],"unit":"SEK/kWh"}"#,
    ]

    @Test func thePriceNowAndTheCheapestWindowAreSaid() {
        let lines = lines(house)
        #expect(lines.contains("  price       1.23 SEK/kWh until 11:00."))
        #expect(lines.contains("  cheapest    The cheapest 3 h run from tomorrow 01:00 to 04:00."))
        #expect(lines.contains("  grid        1500 W exported"))
        #expect(lines.contains { $0.hasPrefix("  next 24 h ") })
        #expect(!lines.contains { $0.contains("unknown") || $0.hasPrefix("  clock") })
    }

    @Test func aSwedishBridgeHasSwedishLabels() {
        let lines = lines(house, language: "sv")
        for line in [
            "  bryggan     ansluten, version 1.2.3", "  elnät       1500 W säljs", "  sol         2300,5 W",
            "  bil         okänt", "  pris        1,23 SEK/kWh till 11:00.",
            "  billigast   De billigaste 3 h är från i morgon 01:00 till 04:00.",
            "              1,00 till 3,00 SEK/kWh",
        ] {
            #expect(lines.contains(line), "\(lines)")
        }
        #expect(lines.contains { $0.hasPrefix("  24 h framåt ") })
        for word in ["price", "solar", "grid", "until", "next", "bridge"] {
            #expect(!lines.contains { $0.contains(word) }, "\(word)")
        }
    }

    @Test(arguments: [("en", "prices unknown", "price"), ("sv", "priser okända", "pris")])
    func withoutPricesThatIsSaid(language: String, words: String, label: String) {
        let nothing = lines(["bridge/availability": "online"], language: language)
        #expect(nothing.filter { $0.contains(words) }.count == 1)
        // A plan is drawn: its picture says it of its own row too.
        let plan = lines(
            [
                "bridge/availability": "online",
                "plan/series": #"{"start":"2026-11-30T10:00:00+01:00","step_s":900,"action":["stores"]}"#,
            ], language: language)
        #expect(plan.filter { $0.hasPrefix("  \(label) ") && $0.hasSuffix(words) }.count == 2)
        // A price that has ended is none.
        let later = lines(
            ["bridge/availability": "offline", "price/now": house["price/now"] ?? ""], language: language,
            at: now.addingTimeInterval(86_400))
        #expect(later.contains { $0.hasSuffix(words) })
    }

    /// The machine's clock is months away from the house's: the picture is drawn by the house's.
    @Test(arguments: [-200.0, 1, 200])
    func theHousesOwnClockCounts(days: Double) {
        let lines = lines(house, at: now.addingTimeInterval(days * 86_400))
        #expect(
            lines.contains("  clock       2026-11-30T10:05:00+01:00 at the bridge, not this machine's"))
        #expect(lines.contains { $0.hasPrefix("  next 24 h ") })
        #expect(lines.contains("  price       1.23 SEK/kWh until 11:00."))
        // A bridge that is gone says nothing about the time.
        var gone = house
        gone["bridge/availability"] = "offline"
        #expect(
            !self.lines(gone, at: now.addingTimeInterval(days * 86_400)).contains { $0.hasPrefix("  clock") })
    }

    /// The narrowest terminal there is, in another clock and with a plan that is old.
    @Test(arguments: ["en", "sv"]) func noLineIsWiderThanTheTerminal(language: String) {
        var topics = house
        topics["plan/series"] =
            #"{"start":"2026-11-30T10:00:00+01:00","step_s":900,"action":["stores"],"stale":true,"#
            + #""planned_at":"2026-11-30T09:20:00+01:00"}"#
        topics["source/pv"] = #"{"name":"Roof","state":"stale","last_answered":"2026-11-30T10:00:00+01:00"}"#
        for columns in [40, 60, 80] {
            let terminal = Terminal(isTerminal: true, windowColumns: columns, environment: [:], plain: true)
            let lines = lines(topics, language: language, at: now.addingTimeInterval(86_400), on: terminal)
            #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
            // Nothing is lost by it, and ASCII is enough for the picture.
            let words = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
            #expect(words.contains("2026-11-30T10:05:00+01:00 "), "\(lines)")
            #expect(!words.contains { "▁▂▃▄▅▆▇█".contains($0) }, "\(lines)")
        }
    }

    @Test(arguments: [
        (#""stale":true,"planned_at":"2026-11-30T09:50:00+01:00""#, "Planned at 09:50."),
        // A bridge that is gone cannot say that its plan has become old meanwhile.
        (#""stale":false,"planned_at":"2026-11-30T09:20:00+01:00""#, "Planned at 09:20."),
        (#""stale":true,"planned_at":null"#, nil),
    ])
    func aPlanThatMayNotHoldIsSaidToBeSo(members: String, when: String?) {
        let plan = #"{"start":"2026-11-30T10:00:00+01:00","step_s":900,"action":["stores"],\#(members)}"#
        let lines = lines(["bridge/availability": "offline", "plan/series": plan])
        let words = "              The plan may not hold any more."
        #expect(lines.contains(when.map { "\(words) \($0)" } ?? words), "\(lines)")
        let fresh = plan.replacing("true", with: "false").replacing("T09:20", with: "T09:50")
        #expect(
            !self.lines(["bridge/availability": "online", "plan/series": fresh])
                .contains { $0.hasPrefix(words) })
    }

    @Test(arguments: ["null", "[]", "7", #"{"at":"x","total":1e300,"end":7,"hours":1e300,"start":null}"#])
    func whatIsNoDocumentDoesNoHarm(text: String) {
        let broken = house.mapValues { $0 == "online" ? $0 : text }
        #expect(lines(broken).contains("  price       prices unknown"))
    }
}
