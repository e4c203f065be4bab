import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

/// Who asked, when it ends, and how the last command ended, as topics tell it.
@Suite struct AskerTests {
    private func bench(disk: [String: JSONValue] = [:], started: Date = morning) -> Bench {
        var bench = Bench(disk: disk, started: started)
        bench.see(held(nil, at: started))
        bench.connect()
        return bench
    }

    /// The house with a hold in the garage, read at that moment.
    private func held(
        _ powerW: Double?, since: Date? = nil, at: Date, _ change: (inout SiteState) -> Void = { _ in }
    ) -> SiteState {
        houseWithCars().changed { house in
            house.cars?[0].readAt = at
            house.cars?[0].loadpoint.manualActive = powerW != nil
            house.cars?[0].loadpoint.manualW = powerW
            if let since, powerW != nil {
                house.cars?[0].loadpoint.manual = .init()
                house.cars?[0].loadpoint.manual?.requestedW = powerW
                house.cars?[0].loadpoint.manual?.since = since
            }
            change(&house)
        }
    }

    private func order(
        _ bench: inout Bench, _ value: String, from: String? = nil, end: BoxOutcome = .applied(nil)
    ) {
        let id = "o\(bench.orders.count)"
        let name = from.map { #","from":"\#($0)""# } ?? ""
        let message = Message(
            "ftw/home/car/garage/control/set", #"{"id":"\#(id)","value":"\#(value)"\#(name)}"#)
        bench.feed(.message(message))
        bench.pass(.seconds(1))
        bench.feed(.progress(id, .ended(end)))
        bench.pass(.seconds(1))
    }

    private func askedBy(_ bench: Bench) -> JSONValue? { bench.json("car/garage/hold")?["asked_by"] }

    @Test(arguments: [("Kitchen panel", "Kitchen panel"), (nil as String?, "bridge")])
    func anOrderThroughUsIsItsSenders(from: String?, shown: String) {
        var bench = bench()
        #expect(askedBy(bench) == .null)
        order(&bench, "charge_now", from: from)
        bench.see(held(11_000, since: bench.wall, at: bench.wall))
        bench.pass(.seconds(60))
        bench.see(held(11_000, since: bench.wall - 60, at: bench.wall))
        #expect(askedBy(bench) == .string(shown))
        // Also in the next run.
        var second = Bench(disk: bench.disk, started: bench.wall + 5)
        second.see(held(11_000, since: bench.wall - 60, at: bench.wall + 5))
        second.connect()
        #expect(askedBy(second) == .string(shown))
        second.see(held(nil, at: second.wall))
        second.pass(.seconds(1))
        #expect(askedBy(second) == .null)
    }

    /// It looks the same, and the session found out that it is another one.
    @Test func aTimedHoldThatWasTakenOverAtTheSamePowerIsSomebodyElses() {
        var bench = bench()
        order(&bench, "charge_now", from: "me")
        let end = bench.wall + 7_200
        func see(since: Date, lease: Bool, taken: Bool) {
            bench.see(
                held(11_000, since: since, at: bench.wall).changed {
                    if lease { ($0.leases, $0.holdEnds) = (["garage": end], ["garage": end]) }
                    if taken { $0.takenHolds = ["garage"] }
                })
            bench.pass(.seconds(60))
        }
        let first = bench.wall
        see(since: first, lease: true, taken: false)
        // Renewed: it looks new, and is ours.
        see(since: first + 60, lease: true, taken: false)
        #expect(askedBy(bench) == "me")
        let second = bench.wall
        see(since: second, lease: true, taken: false)
        see(since: second, lease: false, taken: true)
        #expect(askedBy(bench) == "elsewhere")
        #expect(bench.json("car/garage/hold")?["until"] == .null)
        // Ours again by an order of ours.
        order(&bench, "charge_now", from: "me")
        see(since: bench.wall, lease: true, taken: false)
        #expect(askedBy(bench) == "me")
    }

    @Test func whatAppearsWithoutUsIsSomebodyElses() {
        var bench = bench()
        bench.pass(.seconds(60))
        bench.see(held(11_000, at: bench.wall))
        #expect(askedBy(bench) == "elsewhere")
        order(&bench, "pause", from: "me")
        bench.see(held(0, at: bench.wall))
        #expect(askedBy(bench) == "me")
        // The app takes it over, with another order and with the same one anew.
        bench.pass(.seconds(60))
        bench.see(held(3_680, at: bench.wall))
        #expect(askedBy(bench) == "elsewhere")
        order(&bench, "charge_now", from: "me")
        let since = bench.wall
        bench.see(held(11_000, since: since, at: bench.wall))
        bench.pass(.seconds(60))
        #expect(askedBy(bench) == "me")
        bench.see(held(11_000, since: since + 40, at: bench.wall))
        #expect(askedBy(bench) == "elsewhere")
    }

    @Test func aTimedOrderThatIsRenewedStaysItsSenders() {
        var bench = bench()
        let end = bench.wall + 7_200
        order(&bench, #"charge_now","minutes":"120"#, from: "me", end: .applied(.number(11_000)))
        for _ in 0..<5 {
            bench.see(
                held(11_000, since: bench.wall, at: bench.wall) {
                    $0.leases = ["garage": end]
                    $0.holdEnds = ["garage": end]
                })
            bench.pass(.seconds(600))
            #expect(askedBy(bench) == "me")
        }
        #expect(bench.json("car/garage/hold")?["until"] == "2026-11-30T12:00:00+01:00")
        // Without its end nothing is claimed.
        bench.see(held(11_000, since: bench.wall, at: bench.wall))
        bench.pass(.seconds(1))
        #expect(bench.json("car/garage/hold")?["until"] == .null)
    }

    @Test func whatWasThereBeforeUsAndWhatGotNoAnswerIsNobodysWeKnow() {
        var before = Bench()
        before.see(held(11_000, at: morning))
        before.connect()
        #expect(askedBy(before) == .null)
        var bench = bench()
        order(&bench, "charge_now", from: "me", end: .unconfirmed)
        bench.see(held(11_000, at: bench.wall))
        #expect(askedBy(bench) == .null)
        // A refusal changes nothing about whose order stands.
        order(&bench, "pause", from: "x", end: .refused(.init(kind: .dispatchBlocked)))
        bench.see(held(11_000, at: bench.wall))
        #expect(askedBy(bench) == .null)
    }

    @Test func aBoxThatWaitsForAChoiceAsksItself() {
        var bench = bench()
        bench.pass(.seconds(60))
        bench.see(held(0, at: bench.wall) { $0.cars?[0].loadpoint.manualRestoreUnconfirmed = true })
        bench.pass(.seconds(1))
        #expect(askedBy(bench) == "box")
    }

    @Test func aReadingWhileACommandIsUnderWayDecidesNothing() {
        var bench = bench()
        bench.feed(
            .message(Message("ftw/home/car/garage/control/set", #"{"id":"k","value":"pause","from":"me"}"#)))
        bench.see(held(0, at: bench.wall))
        #expect(askedBy(bench) == .null)
        bench.pass(.seconds(1))
        // Its end alone settles it: no further reading has to come.
        bench.feed(.progress("k", .ended(.applied(nil))))
        bench.pass(.seconds(1))
        #expect(askedBy(bench) == "me")
        bench.see(held(0, at: bench.wall))
        bench.pass(.seconds(1))
        #expect(askedBy(bench) == "me")
    }

    // MARK: from

    @Test func whoAsksIsInEveryStage() {
        var bench = bench()
        var sent = bench.feed(
            .message(Message("ftw/home/mode/set", #"{"id":"m","value":"idle","from":" Köket 🍳 "}"#)))
        sent += bench.feed(.progress("m", .ended(.applied(.text("idle")))))
        sent += bench.feed(.message(Message("ftw/home/mode/set", #"{"value":"warp","from":"a"}"#)))
        sent += bench.feed(.message(Message("ftw/home/bridge/request/ping", #"{"from":"b"}"#)))
        sent += bench.feed(.message(Message("ftw/home/mode/set", "idle")))
        #expect(
            sent.documents("result").map { $0["from"] } == [
                "Köket 🍳", "Köket 🍳", "a", "b", "b", .null,
            ])
    }

    @Test(arguments: [
        #""""#, #""   ""#, "12", "true", "{}", "[]", #""\u0000""#, #""a\nb""#, #""\u202Eevil""#, #""\uE000""#,
        "\"\(String(repeating: "a", count: 41))\"", "\"\(String(repeating: "e\u{301}\u{302}", count: 40))\"",
    ])
    func aNameThatCannotBeShownIsRefused(from: String) {
        var bench = bench()
        let sent = bench.feed(
            .message(Message("ftw/home/mode/set", #"{"id":"m","value":"idle","from":\#(from)}"#)))
        let result = sent.documents("result").first
        #expect(sent.documents("result").count == 1 && result?["code"] == "bad_payload")
        #expect(
            result?["text"]?.stringValue?.hasSuffix("from is a name of 1 to 40 printable characters.") == true
        )
        #expect(result?["from"] == .null && result?["id"] == "m" && bench.orders.isEmpty)
    }

    // MARK: Receipts

    private func receipts(_ bench: Bench) -> [JSONValue?] {
        ["en", "sv"].map { bench.json("car/garage/text/\($0)")?["receipt"] }
    }

    @Test func theLastCommandIsSaidInBothLanguages() {
        var bench = bench()
        #expect(receipts(bench) == [.null, .null])
        order(&bench, "charge_now")
        #expect(receipts(bench) == ["Done.", "Klart."])
        bench.feed(.message(Message("ftw/home/car/garage/level/set", "101")))
        bench.pass(.seconds(1))
        #expect(
            receipts(bench) == [
                "Not done: found \"101\"; a level is a number from 0 to 100 %, such as 62.",
                "Inte gjort: där står \"101\"; en nivå är ett tal från 0 till 100 %, som 62.",
            ])
        order(&bench, "pause", end: .refused(.init(kind: .dispatchBlocked)))
        #expect(
            receipts(bench).compactMap { $0?.stringValue }.allSatisfy {
                $0.contains("mät") || $0.contains("meter")
            })
        // A command to the site is no car's.
        bench.feed(.message(Message("ftw/home/mode/set", "warp")))
        bench.pass(.seconds(1))
        #expect(receipts(bench)[0]?.stringValue?.contains("meter") == true)
    }

    @Test func aReceiptIsAtMost255Long() {
        var bench = bench()
        let long = String(repeating: "🚗", count: 3_000)
        bench.feed(.message(Message("ftw/home/car/garage/goal/set", #"{"level":"\#(long)"}"#)))
        bench.feed(.message(Message("ftw/home/car/garage/level/set", #"{"value":"\#(long)"}"#)))
        bench.pass(.seconds(1))
        for receipt in receipts(bench) {
            let length = receipt?.stringValue?.unicodeScalars.count ?? 0
            #expect((1...255).contains(length))
        }
    }

    @Test func afterADayItIsGoneAlsoOverARestart() {
        var bench = bench()
        order(&bench, "charge_now")
        bench.pass(.seconds(23 * 3_600))
        #expect(receipts(bench) == ["Done.", "Klart."])
        #expect(bench.text("car/garage/last_command") != nil)
        var second = self.bench(disk: bench.disk, started: bench.wall)
        #expect(receipts(second) == ["Done.", "Klart."])
        for _ in 0..<2 {
            second.pass(.seconds(3_600))
            bench.pass(.seconds(3_600))
        }
        for later in [bench, second] {
            #expect(receipts(later) == [.null, .null])
            #expect(later.text("car/garage/last_command") == nil)
        }
        var third = self.bench(disk: bench.disk, started: bench.wall)
        third.pass(.seconds(1))
        #expect(receipts(third) == [.null, .null])
    }
}
