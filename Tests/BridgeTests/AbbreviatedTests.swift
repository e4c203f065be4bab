import EnergyModel
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

@Suite struct AbbreviatedTests {
    @Test func onlyABrokerWithSmallPacketsGetsTheShortSpelling() throws {
        let topic = "homeassistant/device/ftw_0123456789abcdef/config"
        var wide = Bench()
        wide.see(house())
        wide.connect()
        let long = try #require(wide.retained[topic])
        var narrow = Bench()
        narrow.see(house())
        narrow.feed(
            .connected(BrokerSession(version: .v5, maximumPacketBytes: long.payload.count)))
        narrow.feed(
            .subscribed(attempt: narrow.machine.attempt, granted: narrow.machine.filters.map { _ in true }))
        let short = try #require(narrow.retained[topic])
        #expect(short.payload.count < long.payload.count * 9 / 10)
        // The same said shorter: put back, it is the long one.
        #expect(
            Self.lengthen(try JSONValue(parsing: short.payload)) == (try JSONValue(parsing: long.payload)))
    }

    @Test func aDeviceThatDoesNotFitIsAnnouncedOneComponentAtATime() throws {
        let topic = "homeassistant/device/ftw_0123456789abcdef/config"
        var wide = Bench()
        wide.see(house())
        wide.connect()
        let whole = try JSONValue(parsing: try #require(wide.retained[topic]).payload)
        let components = try #require(whole["components"]?.objectValue)
        // The same bridge meets the same broker again, which has become narrow.
        wide.feed(.disconnected(BrokerLoss(code: .unreachable, sentence: "gone")))
        wide.feed(.connected(BrokerSession(version: .v5, maximumPacketBytes: 2_048)))
        let sent = wide.feed(
            .subscribed(attempt: wide.machine.attempt, granted: wide.machine.filters.map { _ in true }))
        #expect(sent.first?.topic == topic && sent.first?.payload.isEmpty == true)
        #expect(wide.retained[topic] == nil)
        // Home Assistant needs a while to take the old form away, and speaks of a conflict before.
        #expect(!wide.retained.keys.contains { $0.contains("/ftw_0123456789abcdef/") })
        wide.pass(.seconds(16))
        for (key, component) in components {
            let platform = try #require(component["platform"]?.stringValue)
            let single = "homeassistant/\(platform)/ftw_0123456789abcdef/\(key)/config"
            let message = try #require(wide.retained[single], "\(single)")
            #expect(message.payload.count + single.utf8.count + 32 <= 2_048, "\(single)")
            let announced = Self.lengthen(try JSONValue(parsing: message.payload))
            for name in ["unique_id", "default_entity_id", "availability", "device"] {
                #expect(announced[name] == component[name] ?? whole[name], "\(single) \(name)")
            }
        }
        // And wide again: the whole device, and no component of its own left.
        wide.feed(.disconnected(BrokerLoss(code: .unreachable, sentence: "gone")))
        wide.connect()
        wide.pass(.seconds(16))
        #expect(try JSONValue(parsing: try #require(wide.retained[topic]).payload) == whole)
        let singles = wide.retained.keys.filter { $0.contains("/ftw_0123456789abcdef/") }
        #expect(singles == [topic])
    }

    @Test func namesOfOursAreNotShortened() {
        let document: JSONValue = ["components": ["icon": ["icon": "mdi:x", "platform": "sensor"]]]
        #expect(document.abbreviatedDiscovery == ["cmps": ["icon": ["ic": "mdi:x", "p": "sensor"]]])
    }

    private static func lengthen(_ value: JSONValue, options: Bool = true) -> JSONValue {
        let long = Dictionary(uniqueKeysWithValues: JSONValue.discoveryAbbreviations.map { ($1, $0) })
        switch value {
        case .array(let items): return .array(items.map { lengthen($0) })
        case .object(let members):
            return .object(
                Dictionary(
                    uniqueKeysWithValues: members.map { name, member in
                        let key = options ? long[name] ?? name : name
                        return (key, lengthen(member, options: !(options && key == "components")))
                    }))
        default: return value
        }
    }
}
