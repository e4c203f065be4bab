import Ambient
import BoxLink
import BoxSession
import Bridge
import Configuration
import EnergyModel
import FoundationEssentials
import JSONText
import MQTTClient
import Persistence

/// All sites of one daemon, over one WebSocket thread and one state folder.
actor Household {
    private var settings: Settings
    private let folder: StateFolder
    private let around: Surroundings
    private let loop = WebSocketLoop()
    private let pairings: PairingStore
    private let options: CommonOptions
    private var sessions: [String: BoxSession] = [:]
    private var bridges: [String: BridgeService] = [:]
    /// Told when a site has to begin again with other settings.
    private var changes: [String: AsyncStream<Void>.Continuation] = [:]
    /// Sites whose pairing somebody took away while we ran.
    private var forgotten: Set<String> = []

    /// How often a site looks whether its pairing is another.
    static let pairingLook = Duration.seconds(2)
    /// Between a new configuration and the sites' new beginning: the answer to
    /// whoever asked for it goes out over the old one.
    private static let answering = Duration.seconds(1)

    /// - Parameter options: What the command line said, for reading the configuration again.
    init(settings: Settings, folder: StateFolder, around: Surroundings, options: CommonOptions) {
        self.options = options
        self.settings = settings
        self.folder = folder
        self.around = around
        pairings = PairingStore(folder)
    }

    /// Works until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for site in settings.sites {
                group.addTask { await self.keepRunning(site) }
            }
            await group.waitForAll()
        }
        await loop.stop()
    }

    /// Whether the loops answer. One that is stuck keeps this from ever
    /// returning, and the service manager's watchdog from being fed.
    func isAlive() async -> Bool {
        for bridge in bridges.values { await bridge.answer() }
        for session in sessions.values { _ = await session.counters() }
        return true
    }

    /// Reads the configuration again and takes over what can be.
    ///
    /// - Returns: One sentence about what came of it.
    func reload() async -> String {
        let log = around.log.log
        guard let new = around.settings(options, isDaemon: true) else {
            let text = "the configuration has faults; the old one stays in force"
            log.error(text)
            return text
        }
        let difference = reloadDifference(settings, new)
        let old = settings
        settings = settings.reloaded(from: new)
        if options.logLevel == nil, let level = LogLevel(named: settings.log.level.rawValue) {
            around.log.level = level
        }
        for session in sessions.values { await session.setReadInterval(settings.car.readInterval) }
        beginAgain(after: old)
        var parts: [String] = []
        if !difference.live.isEmpty { parts.append("taken over: \(difference.live.joined(separator: ", "))") }
        if !difference.restart.isEmpty {
            parts.append("only after a restart: \(difference.restart.joined(separator: ", "))")
        }
        let text = parts.isEmpty ? "nothing changed" : parts.joined(separator: "; ")
        log.notice("configuration read again; \(text)")
        return text
    }

    /// Lets every site begin again whose commands or prices are to be treated otherwise.
    private func beginAgain(after old: Settings) {
        for (site, change) in changes {
            func rights(_ settings: Settings) -> Bool? {
                settings.sites.first { $0.id == site }.map { settings.isReadOnly($0) }
            }
            let isSame =
                old.commands == settings.commands && old.prices == settings.prices
                && rights(old) == rights(settings)
            if !isSame { change.yield() }
        }
    }

    // MARK: One site

    private func keepRunning(_ site: Settings.Site) async {
        while !Task.isCancelled {
            // Before the settings are read, so that no change falls in between.
            let (news, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            changes[site.id] = change
            let pairing = SitePairing.look(site.id, in: pairings)
            // Whoever took the pairing away clears the topics; a word from us would put them back.
            if pairing == .none, forgotten.contains(site.id) {
                await untilPaired(site)
                continue
            }
            forgotten.remove(site.id)
            let runner: SiteRunner
            do {
                // As it stands now: what may change while running may have changed.
                runner = try assemble(settings.sites.first { $0.id == site.id } ?? site, pairing)
            } catch {
                around.log.log.error("\(site.id): \(error)")
                do { try await around.ambient.time.sleep(for: .seconds(60)) } catch { return }
                continue
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await runner.run() }
                group.addTask { await self.untilPairingChanges(site, from: pairing) }
                group.addTask { await self.untilSettingsChange(news) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    /// Returns a moment after the site was told to begin again.
    private func untilSettingsChange(_ news: AsyncStream<Void>) async {
        for await _ in news { break }
        try? await around.ambient.time.sleep(for: Self.answering)
    }

    /// Returns when the site's pairing is another than it was: paired, paired again, removed, or readable.
    private func untilPairingChanges(_ site: Settings.Site, from pairing: SitePairing) async {
        let log = around.log.log
        var watch = PairingWatch(pairing)
        while (try? await around.ambient.time.sleep(for: Self.pairingLook)) != nil {
            switch watch.saw(SitePairing.look(site.id, in: pairings)) {
            case .same: continue
            case .another: return
            case .removed:
                log.notice("\(site.id): its pairing was removed; stopping it until it is paired again")
                forgotten.insert(site.id)
                return
            case .tell(.unreadable(let why)):
                log.error("\(site.id): \(why). It runs on with what it has read, but could not start again")
            case .tell(.readableAgain): log.notice("\(site.id): its pairing can be read again")
            }
        }
    }

    /// Holds a forgotten site until there is a pairing again.
    private func untilPaired(_ site: Settings.Site) async {
        sessions[site.id] = nil
        bridges[site.id] = nil
        while SitePairing.look(site.id, in: pairings) == .none {
            guard (try? await around.ambient.time.sleep(for: Self.pairingLook)) != nil else { return }
        }
    }

    private func assemble(_ site: Settings.Site, _ pairing: SitePairing) throws -> SiteRunner {
        let log = around.log.log
        let assembly = SiteAssembly(settings: settings, site: site, loop: loop, ambient: around.ambient)
        sessions[site.id] = nil
        let memory = StateFile(folder, site: site.id) { log.error("\(site.id): \($0)") }
        var session: BoxSession?
        switch pairing {
        case .paired(let record):
            for secret in [record.privateKey, record.rendezvousSecret, record.code ?? []]
            where !secret.isEmpty {
                around.log.redactor.add(secret)
            }
            session = try assembly.session(
                for: record, over: try assembly.carrier(for: record), memory: DiskMemory(file: memory))
            sessions[site.id] = session
        case .none:
            log.warning("\(site.id): not paired with a box yet; run: ftw-mqtt pair - --site \(site.id)")
        case .unusable(let why):
            log.error(
                "\(site.id): \(why). Until then its entities stay as they are, without values, and nothing reaches the box"
            )
        }
        let bridgeSettings = assembly.bridge(for: pairing)
        let broker = assembly.broker(will: bridgeSettings.will)
        let hooks = BridgeHooks(
            health: { [session] in await HealthReading.take(session: session, broker: broker) },
            reload: { [weak self] in await self?.reload() ?? "the bridge is stopping" })
        let bridge = BridgeService(
            settings: bridgeSettings, box: session ?? unpaired(pairing), broker: broker,
            memory: DiskMemory(file: memory), hooks: hooks, ambient: around.ambient)
        bridges[site.id] = bridge
        return SiteRunner(session: session, broker: broker, bridge: bridge) { [pairings] note in
            await PairingNotes.write(note, of: site.id, to: pairings, log: log)
        }
    }

    private func unpaired(_ pairing: SitePairing) -> UnpairedBox {
        UnpairedBox(reason: pairing == .none ? nil : .pairingUnreadable, time: around.ambient.time)
    }
}
