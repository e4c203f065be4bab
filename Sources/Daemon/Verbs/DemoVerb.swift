import Ambient
import BoxLink
import BoxSession
import BoxSimulator
import Bridge
import Configuration
import FoundationEssentials
import Glibc
import MQTTClient
import MQTTTypes
import Persistence

/// `ftw-mqtt demo`: a simulated house and everything real around it.
struct DemoVerb {
    let options: DemoOptions
    let environment: [String: String]

    func run() async -> ExitCode {
        let around = Surroundings(
            environment: environment, logLevel: options.logLevel ?? "notice", plain: options.plain)
        let signals = Signals.stream()
        guard let folder = TemporaryFolder(prefix: "ftw-mqtt-demo") else {
            around.complain("cannot make a temporary folder: \(String(cString: strerror(errno)))")
            return .failed
        }
        defer { folder.remove() }
        do {
            var settings = Settings()
            settings.language = options.language == "sv" ? .sv : .en
            settings.mqtt.host = "127.0.0.1"
            var ownBroker: DemoBroker?
            if let broker = options.broker {
                settings.mqtt.host = broker.host
                settings.mqtt.portWritten = broker.port
            } else {
                let broker = try await DemoBroker(
                    port: options.port.flatMap(UInt16.init(exactly:)), folder: folder.path,
                    time: around.ambient.time)
                settings.mqtt.portWritten = Int(broker.port)
                ownBroker = broker
            }
            defer { ownBroker?.stop() }
            try await play(settings, around, signals, ownBroker: ownBroker != nil)
            return .done
        } catch {
            around.complain("\(error)")
            return error is DemoBroker.Failure ? .unreachable : .failed
        }
    }

    private func play(
        _ settings: Settings, _ around: Surroundings, _ signals: AsyncStream<Signals.Signal>, ownBroker: Bool
    ) async throws {
        let loop = WebSocketLoop()
        let house = try await DemoHouse(speed: options.speed, loop: loop, ambient: around.ambient)
        // Paired as any bridge is: by the link that the box shows.
        let link = try PairingLink(parsing: await house.box.pairingLink())
        let record = PairingRecord(link: link, identity: try X25519KeyPair(), site: "home", label: "Demo")
        var site = Settings.Site()
        site.name = settings.language == .sv ? "Demohuset" : "Demo House"
        // The carrier keeps the world's time, which the relay keeps too.
        let outside = SiteAssembly(settings: settings, site: site, loop: loop, ambient: around.ambient)
        let inside = SiteAssembly(
            settings: settings, site: site, loop: loop, ambient: house.ambient, speed: options.speed)
        let carrier = try outside.carrier(for: record.over(house.relayURL))
        let memory = DemoMemory()
        let session = try inside.session(for: record, over: carrier, memory: memory)
        let bridgeSettings = inside.bridge(for: record)
        let broker = inside.broker(will: bridgeSettings.will)
        let bridge = BridgeService(
            settings: bridgeSettings, box: session, broker: broker, memory: memory,
            hooks: BridgeHooks(health: { await HealthReading.take(session: session, broker: broker) }),
            ambient: house.ambient)
        let runner = SiteRunner(
            session: session, broker: broker, bridge: bridge
        ) { note in
            // The box has one code at a time, so the next link comes once ours is used.
            if note == .paired { await Self.invite(house) }
        }
        // It watches and says nothing: the bridge's own connection tells how the broker fares.
        let quiet = SiteAssembly(
            settings: settings, site: site, loop: loop, ambient: Ambient(time: around.ambient.time))
        let onlooker = Onlooker(
            client: quiet.broker(will: nil, clientID: "ftw-mqtt-demo-\(getpid())"),
            base: settings.mqtt.baseTopic, plain: options.plain, environment: environment,
            time: around.ambient.time)
        explain(settings, around, ownBroker: ownBroker, house: house)
        let world = Task { await house.run() }
        let watching = Task { await onlooker.run() }
        let running = Task { await runner.run() }
        await waitForEnd(signals, around.ambient.time)
        // The bridge first, so that its goodbye is seen; then what it stood on.
        running.cancel()
        await running.value
        watching.cancel()
        await watching.value
        world.cancel()
        await world.value
        await loop.stop()
        if broker.counters().connects == 0 {
            throw DemoBroker.Failure(
                description: "the broker at \(settings.mqtt.host):\(settings.mqtt.port) was never reached")
        }
        print("\nDemo ended.")
    }

    /// How to try `pair`, with a code that works once.
    private static func invite(_ house: DemoHouse) async {
        let link = await house.box.pairingLink()
        print(
            """
              pair            another bridge may join this house, once within ten minutes:
                              ftw-mqtt pair --relay \(house.relayURL) '\(link)'

            """)
    }

    private func waitForEnd(_ signals: AsyncStream<Signals.Signal>, _ time: any TimeSource) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await signal in signals where signal == .stop { return } }
            if let seconds = options.seconds {
                group.addTask { try? await time.sleep(for: .seconds(seconds)) }
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func explain(_ settings: Settings, _ around: Surroundings, ownBroker: Bool, house: DemoHouse) {
        let host = settings.mqtt.host
        let port = settings.mqtt.port
        let base = settings.mqtt.baseTopic
        print(
            """
            A simulated house with its box, and the bridge over it. Nothing here is real but the way.

              broker          \(host):\(port)\(ownBroker ? " (mosquitto, started for this demo)" : "")
              all topics      mosquitto_sub -h \(host) -p \(port) -v -t '\(base)/#'
              Home Assistant  add the MQTT integration with this broker; the devices appear by themselves
              stop            Ctrl-C

            """)
    }
}

/// A folder that is gone when the demo is.
struct TemporaryFolder {
    let path: String

    init?(prefix: String) {
        var template = Array("/tmp/\(prefix)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
