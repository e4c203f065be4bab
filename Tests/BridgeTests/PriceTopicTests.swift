import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

@Suite struct PriceTopicTests {
    let zone = Zone(named: "Europe/Stockholm") ?? .utc
    let siteTopic = "homeassistant/device/ftw_0123456789abcdef/config"

    /// 30 November, prices of two days in quarters.
    func tracker(
        currency: String? = "SEK", days: Int = 2, _ total: (Int) -> Double = { 123.4 + Double($0) }
    ) -> PriceTracker {
        let midnight = zone.start(of: zone.day(of: morning))
        var tracker = PriceTracker(rules: PriceRules())
        tracker.read(
            Prices(
                area: "SE3", currency: currency,
                slots: (0..<(days * 96)).map { index in
                    PriceSlot(
                        start: midnight.addingTimeInterval(Double(index) * 900),
                        end: midnight.addingTimeInterval(Double(index + 1) * 900), totalMinor: total(index),
                        spotMinor: total(index) / 3)
                }))
        return tracker
    }

    func board(
        currency: String? = "SEK", days: Int = 2, now: Date = morning,
        _ total: (Int) -> Double = { 123.4 + Double($0) }
    ) -> PriceBoard? {
        var tracker = tracker(currency: currency, days: days, total)
        return tracker.board(zone: zone, isOld: false, now: now)
    }

