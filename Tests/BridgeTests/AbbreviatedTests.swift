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
