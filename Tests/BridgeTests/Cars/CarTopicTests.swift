import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

@Suite struct CarTopicTests {
    /// Everything retained about the cars, one line a topic.
    static func page(_ bench: Bench) -> String {
        bench.retained.values.filter { $0.topic.hasPrefix("ftw/home/car/") }
            .sorted { $0.topic < $1.topic }.map { message in
                let expiry = message.expirySeconds.map { " expires \($0)" } ?? ""
                return "\(message.topic.dropFirst(9)) qos \(message.qos.rawValue)\(expiry)\n"
                    + "\(message.text ?? "")\n"
            }.joined()
    }

    static func check(_ name: String, _ text: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = folder.appending(path: "Expected/\(name).txt")
        if ProcessInfo.processInfo.environment["WRITE_EXPECTED"] != nil {
            try Data(text.utf8).write(to: file)
        }
        let expected = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(text == expected, "\(name)")
    }

    /// For trying a situation in a real Home Assistant: every retained message, one a line.
    static func dump(_ name: String, _ bench: Bench) throws {
        guard let folder = ProcessInfo.processInfo.environment["DUMP_SITUATIONS"] else { return }
        let lines = bench.retained.values.sorted { $0.topic < $1.topic }.map {
            "\($0.topic)\t\($0.text ?? "")\n"
        }
        try Data(lines.joined().utf8).write(to: URL(filePath: "\(folder)/\(name).tsv"))
    }

    static func bench(_ language: Language = .en) -> Bench {
        var bench = Bench(settings(language: language))
        bench.see(house())
        bench.connect()
        bench.pass(.seconds(1))
        bench.wall = morning
        return bench
    }

