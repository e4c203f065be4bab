import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes

/// What this site has on the broker because of us, over restarts and changes of
/// the configuration: announced devices and components, and retained topics.
/// What is no longer wanted is taken away by this record, never by a sweep over
/// topics that somebody else may own.
struct Announced: Sendable, Equatable {
    private static let version: Int64 = 1
    /// What is gone is said to be gone for so long, because whoever should hear it may be away.
    static let mourning = 86_400.0

    /// Stands for the box in ids; `nil` until it is chosen, then for good.
    var identity: String?
    var presence = Presence()
    /// The loadpoints that the box last had, with their ids and drivers alone.
    var cars: [Loadpoint] = []
    /// Components by discovery topic.
    var devices: [String: Components] = [:]
    /// Full topics with a retained message of ours.
    var topics: Set<String> = []
    /// Topics that are to be empty, and since when.
    var cleared: [String: Date] = [:]

    struct Components: Sendable, Equatable {
        /// Platforms by component key.
        var live: [String: String] = [:]
        var gone: [String: Gone] = [:]
        var options: [String: [String]] = [:]
    }
    struct Gone: Sendable, Equatable {
        var platform: String
        var since: Date
    }

    init() {}

    /// Takes in what should be announced.
    ///
    /// - Returns: Every device's payload by topic, tombstones included.
    mutating func announce(_ wanted: [Discovery.Device], now: Date) -> [(topic: String, payload: JSONValue)] {
        for topic in devices.keys where !wanted.contains(where: { $0.topic == topic }) {
            devices[topic] = nil
            cleared[topic] = now
        }
        return wanted.map { device in
            cleared[device.topic] = nil
            let platforms = device.platforms
            var known = devices[device.topic] ?? Components()
            for (key, platform) in known.live where platforms[key] != platform {
                known.gone[key] = Gone(platform: platform, since: now)
            }
            known.gone = known.gone.filter { key, gone in
                platforms[key] == nil && now.timeIntervalSince(gone.since) < Self.mourning
            }
            known.live = platforms
            known.options = device.options
            devices[device.topic] = known
            return (device.topic, device.payload(gone: known.gone.mapValues(\.platform)))
        }
    }

    /// Takes in which topics carry something of ours now.
    ///
    /// - Returns: Those that no longer do.
    mutating func keep(_ current: Set<String>, now: Date) -> [String] {
        let gone = topics.subtracting(current).sorted()
        for topic in gone { cleared[topic] = now }
        for topic in current { cleared[topic] = nil }
        topics = current
        return gone
    }

    /// Takes in which loadpoints there are.
    mutating func take(_ states: [CarState]) {
        let known = states.map { Self.car($0.id, $0.loadpoint.driverName) }
        if known != cars { cars = known }
    }

    private static func car(_ id: String, _ driver: String?) -> Loadpoint {
        var loadpoint = Loadpoint(id: id)
        loadpoint.driverName = driver
        return loadpoint
    }

    /// Whether a topic announces a whole device.
    static func isDevice(_ topic: String) -> Bool {
        topic.contains("/device/") && topic.hasSuffix("/config")
    }

    /// Whether a topic announces what one of the others announced in the other form: a
    /// device in one document, or each of its components in one of its own.
    static func isOtherForm(_ topic: String, of others: Set<String>) -> Bool {
        guard let object = object(of: topic) else { return false }
        return others.contains { Self.isDevice($0) != isDevice(topic) && Self.object(of: $0) == object }
    }

    /// `…/device/OBJECT/config` or `…/PLATFORM/OBJECT/KEY/config`.
    private static func object(of topic: String) -> Substring? {
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
        guard levels.last == "config", levels.count >= (isDevice(topic) ? 3 : 4) else { return nil }
        return levels[levels.count - (isDevice(topic) ? 2 : 3)]
    }

    /// Forgets what has been said long enough.
    mutating func settle(now: Date) {
        cleared = cleared.filter { now.timeIntervalSince($0.value) < Self.mourning }
    }

    // MARK: On disk

    init(_ saved: JSONValue?) {
        guard let saved, saved["version"]?.intValue == Self.version else { return }
        identity = saved["identity"]?.stringValue
        presence = Presence(saved["presence"])
        cars = (saved["cars"]?.arrayValue ?? []).compactMap { car in
            car["id"]?.stringValue.map { Self.car($0, car["driver"]?.stringValue) }
        }
        topics = Set((saved["topics"]?.arrayValue ?? []).compactMap(\.stringValue))
        cleared = (saved["cleared"]?.objectValue ?? [:]).compactMapValues(Self.date)
        devices = (saved["devices"]?.objectValue ?? [:]).mapValues { value in
            var components = Components()
            components.live = (value["live"]?.objectValue ?? [:]).compactMapValues(\.stringValue)
            components.options = (value["options"]?.objectValue ?? [:]).mapValues {
                ($0.arrayValue ?? []).compactMap(\.stringValue)
            }
            components.gone = (value["gone"]?.objectValue ?? [:]).compactMapValues { gone in
                guard let platform = gone["platform"]?.stringValue,
                    let since = gone["since"].flatMap(Self.date)
                else { return nil }
                return Gone(platform: platform, since: since)
            }
            return components
        }
    }

    var saved: JSONValue {
        [
            "version": .int(Self.version), "identity": identity.map(JSONValue.string) ?? nil,
            "cars": .array(
                cars.map { ["id": .string($0.id), "driver": $0.driverName.map(JSONValue.string) ?? nil] }),
            "presence": presence.saved, "topics": .array(topics.sorted().map(JSONValue.string)),
            "cleared": .object(cleared.mapValues(Self.number)),
            "devices": .object(
                devices.mapValues { components in
                    [
                        "live": .object(components.live.mapValues(JSONValue.string)),
                        "options": .object(
                            components.options.mapValues { .array($0.map(JSONValue.string)) }),
                        "gone": .object(
                            components.gone.mapValues { gone in
                                ["platform": .string(gone.platform), "since": Self.number(gone.since)]
                            }),
                    ]
                }),
        ]
    }

    private static func number(_ date: Date) -> JSONValue { .double(date.timeIntervalSince1970) }
    private static func date(_ value: JSONValue) -> Date? {
        value.doubleValue.map { Date(timeIntervalSince1970: $0) }
    }
}
