import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText
import Testing

@testable import BoxSession

/// A reader in Stockholm, its clock, and a box that has prices up to some moment.
struct BoardBench {
    var reader = BoardReader(settings: .init(isWanted: true))
    let zone: Zone
    var wall: Date
    var capabilities = ["api.passthrough", "price.spot"]
    var questions: [RequestTable.Question] = []

    init(hour: Double) throws {
        zone = try #require(Zone(named: "Europe/Stockholm"))
        wall = zone.start(of: LocalDay(year: 2026, month: 11, day: 30)).addingTimeInterval(hour * 3_600)
    }

    var now: Duration { .seconds(wall.timeIntervalSince1970) }

    mutating func look() -> [BoardReader.Ask] {
        let site = SiteState(
            link: Link(state: .live, since: wall),
            box: BoxFacts(
                id: nil, build: "1", zone: nil, role: nil, scopes: nil, capabilities: capabilities))
        reader.observed(
            .init(site: site, controlRev: nil, isOpen: true), zone: zone, at: now, wall: wall)
        return reader.take(at: now, wall: wall)
    }

    /// Looks, and tells by which way that kind is asked for.
    mutating func path(_ kind: AskBook.Kind) -> String? { look().first { $0.kind == kind }?.what }

    /// Answers `price.get` for today and tomorrow, in whole öre.
    mutating func tellByMessage() throws {
        let start = Int64(zone.start(of: zone.day(of: wall)).timeIntervalSince1970) * 1_000
        let slots: [CBORValue] = (0..<192).map { index in
            [
                "startMs": .int(start + Int64(index) * 900_000), "durationMs": .int(900_000),
                "totalMinor": .int(123), "spotMinor": .int(50),
            ]
        }
        let message = try PriceMessage(
            body: [
                "zone": .text("SE3"), "currency": .text("SEK"), "slots": .array(slots), "stale": .bool(false),
            ])
        _ = reader.finished(.prices, .success(.price(message)), at: now, wall: wall)
    }

    /// What a kWh costs now.
    mutating func total() -> Double? {
        var site = SiteState(link: Link(state: .live, since: wall))
        reader.show(in: &site, plan: nil, isPlanOld: false, wall: wall)
        return site.prices?.slot?.total
    }

    func prices(days: Int) -> APIAnswer {
        let start = zone.start(of: zone.day(of: wall))
        let items = (0..<(days * 96)).map { index in
            let ms = Int64(start.timeIntervalSince1970 + Double(index) * 900) * 1_000
            return #"{"slot_ts_ms":\#(ms),"slot_len_min":15,"spot_ore_kwh":50,"total_ore_kwh":123.4}"#
        }
        let text = #"{"enabled":true,"currency":"SEK","items":[\#(items.joined(separator: ","))]}"#
        return APIAnswer(status: 200, headers: [:], body: Array(text.utf8))
    }

    /// The energy as it is shown now.
    mutating func energy() -> EnergyBoard? {
        var site = SiteState(link: Link(state: .live, since: wall))
        reader.show(in: &site, plan: nil, isPlanOld: false, wall: wall)
        return site.energy
    }

    mutating func answer(_ kind: AskBook.Kind, _ text: String) {
        _ = reader.finished(
            kind, .success(.api(APIAnswer(status: 200, headers: [:], body: Array(text.utf8)))), at: now,
            wall: wall)
    }

    /// Lets the hours pass minute by minute; the box has so many days of prices.
    mutating func pass(hours: Double, days: Int) -> Int {
        var asked = 0
        for _ in 0..<Int(hours * 60) {
            wall += 60
            for ask in look() {
                guard ask.kind == .prices else {
                    _ = reader.finished(
                        ask.kind, .success(.api(APIAnswer(status: 404, headers: [:], body: []))), at: now,
                        wall: wall)
                    continue
                }
                asked += 1
                _ = reader.finished(.prices, .success(.api(prices(days: days))), at: now, wall: wall)
            }
        }
        return asked
    }
}
