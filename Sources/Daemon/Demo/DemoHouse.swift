import Ambient
import BoxLink
import BoxSimulator
import FoundationEssentials

/// The other half of the demo: a relay on loopback, and behind it a box with a house.
struct DemoHouse: Sendable {
    let relay: RelayServer
    let box: SimulatedBox
    let home: SimulatedHouse
    let clock: HouseClock
    /// The box's way into the relay's room.
    let cable: CableCarrier
    let relayURL: WebSocketURL
    /// What everything that dates readings has to use: the house's day may go faster.
    let ambient: Ambient

    /// Starts the relay; the box joins it in ``run()``.
    init(_ options: DemoOptions, loop: WebSocketLoop, ambient: Ambient) async throws {
        var settings = RelayServerSettings()
        settings.limits = .oneAddress
        if let port = options.relayPort { settings.server.port = port }
        relay = RelayServer(loop: loop, settings: settings, ambient: ambient)
        try await relay.start()
        relayURL = try WebSocketURL(parsing: "ws://127.0.0.1:\(relay.port)")
        let isOwn = options.speed != 1 || options.start != nil || options.console
        clock =
            isOwn
            ? HouseClock(
                time: ambient.time, startingAt: options.start ?? ambient.time.wall, factor: options.speed)
            : HouseClock(following: ambient.time)
        var house = ambient
        if isOwn { house.time = HouseTime(base: ambient.time, clock: clock) }
        self.ambient = house
        let boxSettings = try Self.settings(options.state.map { DemoBoxFile(path: $0) }, ambient.log)
        // The relay's hours are the world's, not the house's.
        let relaySettings = RelaySettings(url: relayURL, secret: boxSettings.rendezvousSecret, end: .box)
        let outside = Ambient(time: ambient.time)
        cable = CableCarrier { RelayCarrier(settings: relaySettings, loop: loop, ambient: outside) }
        home = SimulatedHouse(clock: clock)
        // Whoever looks for a minute at noon wants to see a car as well.
        home.plug(true)
        box = SimulatedBox(settings: boxSettings, house: home, carrier: cable, ambient: house)
    }

    /// The box of the file, or a new one that is kept there.
    private static func settings(_ file: DemoBoxFile?, _ log: Log) throws -> SimulatedBoxSettings {
        guard let file else { return try SimulatedBoxSettings() }
        var settings: SimulatedBoxSettings
        if let record = try file.load() {
            settings = SimulatedBoxSettings(record)
        } else {
            let new = try SimulatedBoxSettings()
            let record = BoxRecord(
                identity: new.identity, rendezvousSecret: new.rendezvousSecret, clients: [])
            try file.save(record)
            settings = SimulatedBoxSettings(record)
        }
        settings.onClientsChanged = { record in
            do throws(DemoBoxFile.Failure) { try file.save(record) } catch { log.error("\(error)") }
        }
        return settings
    }

    /// Lives until the task is cancelled.
    func run() async {
        await box.run()
        await relay.stop()
    }
}
