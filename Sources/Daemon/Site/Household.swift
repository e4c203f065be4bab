import Ambient
import BoxLink
import BoxSession
import Bridge
import Configuration
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
        guard let new = around.settings(options) else {
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
            let record = pairing(of: site)
            // Whoever took the pairing away clears the topics; a word from us would put them back.
            if record == nil, forgotten.contains(site.id) {
                await untilPaired(site)
                continue
            }
            forgotten.remove(site.id)
            let runner: SiteRunner
            do {
                // As it stands now: what may change while running may have changed.
                runner = try assemble(settings.sites.first { $0.id == site.id } ?? site, record)
            } catch {
                around.log.log.error("\(site.id): \(error)")
                do { try await around.ambient.time.sleep(for: .seconds(60)) } catch { return }
                continue
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await runner.run() }
                group.addTask { await self.untilPairingChanges(site, from: record) }
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

    /// Returns when the site's pairing is another than it was: paired, paired again, or removed.
    private func untilPairingChanges(_ site: Settings.Site, from record: PairingRecord?) async {
        var known = record
        while (try? await around.ambient.time.sleep(for: Self.pairingLook)) != nil {
            switch try? pairings.load(site.id) {
            case .record(let new):
                guard let old = known, !new.isAnotherPairing(than: old) else { return }
                known = new
            case .some(.none):
                guard known != nil else { continue }
                around.log.log.notice(
                    "\(site.id): its pairing was removed; stopping it until it is paired again")
                forgotten.insert(site.id)
                return
            case .setAside(let file):
                around.log.log.error("\(site.id): \(file)")
                return
            // A folder that cannot be read for a moment changes nothing.
            case nil: continue
            }
        }
    }

    /// Holds a forgotten site until it has a box again.
    private func untilPaired(_ site: Settings.Site) async {
        sessions[site.id] = nil
        bridges[site.id] = nil
        while pairing(of: site) == nil {
            guard (try? await around.ambient.time.sleep(for: Self.pairingLook)) != nil else { return }
        }
    }

    private func pairing(of site: Settings.Site) -> PairingRecord? {
        do {
            switch try pairings.load(site.id) {
            case .record(let record): return record
            case .none: return nil
            case .setAside(let file):
                around.log.log.error("\(site.id): \(file)")
                return nil
            }
        } catch {
            around.log.log.error("\(site.id): \(error)")
            return nil
        }
    }

    private func assemble(_ site: Settings.Site, _ record: PairingRecord?) throws -> SiteRunner {
        let log = around.log.log
        let assembly = SiteAssembly(settings: settings, site: site, loop: loop, ambient: around.ambient)
        sessions[site.id] = nil
        let memory = StateFile(folder, site: site.id) { log.error("\(site.id): \($0)") }
        var session: BoxSession?
        if let record {
            for secret in [record.privateKey, record.rendezvousSecret, record.code ?? []]
            where !secret.isEmpty {
                around.log.redactor.add(secret)
            }
            session = try assembly.session(
                for: record, over: try assembly.carrier(for: record), memory: DiskMemory(file: memory))
            sessions[site.id] = session
        } else {
            log.warning("\(site.id): not paired with a box yet; run: ftw-mqtt pair - --site \(site.id)")
        }
        let bridgeSettings = assembly.bridge(for: record)
        let broker = assembly.broker(will: bridgeSettings.will)
        let hooks = BridgeHooks(
            health: { [session] in await HealthReading.take(session: session, broker: broker) },
            reload: { [weak self] in await self?.reload() ?? "the bridge is stopping" })
        let bridge = BridgeService(
            settings: bridgeSettings, box: session ?? UnpairedBox(time: around.ambient.time),
            broker: broker, memory: DiskMemory(file: memory), hooks: hooks, ambient: around.ambient)
        bridges[site.id] = bridge
        return SiteRunner(session: session, broker: broker, bridge: bridge) { [pairings] note in
            await PairingNotes.write(note, of: site.id, to: pairings, log: log)
        }
    }
}
