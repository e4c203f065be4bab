import Ambient
import BoxLink
import BoxSession
import BoxSimulator
import Bridge
import Configuration
import FoundationEssentials
import MQTTClient
import MQTTTypes
import Persistence
import Synchronization

@testable import Daemon

/// One household over real sockets, in this process: broker, relay, and a box
/// behind it whose house stands still, so that two pictures of it can be compared.
final class Stage: Sendable {
    struct Options: Sendable {
        var broker = TestBroker.Options()
        /// The relay speaks TLS with this certificate; `nil`: plain, on loopback.
        var relay: TestCertificates.Server?
        var house = SimulatedHouseSettings()
        /// Whether the box joins the relay at once.
        var boxIsThere = true
        /// The house lives by our clock instead of standing still.
        var isHouseAwake = false

        init() {
            // More sun than the battery takes, so that there is something at the meter too.
            house.pvPeakW = 16_000
        }
    }

    let folder: TestFolder
    let broker: TestBroker
    let relay: RelayServer
    let box: SimulatedBox
    /// Our key, which the box knows already.
    let identity: X25519KeyPair
    let record: PairingRecord
    /// Everything that the bridge's parts logged, debug included.
    let lines = LogLines()
    /// The relay's, also while it is stopped.
    let relayPort: Int
    private let isSecure: Bool
    private let loop = WebSocketLoop()
    private let world = Mutex<Task<Void, Never>?>(nil)

    init(_ options: Options = Options()) async throws {
        folder = try TestFolder()
        broker = try TestBroker(options.broker)
        var relaySettings = RelayServerSettings()
        relaySettings.limits = .oneAddress
        relaySettings.limits.rotationSpread = .zero
        relaySettings.server.certificateFile = options.relay?.certificate
        relaySettings.server.keyFile = options.relay?.key
        isSecure = options.relay != nil
        relay = RelayServer(loop: loop, settings: relaySettings)
        try await relay.start()
        relayPort = relay.port
        let boxSettings = try SimulatedBoxSettings()
        let url = try WebSocketURL(
            parsing: "\(isSecure ? "wss" : "ws")://127.0.0.1:\(relayPort)")
        let ambient = Ambient(chance: { 0.1 })
        // A summer's noon that does not pass: the sun shines, nothing changes by itself.
        let noon = Date(timeIntervalSince1970: 1_781_517_600)
        box = SimulatedBox(
            settings: boxSettings,
            house: SimulatedHouse(
                settings: options.house,
                clock: options.isHouseAwake
                    ? HouseClock(following: SystemTime())
                    : HouseClock(time: SystemTime(), startingAt: noon, factor: 1e-9)),
            carrier: RelayCarrier(
                settings: RelaySettings(
                    url: url, caFile: options.relay?.authority, secret: boxSettings.rendezvousSecret,
                    end: .box), loop: loop, ambient: ambient), ambient: ambient)
        identity = try X25519KeyPair()
        record = PairingRecord(
            site: "home", privateKey: identity.exportSecret(), boxKey: boxSettings.identity.publicKey,
            rendezvousSecret: boxSettings.rendezvousSecret.exported(), code: nil, label: "Home",
            pairedAt: noon, deviceID: BoxNames.deviceID(clientKey: identity.publicKey))
        await box.enrol(clientKey: identity.publicKey)
        if options.boxIsThere { sendInBox() }
    }

    /// The box joins the relay.
    func sendInBox() {
        world.withLock { world in
            // Ended by `close()`.
            if world == nil { world = Task { [box] in await box.run() } }
        }
    }

    /// Ends the world; the bridges first.
    func close() async {
        let world = world.withLock { $0.take() }
        world?.cancel()
        await world?.value
        await relay.stop()
        await loop.stop()
        broker.stop()
    }

    /// The settings that fit this world.
    var settings: Settings {
        var settings = Settings()
        settings.mqtt.host = "127.0.0.1"
        settings.mqtt.portWritten = broker.port
        settings.relay.url = "\(isSecure ? "wss" : "ws")://127.0.0.1:\(relayPort)"
        settings.stateDir = "\(folder.path)/state"
        return settings
    }

