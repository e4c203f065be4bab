import Ambient
import BoxLink
import BoxSession
import BoxSimulator
import Configuration
import EnergyModel
import FoundationEssentials
import JSONText
import MQTTClient
import MQTTTypes
import Persistence
import Testing

/// What is not known is unavailable or null, and nothing else with it.
@Suite(.needsBroker, .timeLimit(.minutes(4))) struct QuietSourceTests {
    private static let members = ["grid", "solar", "battery", "car", "house"]

    struct Fall: Sendable {
        var source: String
        /// The values that depend on it.
        var unknown: Set<String>
        var losesBattery = false
    }
    static let falls = [
        Fall(source: "roof-pv", unknown: ["solar", "house"]),
        Fall(source: "house-battery", unknown: ["battery", "house"], losesBattery: true),
        Fall(source: "garage-charger", unknown: ["car", "house"]),
        Fall(source: "grid-meter", unknown: ["grid", "house"]),
    ]

    @Test(arguments: falls)
    func onlyItsOwnValuesGoAndTheyComeBackAfterTenSteadySeconds(_ fall: Fall) async throws {
        let stage = try await Stage()
        let bridge = try stage.bridge()
        let cold = try await stage.settled()
        await stage.box.setSource(fall.source, .offline)
        let quiet = try await stage.picture("the quiet source") { picture in
            picture.text("source/\(fall.source)/availability") == "offline"
                && fall.unknown.allSatisfy { picture.document("power")?[$0] == .null }
                && (picture.document("battery")?["level"] == .null) == fall.losesBattery
        }
        for member in Self.members where !fall.unknown.contains(member) {
            #expect(quiet.document("power")?[member] == cold.document("power")?[member], "\(member)")
        }
        if !fall.losesBattery {
            #expect(quiet.document("battery")?["level"] == cold.document("battery")?["level"])
        }
        for other in Self.falls where other.source != fall.source {
            #expect(quiet.text("source/\(other.source)/availability") == "online")
        }
        #expect(quiet.document("power")?["live"] == true)
        #expect(quiet.text("box/availability") == "online")
        #expect(quiet.discovery == cold.discovery)
        // In Home Assistant a value is unavailable with its source, and with no other.
        let layers = layers(of: quiet)
        #expect(layers["solar_power"] == ["roof-pv"])
        #expect(layers["battery_level"] == ["house-battery"])
        #expect(layers["grid_power"] == ["grid-meter"])
        #expect(layers["car_power"] == nil || layers["car_power"] == ["garage-charger"])

        let watcher = try await TestClient.subscribed(
            stage.onlooker, to: ["ftw/home/source/\(fall.source)"])
        let restoredAt = Date()
        await stage.box.setSource(fall.source, .answering)
        try await stage.becomes(cold, after: "the return of \(fall.source)")
        let healthyAt = watcher.seen.compactMap { event -> Date? in
            guard case .message(let message) = event, !message.retained,
                let document = try? JSONValue(parsing: message.payload), document["healthy"] == true,
                let text = document["at"]?.stringValue
            else { return nil }
            return try? Date(text, strategy: .iso8601)
        }
        let first = try #require(healthyAt.first)
        // Text without fractions of a second loses up to one of them.
        #expect(first.timeIntervalSince(restoredAt) > 8.9, "\(first) \(restoredAt)")
        await watcher.close()
        await bridge.stop()
        await stage.close()
    }

    /// For each entity of power and level, the sources whose availability it follows.
    private func layers(of picture: RetainedPicture) -> [String: [String]] {
        var layers: [String: [String]] = [:]
        for document in picture.discovery.values {
            for (key, entity) in document["components"]?.objectValue ?? [:] {
                let topics = (entity["availability"]?.arrayValue ?? []).compactMap {
                    $0["topic"]?.stringValue ?? $0["t"]?.stringValue
                }
                let sources = topics.compactMap { topic -> String? in
                    let parts = topic.split(separator: "/").map(String.init)
                    guard parts.count == 5, parts[2] == "source" else { return nil }
                    return parts[3]
                }
                if !sources.isEmpty { layers[key] = sources }
            }
        }
        return layers
    }

    @Test func aFailingSourceThatFlapsDoesNotFlapOnTheBroker() async throws {
        let stage = try await Stage()
        let bridge = try stage.bridge()
        _ = try await stage.settled()
        let watcher = try await TestClient.subscribed(
            stage.onlooker, to: ["ftw/home/source/roof-pv/availability", "ftw/home/power"])
        await stage.box.setSource("roof-pv", .failing)
        _ = try await stage.picture("the failing source") {
            $0.text("source/roof-pv/availability") == "offline"
        }
        let frames = await bridge.session.counters().frames
        _ = try await stage.eventually("a few beats") {
            await bridge.session.counters().frames > frames + 8 ? true : nil
        }
        let news = watcher.seen.compactMap { event -> Message? in
            if case .message(let message) = event, !message.retained { message } else { nil }
        }
        #expect(news.filter { $0.topic.hasSuffix("availability") }.map(\.text) == ["offline"])
        let solar = news.compactMap { message -> JSONValue? in
            message.topic.hasSuffix("power") ? (try? JSONValue(parsing: message.payload))?["solar"] : nil
        }
        #expect(!solar.contains(0), "\(solar)")
        await watcher.close()
        await bridge.stop()
        await stage.close()
    }

    @Test func theSunIsNegativeAndTheLevelIsInPercent() async throws {
        var options = Stage.Options()
        options.house.battery?.soc = 0.553
        let stage = try await Stage(options)
        let bridge = try stage.bridge()
        let picture = try await stage.settled()
        let solar = try #require(picture.document("power")?["solar"]?.intValue)
        #expect(solar < -100)
        #expect(picture.document("battery")?["level"] == 55.3)
        let flows = stage.box.house.flows
        #expect(Double(solar) == flows.pvW.rounded())
        #expect(picture.document("power")?["grid"]?.doubleValue == flows.gridW.rounded())
        await bridge.stop()
        await stage.close()
    }

    @Test func whatTheHouseDoesNotHaveIsNeverZero() async throws {
        var options = Stage.Options()
        options.house.battery = nil
        options.house.chargers = []
        options.house.pvPeakW = 0
        let stage = try await Stage(options)
        let watcher = try await TestClient.subscribed(stage.onlooker, to: ["ftw/#", "homeassistant/#"])
        let bridge = try stage.bridge { $0.mqtt.values = true }
        let picture = try await stage.picture("a live house of nothing but a meter") {
            $0.text("box/availability") == "online" && $0.document("power")?["grid"]?.intValue != nil
                && $0.document("source/grid-meter")?["roles"] == ["meter"]
        }
        let power = try #require(picture.document("power"))
        for member in ["solar", "battery", "car"] {
            #expect(power[member] == .null, "\(member)")
            #expect(picture.text("power/\(member)") == "null", "\(member)")
        }
        #expect(picture.document("battery")?["level"] == .null)
        #expect(picture.text("battery/level") == "null")
        #expect(picture.discovery.count == 1)
        let entities = picture.discovery.values.flatMap {
            ($0["components"]?.objectValue ?? [:]).filter { $0.value["unique_id"] != nil }.keys
        }
        #expect(!entities.contains { $0.contains("battery") || $0 == "car_power" || $0 == "solar_power" })
        // Nor was it at any time before.
        for event in watcher.seen {
            guard case .message(let message) = event else { continue }
            switch message.topic {
            case "ftw/home/power/solar", "ftw/home/power/battery", "ftw/home/power/car",
                "ftw/home/battery/level":
                #expect(message.text == "null", "\(message.topic)")
            default: break
            }
        }
        await watcher.close()
        await bridge.stop()
        await stage.close()
    }
}
