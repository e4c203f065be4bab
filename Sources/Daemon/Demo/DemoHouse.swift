import Ambient
import BoxLink
import BoxSimulator
import FoundationEssentials

/// The other half of the demo: a relay on loopback, and behind it a box with a house.
struct DemoHouse: Sendable {
    let relay: RelayServer
    let box: SimulatedBox
    let relayURL: WebSocketURL
    /// What everything that dates readings has to use: the house's day may go faster.
    let ambient: Ambient

    /// Starts the relay; the box joins it in ``run()``.
    ///
    /// - Parameter speed: How many times faster than the clock the house's day goes.
    init(speed: Double, loop: WebSocketLoop, ambient: Ambient) async throws {
        var settings = RelayServerSettings()
        settings.limits = .oneAddress
        relay = RelayServer(loop: loop, settings: settings, ambient: ambient)
        try await relay.start()
        relayURL = try WebSocketURL(parsing: "ws://127.0.0.1:\(relay.port)")
        let clock =
            speed == 1
            ? HouseClock(following: ambient.time)
            : HouseClock(time: ambient.time, startingAt: ambient.time.wall, factor: speed)
        var house = ambient
        if speed != 1 { house.time = HouseTime(base: ambient.time, clock: clock) }
        self.ambient = house
        let boxSettings = try SimulatedBoxSettings()
        // The relay's hours are the world's, not the house's.
        let carrier = RelayCarrier(
            settings: RelaySettings(url: relayURL, secret: boxSettings.rendezvousSecret, end: .box),
            loop: loop, ambient: Ambient(time: ambient.time))
        let home = SimulatedHouse(clock: clock)
        // Whoever looks for a minute at noon wants to see a car as well.
        home.plug(true)
        box = SimulatedBox(
            settings: boxSettings, house: home, carrier: carrier, ambient: house)
    }

    /// Lives until the task is cancelled.
    func run() async {
        await box.run()
        await relay.stop()
    }
}
