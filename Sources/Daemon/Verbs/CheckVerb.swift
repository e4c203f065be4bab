import Ambient
import BoxLink
import BoxSession
import Configuration
import EnergyModel
import FoundationEssentials
import Glibc
import MQTTTypes
import Persistence

/// `ftw-mqtt check`: is everything right, and if not, what and what to do.
struct CheckVerb {
    let options: CheckOptions
    let environment: [String: String]

    /// How long each one that is reached for may take.
    private static let patience = Duration.seconds(20)

    func run() async -> ExitCode {
        let around = Surroundings(
            environment: environment, logLevel: options.common.logLevel ?? "error",
            plain: options.common.plain)
        let list = Checklist(
            terminal: Terminal.of(STDOUT_FILENO, environment: environment, plain: options.common.plain))
        guard let settings = around.settings(options.common) else { return .configuration }
        list.good("configuration", "no fault")
        let sites: [Settings.Site]
        if options.site != nil {
            guard let site = around.site(options.site, of: settings) else { return .usage }
            sites = [site]
        } else {
            sites = settings.sites
        }
        var worst = ExitCode.done
        func note(_ code: ExitCode) { if worst == .done { worst = code } }
        // What is wrong with one thing does not keep the others from being looked at.
        let folder = Self.folder(settings.stateDir, list)
        if folder == nil { note(.state) }
        let loop = WebSocketLoop()
        if let first = sites.first, !options.offline {
            note(
                await broker(
                    SiteAssembly(settings: settings, site: first, loop: loop, ambient: around.ambient), list))
        }
        for site in sites {
            list.heading("\(site.name) (\(site.id))")
            let assembly = SiteAssembly(settings: settings, site: site, loop: loop, ambient: around.ambient)
            note(await check(assembly, folder, around, list))
        }
        await loop.stop()
        return worst
    }

    /// - Returns: The pairings in it; `nil` when it cannot be used. Inside `.some(nil)`: it is not there
    ///   yet, which is no fault where whoever runs this may make it.
    private static func folder(_ path: String, _ list: Checklist) -> StateFolder?? {
        if access(path, F_OK) != 0, errno == ENOENT {
            if let remedy = StateFolder.remedy(toMake: path) {
                list.bad("state folder", "\(path) is not there yet; \(remedy)")
                return nil
            }
            list.good("state folder", "\(path) is not there yet; ftw-mqtt pair makes it")
            return .some(nil)
        }
        do {
            let folder = try StateFolder.open(path, for: .visit)
            list.good("state folder", path)
            return folder
        } catch {
            list.bad("state folder", "\(error)")
            return nil
        }
    }

    private func broker(_ assembly: SiteAssembly, _ list: Checklist) async -> ExitCode {
        let mqtt = assembly.settings.mqtt
        let place = "\(mqtt.host):\(mqtt.port)\(mqtt.usesTLS ? " with TLS" : "")"
        let answer = await Visit(assembly).reach(within: Self.patience)
        if let session = answer.session {
            list.good("broker", "\(place), MQTT \(session.version.rawValue)")
            return .done
        }
        list.bad("broker", "\(place): \(answer.loss?.sentence ?? "no answer in \(Self.patience)")")
        return .unreachable
    }

    private func check(
        _ assembly: SiteAssembly, _ folder: StateFolder??, _ around: Surroundings, _ list: Checklist
    ) async -> ExitCode {
        let command = "ftw-mqtt pair - --site \(assembly.site.id)"
        guard let folder else {
            list.bad("pairing", "cannot be looked at before the state folder is right")
            return .state
        }
        let record: PairingRecord
        do {
            let store = folder.map { PairingStore($0) }
            switch try store?.load(assembly.site.id) ?? .none {
            case .record(let found): record = found
            case .none:
                list.bad(
                    "pairing",
                    try store?.begun(assembly.site.id)?.code == nil
                        ? "not paired; get the link on the box's page, then: \(command)"
                        : "begun and not ended; a running bridge takes it up, or give the same link again: \(command)"
                )
                return .failed
            case .setAside(let file):
                list.bad("pairing", "\(file); pair again: \(command)")
                return .state
            }
        } catch {
            list.bad("pairing", "\(error)")
            return .state
        }
        list.good("pairing", "device \(record.deviceID), \(record.role ?? "role not said yet")")
        if options.offline { return .done }
        if let process = folder?.daemonProcess() {
            // One more session could push out somebody's phone: a box keeps four.
            let base = assembly.root
            let verdict = BridgeWord(
                topics: await Visit(assembly).retained(
                    ["\(base)/bridge/availability", "\(base)/box/link"], within: Self.patience),
                base: base, process: process, site: assembly.site.id
            ).verdict
            if verdict.code == .done { list.good("box", verdict.text) } else { list.bad("box", verdict.text) }
            return verdict.code
        }
        return await box(record, assembly, around, list)
    }

    private func box(
        _ record: PairingRecord, _ assembly: SiteAssembly, _ around: Surroundings, _ list: Checklist
    ) async -> ExitCode {
        let language: Language = assembly.settings.language == .sv ? .sv : .en
        do {
            let session = try assembly.session(for: record, over: try assembly.carrier(for: record))
            let last = await Self.meet(session, around.ambient.time)
            if let site = last, site.link.isUp {
                list.good("relay", record.relayURL ?? assembly.settings.relay.url)
                list.good("box", "version \(site.box?.build ?? "not said"), \(site.link.state.rawValue)")
                return .done
            }
            let sentence = last.map {
                Sentence.link($0.link).text(language, zone: .ofThisMachine, now: around.ambient.time.wall)
            }
            list.bad("box", sentence ?? "nothing was heard in \(Self.patience)")
            return .unreachable
        } catch {
            list.bad("box", "\(error)")
            return .configuration
        }
    }

    /// The newest state when the box is there or patience is over.
    private static func meet(
        _ session: BoxSession, _ time: any TimeSource
    ) async -> SiteState? {
        let newest = Newest()
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await session.run()
                return false
            }
            group.addTask {
                for await state in session.states {
                    await newest.set(state)
                    if state.link.isUp { return true }
                    if state.link.state == .revoked { return true }
                }
                return false
            }
            group.addTask {
                try? await time.sleep(for: patience)
                return true
            }
            for await isOver in group where isOver { break }
            group.cancelAll()
        }
        return await newest.state
    }

    private actor Newest {
        var state: SiteState?
        func set(_ state: SiteState) { self.state = state }
    }
}

/// Lines of a check, one thing each.
struct Checklist {
    let terminal: Terminal

    func heading(_ text: String) { print(terminal.styled(text, .bold)) }
    func good(_ name: String, _ text: String) { line(terminal.styled("ok   ", .green), name, text) }
    func bad(_ name: String, _ text: String) { line(terminal.styled("wrong", .red), name, text) }

    private func line(_ mark: String, _ name: String, _ text: String) {
        print("\(mark)  \(name)\(String(repeating: " ", count: max(1, 15 - name.count)))\(text)")
    }
}