    /// Starts a bridge as the daemon does for one of its sites.
    ///
    /// - Parameters:
    ///   - state: Its state folder; two bridges with one name share their memory.
    ///   - asksForAll: It also reads plan, prices and energy, as the daemon does.
    ///   - change: What is otherwise in its configuration.
    func bridge(
        state: String = "state", asksForAll: Bool = false, _ change: (inout Settings) -> Void = { _ in }
    ) throws -> RunningBridge {
        var settings = settings
        change(&settings)
        let site = settings.sites[0]
        let ambient = Ambient(log: lines.log, chance: { 0.1 })
        let loop = WebSocketLoop()
        let assembly = SiteAssembly(settings: settings, site: site, loop: loop, ambient: ambient)
        let folder = try StateFolder.open("\(folder.path)/\(state)", for: .visit)
        let pairings = PairingStore(folder)
        var record = record
        record.site = site.id
        try pairings.save(record)
        let carrier = try assembly.carrier(for: record)
        let log = lines.log
        let memory = StateFile(folder, site: site.id) { log.error("\($0)") }
        let session = try assembly.session(
            for: record, over: carrier, memory: asksForAll ? DiskMemory(file: memory) : nil)
        let bridgeSettings = assembly.bridge(for: .paired(record))
        let client = assembly.broker(will: bridgeSettings.will)
        let service = BridgeService(
            settings: bridgeSettings, box: session, broker: client, memory: DiskMemory(file: memory),
            hooks: BridgeHooks(health: { await HealthReading.take(session: session, broker: client) }),
            ambient: ambient)
        let runner = SiteRunner(
            session: session, broker: client, bridge: service
        ) { note in
            await PairingNotes.write(note, of: site.id, to: pairings, log: log)
        }
        return RunningBridge(runner: runner, session: session, client: client, loop: loop)
    }

    // MARK: Looking

    /// Looks again until it is so; with the last of the log if it never is.
    func eventually<T: Sendable>(_ what: String, _ probe: () async throws -> T?) async throws -> T {
        do {
            return try await IntegrationTests.eventually(what, probe)
        } catch {
            throw TestSetupError("\(error)\n\(lines.texts.suffix(60).joined(separator: "\n"))")
        }
    }

    /// How the broker is reached without TLS; the test adds what the broker wants.
    var onlooker: MQTTSettings { broker.settings(clientID: "onlooker") }

    func picture(root: String = "ftw/home") async throws -> RetainedPicture {
        var picture = RetainedPicture(messages: try await TestClient.retained(onlooker))
        picture.root = root
        return picture
    }

    /// The first picture that is right.
    @discardableResult
    func picture(
        _ what: String, root: String = "ftw/home", _ isRight: (RetainedPicture) -> Bool
    ) async throws -> RetainedPicture {
        do {
            return try await IntegrationTests.eventually(what) {
                let picture = try await self.picture(root: root)
                return isRight(picture) ? picture : nil
            }
        } catch {
            let last = try await picture(root: root)
            let texts = last.messages.values.filter {
                $0.topic.hasPrefix(root) && !$0.topic.hasSuffix("health")
            }
            .map { "\($0.topic) \($0.text ?? "")" }.sorted().joined(separator: "\n")
            throw TestSetupError(
                "\(error)\n\(texts)\n\(lines.texts.suffix(30).joined(separator: "\n"))")
        }
    }

    /// The picture once all is well and nothing moves any more.
    func settled(root: String = "ftw/home") async throws -> RetainedPicture {
        var last: RetainedPicture?
        return try await picture("a live house", root: root) { picture in
            guard picture.isLive else { return false }
            defer { last = picture }
            return last.map { picture.differences(from: $0).isEmpty } ?? false
        }
    }

    /// The lines of the log with these words, once there is one.
    @discardableResult
    func line(_ words: String) async throws -> [String] {
        try await eventually("\"\(words)\" in the log") {
            let lines = self.lines.containing(words)
            return lines.isEmpty ? nil : lines
        }
    }

    /// Waits until the picture is that of `other` again.
    func becomes(_ other: RetainedPicture, after what: String) async throws {
        var differences: [String] = []
        do {
            _ = try await IntegrationTests.eventually("the picture after \(what)") {
                differences = try await self.picture(root: other.root).differences(from: other)
                return differences.isEmpty ? true : nil
            }
        } catch {
            throw TestSetupError(
                "\(error)\n\(differences.joined(separator: "\n"))\n\(lines.texts.suffix(30).joined(separator: "\n"))"
            )
        }
    }
}

/// A bridge at work, as `SiteRunner` runs it.
final class RunningBridge: Sendable {
    let session: BoxSession
    let client: MQTTClient
    private let loop: WebSocketLoop
    private let running: Task<Void, Never>

    init(runner: SiteRunner, session: BoxSession, client: MQTTClient, loop: WebSocketLoop) {
        self.session = session
        self.client = client
        self.loop = loop
        // Ended by `stop()`, or with this value.
        running = Task { await runner.run() }
    }

    deinit { running.cancel() }

    /// Ends it in order, with its goodbye.
    func stop() async {
        running.cancel()
        await running.value
        await loop.stop()
    }
}
