import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes

/// What Home Assistant is told.
extension BridgeMachine {
    /// The box's own id; for a box without one, a hash of its key. Chosen once,
    /// because everything that Home Assistant remembers hangs on it.
    mutating func chooseIdentity() {
        if announced.identity != nil { return }
        if let id = settings.boxID ?? publisher.site.box?.id {
            announced.identity = TopicLevel(id).text
        } else if publisher.site.box != nil, let hash = settings.boxKeyHash {
            announced.identity = TopicLevel(hash).text
        }
    }

    mutating func arrangeShape() {
        guard let identity = announced.identity else { return }
        let site = publisher.site
        var seen: Set<TopicLevel> = []
        var seenCars: Set<TopicLevel> = []
        shape = HomeShape(
            identity: identity,
            sources: site.sources.compactMap { source in
                guard let level = publisher.levels[source.id], seen.insert(level).inserted else { return nil }
                return .init(level: level, name: source.shownName, roles: source.roles)
            },
            cars: announced.cars.compactMap { car in
                let level = TopicLevel(car.id)
                guard seenCars.insert(level).inserted else { return nil }
                return .init(
                    level: level, name: car.id, source: car.driverName.flatMap { publisher.levels[$0] })
            },
            presence: announced.presence, modes: modeLabels + lingering,
            boxBuild: site.box?.build, cheapHours: settings.cheapHours)
    }

    private var modeLabels: [String] { ModeLabels(publisher.site.mode?.catalogue ?? []).all }

    /// Publishes what should be announced.
    ///
    /// - Parameter all: Also what this connection was already told.
    mutating func announce(all: Bool, now: Moment) {
        linger(now: now)
        arrangeShape()
        tell(all: all, now: now)
    }

    /// Takes the options back that were only left for the change.
    mutating func settleOptions(now: Moment) {
        settleAt = nil
        lingering = []
        arrangeShape()
        tell(all: false, now: now)
    }

    /// An option that is no more stays until the state has left it: Home Assistant
    /// takes a state that is not in its list for an error, and stops showing it.
    private mutating func linger(now: Moment) {
        let labels = modeLabels
        let known = announced.devices.values.compactMap { $0.options["mode"] }.first ?? []
        lingering = Array(known.filter { !labels.contains($0) }.prefix(32))
        settleAt = lingering.isEmpty ? nil : settleAt ?? now.monotonic + .seconds(4)
    }

    /// In the long spelling, unless only the short one fits what the broker takes.
    private func announcement(_ topic: String, _ payload: JSONValue) -> Message {
        let long = payload.bytes
        return Message(
            topic, fits(topic, long) ? long : payload.abbreviatedDiscovery.bytes, retained: true)
    }

    private func fits(_ topic: String, _ payload: [UInt8]) -> Bool {
        // Beside topic and payload a PUBLISH has a few bytes of lengths and properties (MQTT 5.0 §3.3).
        publisher.session?.maximumPacketBytes.map { payload.count + topic.utf8.count + 32 <= $0 } ?? true
    }

    /// A device that the broker does not take whole is announced one component at a
    /// time: to Home Assistant both ways name the same entities.
    private func fitting(_ device: Discovery.Device) -> [Discovery.Device] {
        guard publisher.session?.maximumPacketBytes != nil, !device.isSingle else { return [device] }
        let gone = announced.devices[device.topic]?.gone.mapValues(\.platform) ?? [:]
        let short = device.payload(gone: gone).abbreviatedDiscovery.bytes
        return fits(device.topic, short) ? [device] : device.singles
    }

    private mutating func tell(all: Bool, now: Moment) {
        guard let shape else {
            if !settings.discovery { _ = announced.announce([], now: now.wall) }
            return
        }
        let devices = Discovery(settings: settings, shape: shape).devices.flatMap(fitting)
        holdChangedEnums(devices, now: now)
        let clearedBefore = Set(announced.cleared.keys)
        let announcements = announced.announce(devices, now: now.wall)
        // First what is gone: it may come again in another form, and nothing is to be there twice.
        let gone = Set(announced.cleared.keys).subtracting(clearedBefore)
        for topic in gone.sorted() {
            sentDiscovery[topic] = nil
            clear(topic, now: now)
        }
        for (topic, payload) in announcements {
            if Announced.isOtherForm(topic, of: gone) {
                // Home Assistant has to have taken the old form away.
                sentDiscovery[topic] = payload
                retell(topic, now: now)
                continue
            }
            if !all, sentDiscovery[topic] == payload { continue }
            if !all, sentDiscovery[topic] != nil { retell(topic, now: now) }
            sentDiscovery[topic] = payload
            publish(announcement(topic, payload), now: now)
        }
        saveAnnounced()
    }

    /// While Home Assistant (2026.11) still sets up one component of a device, it takes
    /// that component's news for later and drops the rest of the document, new
    /// components with it. Said again when it is done, the same document brings them;
    /// what it already knows it ignores.
    mutating func retell(now: Moment) {
        retellAt = nil
        for topic in retold.sorted() {
            if let payload = sentDiscovery[topic] { publish(announcement(topic, payload), now: now) }
        }
        retold = []
    }

    private mutating func retell(_ topic: String, now: Moment) {
        retold.insert(topic)
        retellAt = now.monotonic + Self.digestion
    }

    /// How long Home Assistant may take to set up a device's components.
    private static let digestion = Duration.seconds(15)

    // MARK: What is gone

    /// Empties a topic. An announced device is emptied once in a connection: to
    /// Home Assistant an empty announcement of a device it does not have is an error.
    mutating func clear(_ topic: String, now: Moment) {
        if Announced.isDevice(topic), !buried.insert(topic).inserted { return }
        publish(Message(topic, [], retained: true), now: now)
    }

    /// A broker still had the announcement of something that is gone.
    ///
    /// - Returns: False for a message that is none of these.
    mutating func unearthed(_ message: Message, now: Moment) -> Bool {
        guard sweeping.contains(message.topic) else { return false }
        if phase != .standby, !message.payload.isEmpty, announced.cleared[message.topic] != nil {
            publish(Message(message.topic, [], retained: true), now: now)
        }
        return true
    }

    /// Home Assistant takes in a changed list of options in its own time. A
    /// state that is only in the new list must not get there first.
    private mutating func holdChangedEnums(_ devices: [Discovery.Device], now: Moment) {
        for device in devices {
            guard let known = announced.devices[device.topic] else { continue }
            for (key, entity) in device.components {
                guard let before = known.options[key], !Set(entity.options).isSubset(of: before) else {
                    continue
                }
                publisher.hold(entity.place, until: now.monotonic + .seconds(2))
            }
        }
    }
}