    @Test(arguments: Situation.all + [Situation.base], Language.allCases)
    func everySituationIsWholeDocuments(situation: Situation, language: Language) throws {
        var bench = Self.bench(language)
        let site = situation.isHealthy ? house() : house().ill("charger")
        if !situation.isHealthy {
            var before = situation
            before.isHealthy = true
            bench.see(house().with(try before.car()))
        }
        bench.see(site.with(try situation.car()))
        bench.pass(.seconds(1))
        let name = situation.name.replacing(",", with: "").replacing(" ", with: "-")
        if language == .en { try Self.check(name, Self.page(bench)) }
        try Self.dump("\(name)-\(language.rawValue)", bench)
        for row in TopicTree.carTable where !row.members.isEmpty {
            let path = row.name.rawValue.replacing("<id>", with: "garage")
            #expect(
                bench.json(path)?.objectValue?.keys.sorted() == row.members.map(\.name).sorted(), "\(path)")
        }
    }

    @Test func noMemberIsACommandTopic() {
        for row in TopicTree.carTable {
            #expect(row.members.allSatisfy { $0.name != "set" && $0.name != "adjust" })
        }
    }

    @Test func twoChargersHaveTheirOwnTopicsAndDevices() throws {
        var bench = Self.bench()
        var other = Situation.all[1]
        other.id = "Gästplats"
        bench.see(house().with(try Situation.all[0].car(isOnly: false), try other.car(isOnly: false)))
        bench.pass(.seconds(1))
        try Self.check("two-chargers", Self.page(bench))
        let guest = TopicLevel("Gästplats").text
        #expect(bench.json("car/\(guest)/state")?["name"] == "Gästplats")
        #expect(
            bench.discovery("ftw_0123456789abcdef_car_garage")?["device"]?["name"] == "Car charging garage")
        #expect(
            bench.discovery("ftw_0123456789abcdef_car_\(guest)")?["device"]?["name"]
                == "Car charging Gästplats")
    }

    @Test func oddNamesAreDistinctAndLegal() throws {
        var bench = Self.bench()
        let names = [
            "Laddare, Garage", "Laddare Garage", "Gästplats", "🚗", String(repeating: "lång ", count: 40),
        ]
        let cars = try names.map { name in
            var situation = Situation.all[0]
            situation.id = name
            return try situation.car(isOnly: false)
        }
        let sent = bench.see(house().changed { $0.cars = cars })
        let levels = Set(
            sent.topics.filter { $0.hasPrefix("ftw/home/car/") }.map { String($0.split(separator: "/")[3]) })
        #expect(levels.count == names.count)
        #expect(
            levels.allSatisfy { level in
                level.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-".utf8.contains($0) }
            })
        let devices = sent.topics.filter { $0.contains("/device/") && $0.contains("_car_") }
        #expect(Set(devices).count == names.count)
        #expect(
            Set(levels.compactMap { bench.json("car/\($0)/state")?["name"]?.stringValue }) == Set(names))
    }

    @Test func aLoadpointThatLeavesTakesItsTopicsAndDeviceAlong() throws {
        var bench = Self.bench()
        var other = Situation.all[1]
        other.id = "guest"
        bench.see(house().with(try Situation.all[0].car(), try other.car()))
        let sent = bench.see(house().with(try Situation.all[0].car()))
        for name in StatePublisher.carNames {
            let path = name.rawValue.replacing("<id>", with: "guest")
            #expect(sent.contains(Message("ftw/home/\(path)", [], retained: true)), "\(path)")
        }
        #expect(bench.discovery("ftw_0123456789abcdef_car_guest") == nil)
        #expect(bench.discovery("ftw_0123456789abcdef_car_garage")?["device"]?["name"] == "Car charging")
        bench.see(house().changed { $0.cars = [] })
        #expect(!bench.retained.keys.contains { $0.contains("/car/") || $0.contains("_car_") })
    }

    @Test func aLevelFromBeforeATripIsNeverShownAsNew() throws {
        var bench = Self.bench()
        var tracker = CarLevelTracker()
        let zone = HouseholdZone(boxZone: "Europe/Stockholm", configured: .utc)
        func see(_ fields: String, minute: Double) throws {
            let now = morning + minute * 60
            let loadpoint = try Situation(name: "", fields: fields).loadpoint()
            let car = tracker.car(CarInput(loadpoint: loadpoint, readAt: now, zone: zone, now: now))
            bench.see(house(at: now).with(car))
            bench.pass(.seconds(60))
        }
        try see(Situation.live.replacing("0.62", with: "0.80"), minute: 0)
        #expect(bench.json("car/garage/level")?["level"] == 80)
        try see(#""plugged_in":false,"soc_source":"","current_soc":0"#, minute: 1)
        #expect(bench.json("car/garage/level")?["level"] == .null)
        #expect(bench.json("car/garage/level")?["unplugged"] == true)
        try see("", minute: 2)
        #expect(bench.json("car/garage/level")?["level"] == 20)
        #expect(bench.json("car/garage/level")?["origin"] == "assumed")
        #expect(bench.json("car/garage/level")?["at"] == .null)
    }

    @Test func onlyWhatTheChargerMeasuresGoesWithIt() throws {
        var bench = Self.bench()
        let situation = Situation(name: "", fields: Situation.live, shortfallWh: 0)
        bench.see(house().with(try situation.car()))
        var silent = situation
        silent.isHealthy = false
        bench.see(house().ill("charger").with(try silent.car()))
        #expect(bench.text("source/charger/availability") == "offline")
        #expect(bench.text("source/meter/availability") == "online")
        #expect(bench.json("car/garage/state")?["plugged_in"] == .null)
        #expect(bench.json("car/garage/state")?["live"] == false)
        #expect(bench.json("car/garage/level")?["level"] == 62)
        #expect(bench.json("car/garage/level")?["outdated"] == true)
        #expect(bench.json("car/garage/goal")?["level"] == 80)
        #expect(bench.json("car/garage/ready")?["reason"] == "stale")
        let components = bench.discovery("ftw_0123456789abcdef_car_garage")?["components"]?.objectValue ?? [:]
        let needing = components.filter { _, component in
            (component["availability"]?.arrayValue ?? []).contains {
                $0["topic"] == "ftw/home/source/charger/availability"
            }
        }
        #expect(
            needing.keys.sorted() == [
                "activity", "charging", "level", "plan_level", "plugged_in", "power", "session_energy",
            ])
    }

    @Test func whatTheBoxHoldsStandsOnlyWhileItIsReadAgain() throws {
        var bench = Self.bench()
        var silent = Situation(name: "", fields: Situation.live)
        silent.isHealthy = false
        let car = try silent.car()
        bench.see(house().ill("charger").with(car))
        #expect(bench.json("car/garage/goal")?["live"] == true)
        #expect(bench.text("car/garage/control") == "plan")
        bench.see(house(at: morning + 1_300).ill("charger").with(car))
        #expect(bench.json("car/garage/goal")?["live"] == false)
        #expect(bench.json("car/garage/goal")?["level"] == .null)
        #expect(bench.text("car/garage/control") == "unknown")
        #expect(bench.json("car/garage/text/en")?["goal"] == .null)
    }

    @Test func aLostBoxLeavesADatedPicture() throws {
        var bench = Self.bench()
        bench.see(house().with(try Situation.all[3].car()))
        let lost = house().changed { $0.link = Link(state: .lost, since: morning, reason: .silent) }
        bench.see(lost.with(try Situation.all[3].car()))
        try Self.check("link-lost", Self.page(bench))
        bench.feed(.goodbye)
        var reborn = Bench(disk: bench.disk, started: morning + 86_400)
        reborn.connect()
        try Self.check("cold-start", Self.page(reborn))
        #expect(reborn.discovery("ftw_0123456789abcdef_car_garage") != nil)
    }

    /// The stream is there before the chargers were read; sources come and get roles meanwhile.
    @Test func carsThatWereNotReadYetStayWhenSourcesChange() throws {
        var bench = Self.bench()
        let state = house().with(try Situation.all[3].car())
        bench.see(state)
        bench.feed(.goodbye)
        var reborn = Bench(disk: bench.disk, started: morning + 60)
        reborn.connect()
        let before = reborn.retained.keys.filter { $0.contains("/car/") }.count
        #expect(before == 10)
        var unread = state
        unread.cars = nil
        unread.sources = unread.sources.map { source in
            var source = source
            source.roles = []
            return source
        }
        reborn.see(unread)
        #expect(reborn.retained.keys.filter { $0.contains("/car/") }.count == before)
        reborn.see(state)
        #expect(reborn.json("car/garage/state")?["live"] == true)
    }

    @Test func aLostPictureLosesNoDevice() throws {
        var bench = Self.bench()
        bench.see(house().with(try Situation.all[3].car()))
        bench.feed(.goodbye)
        var disk = bench.disk
        disk["picture"] = nil
        var reborn = Bench(disk: disk, started: morning + 60)
        reborn.connect()
        #expect(reborn.json("car/garage/level")?["level"] == .null)
        #expect(reborn.json("car/garage/goal")?["active"] == .null)
        #expect(reborn.json("car/garage/state")?["at"] == .null)
        #expect(reborn.discovery("ftw_0123456789abcdef_car_garage") != nil)
    }

    @Test func energyDoesNotStepBackALittle() throws {
        var bench = Self.bench()
        for (wattHours, shown) in [(4_129, 4.12), (4_090, 4.12), (4_200, 4.2), (0, 0), (55, 0.05)] {
            let fields = #""delivered_wh_session":\#(wattHours)"#
            bench.see(house().with(try Situation(name: "", fields: fields).car()))
            #expect(bench.json("car/garage/state")?["session_kwh"]?.doubleValue == shown)
        }
    }

    @Test func aTomorrowBecomesATodayAtMidnight() throws {
        var bench = Self.bench()
        bench.see(house().with(try Situation(name: "", fields: Situation.live, shortfallWh: 0).car()))
        #expect(
            bench.json("car/garage/text/en")?["readiness"]?.stringValue
                == "It will make 80 % by tomorrow 07:00.")
        bench.pass(.seconds(14 * 3_600 + 60))
        #expect(
            bench.json("car/garage/text/en")?["readiness"]?.stringValue == "It will make 80 % by 07:00.")
    }

    /// With a car that speaks every minute and a plan made anew each quarter.
    @Test func aQuietHourWithACarCostsAtMostTwoHundredMessages() throws {
        var bench = Self.bench()
        bench.feed(.health(HealthFacts(memoryBytes: 1, frames: 1)))
        let situation = Situation(
            name: "", fields: Situation.live + #","vehicle_soc_age_s":5"#, shortfallWh: 0, age: 0)
        var car = try situation.car()
        car.readiness.windows = []
        car.charging = .idle
        car.readiness.plannedAt = morning
        bench.see(house().with(car))
        bench.pass(.seconds(60))
        var byTopic: [String: Int] = [:]
        for second in 1...3_600 {
            let elapsed = Double(60 + second)
            car.readAt = morning + (elapsed / 60).rounded(.down) * 60
            car.level.at = car.readAt - 5
            car.readiness.plannedAt = morning + (elapsed / 900).rounded(.down) * 900
            let state = house(at: morning + elapsed).with(car)
            var sent = bench.see(state) + bench.pass(.seconds(1))
            if second % 60 == 0 {
                sent += bench.feed(.health(HealthFacts(memoryBytes: second, frames: second)))
            }
            for message in sent { byTopic[message.topic, default: 0] += 1 }
        }
        let cars = byTopic.filter { $0.key.contains("/car/") }
        #expect(
            cars == [
                "ftw/home/car/garage/state": 3, "ftw/home/car/garage/level": 6,
                "ftw/home/car/garage/ready": 4,
            ])
        #expect(byTopic.values.reduce(0, +) <= 200)
    }

    @Test func whatIsLiveIsRenewedAndWhatIsOldStays() throws {
        var bench = Self.bench()
        bench.see(house().with(try Situation.all[0].car()))
        let sent = bench.pass(.seconds(3_600))
        #expect(sent.to("car/garage/state").count >= 3)
        #expect(sent.to("car/garage/level").count >= 3)
        #expect(sent.to("car/garage/level").allSatisfy { $0.expirySeconds == 3_600 })
        let lost = bench.see(
            house().changed { $0.link = Link(state: .lost, since: morning) }.with(
                try Situation.all[0].car().asOld))
        #expect(lost.to("car/garage/state").allSatisfy { $0.expirySeconds == nil })
        #expect(bench.text("car/garage/control") == "unknown")
        #expect(!bench.pass(.seconds(7_200)).topics.contains { $0.contains("/car/") })
    }

    @Test(arguments: Language.allCases)
    func theDeviceIsOneWholeDocument(language: Language) throws {
        var bench = Self.bench(language)
        bench.see(house().with(try Situation.all[0].car()))
        let payload = try #require(bench.discovery("ftw_0123456789abcdef_car_garage"))
        let components = payload["components"]?.objectValue ?? [:]
        let rest = payload.objectValue?.filter { $0.key != "components" } ?? [:]
        let lines =
            [JSONValue.object(rest).text]
            + components.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.text)" }
        try Self.check("device-\(language.rawValue)", lines.joined(separator: "\n") + "\n")
    }
}
