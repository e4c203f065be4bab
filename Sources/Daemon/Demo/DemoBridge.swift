import Ambient
import BoxLink
import BoxSession
import BoxSimulator
import Bridge
import Configuration
import MQTTClient
import Persistence

/// The demo's own bridge: the real one, paired with the simulated box as any is.
struct DemoBridge: Sendable {
    let runner: SiteRunner
    let broker: MQTTClient
    private let memory: DemoMemory

    /// - Parameter whenPaired: Called once the box let us in.
    init(
        _ settings: Settings, _ site: Settings.Site, house: DemoHouse, speed: Double, loop: WebSocketLoop,
        time: any TimeSource, log: Log, whenPaired: @escaping @Sendable () async -> Void
    ) async throws {
        // Paired as any bridge is: by the link that the box shows.
        let link = try PairingLink(parsing: await house.box.pairingLink())
        let record = PairingRecord(link: link, identity: try X25519KeyPair(), site: "home", label: "Demo")
        // The carrier keeps the world's time, which the relay keeps too.
        let outside = SiteAssembly(
            settings: settings, site: site, loop: loop, ambient: Ambient(time: time, log: log))
        let inside = SiteAssembly(
            settings: settings, site: site, loop: loop, ambient: house.ambient, speed: speed)
        let carrier = try outside.carrier(for: record.over(house.relayURL))
        let memory = DemoMemory()
        let session = try inside.session(for: record, over: carrier, memory: memory)
        let bridgeSettings = inside.bridge(for: .paired(record))
        let broker = inside.broker(will: bridgeSettings.will)
        let bridge = BridgeService(
            settings: bridgeSettings, box: session, broker: broker, memory: memory,
            hooks: BridgeHooks(health: { await HealthReading.take(session: session, broker: broker) }),
            ambient: house.ambient)
        runner = SiteRunner(session: session, broker: broker, bridge: bridge) { note in
            // The box has one code at a time, so the next link comes once ours is used.
            if note == .paired { await whenPaired() }
        }
        self.broker = broker
        self.memory = memory
    }

    /// Takes everything of the demo off a broker that is somebody's own, once the bridge has ended.
    ///
    /// - Returns: One sentence about what came of it; `nil` when nothing was ever there.
    func clear(_ assembly: SiteAssembly) async -> String? {
        let messages = LeftBehind.clearing(memory)
        guard broker.counters().connects > 0, !messages.isEmpty else { return nil }
        let mqtt = assembly.settings.mqtt
        return await Visit(assembly).publish(messages, within: .seconds(15))
            ? "The demo's \(messages.count) topics and entities were cleared on \(mqtt.host):\(mqtt.port)."
            : "The broker at \(mqtt.host):\(mqtt.port) cannot be reached, so the demo's topics under "
                + "\(assembly.root) are still there."
    }
}
