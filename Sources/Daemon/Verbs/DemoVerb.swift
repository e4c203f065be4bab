import Ambient
import BoxLink
import BoxSimulator
import Configuration
import FoundationEssentials
import Glibc
import MQTTClient
import MQTTTypes

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
            // The demo's box wants the owner's consent for goals, and its owner is who tries them.
            settings.commands.goalConsent = true
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
        let house = try await DemoHouse(options, loop: loop, ambient: around.ambient)
        var site = Settings.Site()
        site.name = settings.language == .sv ? "Demohuset" : "Demo House"
        let (paired, pairing) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        var bridge: DemoBridge?
        if options.noBridge {
            pairing.finish()
        } else {
            bridge = try await DemoBridge(
                settings, site, house: house, speed: options.speed, loop: loop, time: around.ambient.time,
                log: around.ambient.log
            ) {
                await Self.invite(house)
                pairing.finish()
            }
        }
        explain(settings, ownBroker: ownBroker, house: house)
        if options.noBridge { await Self.invite(house) }
        let world = Task { await house.run() }
        await house.boxJoined(around.ambient.time)
        let watching = onlooker(settings, site, loop, around).map { onlooker in Task { await onlooker.run() }
        }
        let running = bridge.map { bridge in Task { await bridge.runner.run() } }
        let console =
            options.console
            ? DemoConsole(house: house, broker: "\(settings.mqtt.host):\(settings.mqtt.port)") : nil
        await waitForEnd(signals, around.ambient.time, console, paired: paired)
        // The bridge first, so that its goodbye is seen; then what it stood on.
        running?.cancel()
        await running?.value
        watching?.cancel()
        await watching?.value
        world.cancel()
        await world.value
        await loop.stop()
        let cleared =
            ownBroker
            ? nil
            : await bridge?.clear(
                SiteAssembly(
                    settings: settings, site: site, loop: loop, ambient: around.ambient))
        if let bridge, bridge.broker.counters().connects == 0 {
            throw DemoBroker.Failure(
                description: "the broker at \(settings.mqtt.host):\(settings.mqtt.port) was never reached")
        }
        if let cleared { print("\n\(cleared)") }
        print("\nDemo ended.")
    }

    /// Prints topics; it watches and says nothing: the bridge's own connection tells how the broker fares.
    private func onlooker(
        _ settings: Settings, _ site: Settings.Site, _ loop: WebSocketLoop, _ around: Surroundings
    ) -> Onlooker? {
        guard !options.noPrint else { return nil }
        let quiet = SiteAssembly(
            settings: settings, site: site, loop: loop, ambient: Ambient(time: around.ambient.time))
        return Onlooker(
            client: quiet.broker(will: nil, clientID: "ftw-mqtt-demo-\(getpid())"),
            base: settings.mqtt.baseTopic, plain: options.plain, environment: environment,
            time: around.ambient.time)
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

    /// - Parameter paired: Ends once the demo's own bridge used its link: a console that made
    ///   another one earlier would lock it out.
    private func waitForEnd(
        _ signals: AsyncStream<Signals.Signal>, _ time: any TimeSource, _ console: DemoConsole?,
        paired: AsyncStream<Void>
    ) async {
        await withTaskGroup(of: Void.self) { group in
            // It has no configuration to read again: SIGHUP is its terminal going away.
            group.addTask { for await _ in signals { return } }
            if let seconds = options.seconds {
                group.addTask { try? await time.sleep(for: .seconds(seconds)) }
            }
            if let console {
                group.addTask {
                    for await _ in paired {}
                    if await !console.run() { await Cancellation.wait() }
                }
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func explain(_ settings: Settings, ownBroker: Bool, house: DemoHouse) {
        let host = settings.mqtt.host
        let port = settings.mqtt.port
        let base = settings.mqtt.baseTopic
        let brokerLine =
            "  broker          \(host):\(port)\(ownBroker ? " (mosquitto, started for this demo)" : "")"
        let consoleLine = options.console ? "  console         type help\n" : ""
        if options.noBridge {
            print(
                """
                A simulated house with its box, behind a relay. Pair a bridge with it and run that.

                \(brokerLine)
                  relay           \(house.relayURL)
                \(consoleLine)  stop            Ctrl-C

                """)
            return
        }
        print(
            """
            A simulated house with its box, and the bridge over it. Nothing here is real but the way.

            \(brokerLine)
              all topics      mosquitto_sub -h \(host) -p \(port) -v -t '\(base)/#'
              Home Assistant  add the MQTT integration with this broker; the devices appear by themselves
            \(consoleLine)  stop            Ctrl-C

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