    func plan(now: Date = morning, reason: String = "cheap_import") throws -> PlanBoard? {
        let actions = (0..<192).map { index -> JSONValue in
            [
                "slot_start_ms": .double((morning.timeIntervalSince1970 + Double(index) * 900) * 1_000),
                "slot_len_min": 15, "battery_w": .double(index < 8 ? -123_456_789.5 : 2_000),
                "grid_w": -123_456_789, "pv_w": -123_456_789, "soc": 0.987654321, "reason": .string(reason),
                "loadpoint_w": 123_456_789,
            ]
        }
        let answer = try #require(
            PlanAnswer([
                "enabled": true,
                "plan": [
                    "generated_at_ms": .double(morning.timeIntervalSince1970 * 1_000),
                    "actions": .array(actions),
                ],
            ]))
        var tracker = PlanTracker()
        let deadlines = (0..<40).map {
            PlanBoard.Deadline(loadpoint: String(repeating: "å", count: 200), at: morning + Double(1 + $0))
        }
        return tracker.board(answer, deadlines: deadlines, isOld: false, now: now)
    }

    var energy: EnergyBoard {
        EnergyBoard(
            since: morning, totalsKWh: [.gridImport: 1.25, .house: 0], day: zone.day(of: morning),
            todayKWh: [.gridImport: 0.5], countedUntil: morning)
    }

    func rich() throws -> SiteState {
        let (prices, plan) = (board(), try plan())
        return house().changed {
            $0.prices = prices; $0.plan = plan; $0.energy = energy
        }
    }

    @Test func thePriceNowIsInMainUnitsPerKilowattHour() throws {
        var bench = Bench()
        let site = house().changed { $0.prices = board { _ in 123.4 } }
        bench.see(site)
        bench.connect()
        #expect(
            bench.text("price/now")
                == #"{"area":"SE3","currency":"SEK","end":"2026-11-30T10:15:00+01:00","level":4,"next":1.234,"#
                + #""next_end":"2026-11-30T10:30:00+01:00","spot":0.4113,"start":"2026-11-30T10:00:00+01:00","#
                + #""total":1.234,"unit":"SEK/kWh"}"#)
        #expect(
            bench.text("price/cheap/2h")
                == #"{"average":1.234,"end":"2026-11-30T12:00:00+01:00","hours":2,"known_hours":null,"#
                + #""prices_until":"2026-12-02T00:00:00+01:00","running":true,"#
                + #""sentence":"The cheapest 2 h run until 12:00.","start":"2026-11-30T10:00:00+01:00","#
                + #""unit":"SEK/kWh"}"#)
        #expect(bench.text("price/cheap_now") == "OFF")
    }

    /// A bridge that is killed leaves nothing behind by which somebody would go on charging.
    @Test func whatSomebodyMayActOnExpires() throws {
        var bench = Bench()
        bench.see(try rich())
        let sent = bench.connect()
        // Decided for a quarter, said once: only an expiry ends it.
        #expect(sent.to("price/cheap_now").map(\.expirySeconds) == [3_600])
        #expect(sent.to("plan/now").map(\.expirySeconds) == [3_600])
        // A quarter and two hours, and a quarter of an hour for whoever replaces them.
        #expect(sent.to("price/now").map(\.expirySeconds) == [1_800])
        #expect(sent.to("price/cheap/2h").map(\.expirySeconds) == [8_100])
        let hour = bench.pass(.seconds(3_600))
        #expect(hour.to("price/cheap_now").map(\.expirySeconds) == [3_600, 3_600, 3_600])
        #expect(hour.to("plan/now").count == 3 && hour.to("price/now").isEmpty)
        // What is not known, and what was taken back, stands.
        let unknown = bench.see(house().changed { $0.prices = nil })
        #expect(unknown.to("price/cheap_now").map(\.text) == ["null"])
        #expect(unknown.to("price/cheap_now").map(\.expirySeconds) == [nil])
        #expect(unknown.to("price/now").map(\.expirySeconds) == [nil])
        #expect(bench.pass(.seconds(3_600)).to("price/cheap_now").isEmpty)
    }

    /// Published prices hold on while the box is away, and so does what is made of them.
    @Test func theDecisionIsRenewedWhileTheBoxIsAway() throws {
        var bench = Bench()
        let site = try rich()
        bench.see(site)
        bench.connect()
        bench.see(site.changed { $0.link = Link(state: .lost, since: morning) })
        let hour = bench.pass(.seconds(3_600)).to("price/cheap_now")
        #expect(hour.map(\.text) == ["ON", "ON", "ON"] && hour.allSatisfy { $0.expirySeconds == 3_600 })
    }

    @Test func theSignIsKeptEverywhere() throws {
        var bench = Bench()
        bench.see(house().changed { $0.prices = board { _ in -5 } })
        bench.connect()
        #expect(bench.json("price/now")?["total"] == .double(-0.05))
        #expect(bench.json("price/now")?["next"] == .double(-0.05))
        #expect(bench.json("price/series")?["total"]?.arrayValue?.allSatisfy { $0 == .double(-0.05) } == true)
        #expect(bench.json("price/cheap/3h")?["average"] == .double(-0.05))
    }

    @Test func everyDocumentStaysBelowEightKilobytes() throws {
        var bench = Bench()
        let plan = try plan(reason: String(repeating: "ö\"", count: 5_000))
        let prices = board { -123_456.789 - Double($0) / 7 }
        bench.see(
            house().changed {
                $0.prices = prices; $0.plan = plan; $0.energy = energy
            })
        for message in bench.connect() where message.topic.hasPrefix("ftw/") {
            #expect(message.payload.count <= 8_000, "\(message.topic)")
        }
        #expect(bench.json("price/series")?["total"]?.arrayValue?.count == 192)
        #expect(bench.json("plan/series")?["battery"]?.arrayValue?.count == 96)
    }

    @Test func thePlanSaysWhatItDoesAndUntilWhen() throws {
        var bench = Bench()
        bench.see(try rich())
        bench.connect()
        let now = try #require(bench.json("plan/now"))
        #expect(now["action"] == "gives" && now["until"] == "2026-11-30T12:00:00+01:00")
        #expect(now["reason"] == "cheap_import" && now["planned_at"] == "2026-11-30T10:00:00+01:00")
        #expect(now["stale"] == false && now["enabled"] == true)
        #expect(bench.json("plan/series")?["deadlines"]?.arrayValue?.count == 16)
    }

    @Test func energyThatIsUnknownIsNullAndNotZero() throws {
        var bench = Bench()
        bench.see(try rich())
        bench.connect()
        let energy = try #require(bench.json("energy"))
        #expect(
            energy["import"] == .double(1.25) && energy["house"] == 0
                && energy["today_import"] == .double(0.5))
        #expect(energy["car"] == .null && energy["solar"] == .null && energy["today_house"] == .null)
    }

    @Test func pricesThatEndedAreNull() throws {
        var bench = Bench()
        bench.see(house().changed { $0.prices = board(now: morning + 3 * 86_400) })
        bench.connect()
        #expect(bench.json("price/now")?["total"] == .null && bench.json("price/now")?["unit"] == "SEK/kWh")
        #expect(bench.text("price/cheap_now") == "null")
        #expect(bench.json("price/series")?["stale"] == true)
    }

    @Test func aGoodbyeLeavesNoTrigger() throws {
        var bench = Bench()
        bench.see(house().changed { $0.prices = board { $0 < 48 ? 1 : 200 } })
        bench.connect()
        #expect(bench.text("price/cheap_now") == "ON")
        bench.feed(.goodbye)
        #expect(bench.text("price/cheap_now") == "null")
        #expect(bench.json("price/now")?["total"] == .double(0.01))
    }

    @Test func entitiesAreAnnouncedWhole() throws {
        var bench = Bench()
        bench.see(try rich())
        bench.connect()
        let components = try #require(bench.discovery()?["components"])
        let bridge: JSONValue = [["topic": "ftw/home/bridge/availability"]]
        #expect(
            components["price"] == [
                "platform": "sensor", "name": "Price", "unique_id": "ftw_0123456789abcdef_price",
                "default_entity_id": "sensor.ftw_home_price", "state_topic": "ftw/home/price/now",
                "value_template": "{{ value_json.total }}", "state_class": "measurement",
                "unit_of_measurement": "SEK/kWh", "suggested_display_precision": 2, "icon": "mdi:cash",
                "json_attributes_topic": "ftw/home/price/series", "availability": bridge,
            ])
        #expect(
            components["cheap_now"] == [
                "platform": "binary_sensor", "name": "Cheap now",
                "unique_id": "ftw_0123456789abcdef_cheap_now",
                "default_entity_id": "binary_sensor.ftw_home_cheap_now",
                "state_topic": "ftw/home/price/cheap_now",
                "value_template": "{{ value if value in ('ON', 'OFF') else none }}", "icon": "mdi:piggy-bank",
                "availability": bridge,
            ])
        #expect(
            components["grid_import_energy"] == [
                "platform": "sensor", "name": "Grid import energy",
                "unique_id": "ftw_0123456789abcdef_grid_import_energy",
                "default_entity_id": "sensor.ftw_home_grid_import_energy",
                "state_topic": "ftw/home/energy", "value_template": "{{ value_json.import }}",
                "device_class": "energy", "state_class": "total_increasing", "unit_of_measurement": "kWh",
                "suggested_display_precision": 2,
            ])
        #expect(components["plan"]?["options"] == ["stores", "gives", "waits"])
        for key in [
            "price_next", "price_changes", "price_level", "tomorrow_known", "plan_until", "solar_energy",
            "battery_charge_energy", "battery_discharge_energy", "house_energy", "car_energy",
            "grid_export_energy", "cheapest_2h_start", "cheapest_3h_end", "cheapest_4h_start",
        ] {
            #expect(components[key] != nil, "\(key)")
        }
    }

    @Test func aNewCurrencyIsAnnouncedAndKeptOverARestart() throws {
        var bench = Bench()
        bench.see(try rich())
        bench.connect()
        bench.see(try rich().changed { $0.prices = board(currency: "EUR") })
        func unit(_ bench: Bench) -> JSONValue? {
            bench.discovery()?["components"]?["price"]?["unit_of_measurement"]
        }
        #expect(unit(bench) == "EUR/kWh")
        var again = Bench(disk: bench.disk)
        again.connect()
        #expect(unit(again) == "EUR/kWh")
    }

    @Test func aHouseWithoutPricesHasNoEntitiesOfThem() {
        var bench = Bench()
        bench.see(house())
        bench.connect()
        let keys = bench.discovery()?["components"]?.objectValue?.keys.sorted() ?? []
        #expect(!keys.contains { $0.hasPrefix("price") || $0.hasPrefix("cheap") || $0.hasPrefix("plan") })
    }

    /// Prices and plan change each quarter and energy each five minutes; the rest is quiet.
    @Test func anHourOfQuartersCostsFewMessages() throws {
        var bench = Bench()
        bench.see(try rich())
        bench.connect()
        bench.pass(.seconds(60))
        var tracker = tracker()
        var byTopic: [String: Int] = [:]
        for second in 1...3_600 {
            let now = morning + Double(60 + second)
            var state = house(at: now)
            if second % 30 == 0 || second == 1 {
                let (prices, plan) = (tracker.board(zone: zone, isOld: false, now: now), try plan(now: now))
                state.prices = prices
                state.plan = plan
                state.energy = energy
                state.energy?.totalsKWh[.gridImport] = 1.25 + Double(second / 300)
                for message in bench.see(state) { byTopic[message.topic, default: 0] += 1 }
            }
            for message in bench.pass(.seconds(1)) { byTopic[message.topic, default: 0] += 1 }
        }
        func count(_ prefix: String) -> Int {
            byTopic.filter { $0.key.hasPrefix("ftw/home/\(prefix)") }.reduce(0) { $0 + $1.value }
        }
        #expect(count("price/now") == 4 && count("energy") == 12)
        #expect(count("price/") <= 15 && count("plan/") <= 16, "\(byTopic)")
    }
}
