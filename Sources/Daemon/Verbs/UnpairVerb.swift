import Ambient
import BoxLink
import Bridge
import Configuration
import FoundationEssentials
import Glibc
import MQTTTypes
import Persistence

/// `ftw-mqtt unpair`: forgets a box and takes its traces off the broker.
struct UnpairVerb {
    let options: UnpairOptions
    let environment: [String: String]

    func run() async -> ExitCode {
        let around = Surroundings(
            environment: environment, logLevel: options.common.logLevel ?? "warning",
            plain: options.common.plain)
        guard let settings = around.settings(options.common) else { return .configuration }
        // A site that is no longer in the configuration can still be forgotten.
        var site = Settings.Site()
        site.id = options.site
        site = settings.sites.first { $0.id == options.site } ?? site
        do {
            let folder = try StateFolder.open(settings.stateDir, for: .visit)
            let store = PairingStore(folder)
            let memory = StateFile(folder, site: site.id) { around.complain("\($0)") }
            // What cannot be read now would never be cleared.
            try memory.check(LeftBehind.memoryName)
            var messages = LeftBehind.clearing(DiskMemory(file: memory))
            let known = try store.sites()
            guard known.contains(site.id) || !messages.isEmpty else {
                around.complain(
                    "\(site.id) is not paired"
                        + (known.isEmpty ? "" : "; paired are: \(known.joined(separator: ", "))"))
                return .failed
            }
            guard options.yes || confirmed(site) else {
                print("Nothing was changed.")
                return .failed
            }
            try store.remove(site.id)
            let assembly = SiteAssembly(
                settings: settings, site: site, loop: WebSocketLoop(), ambient: around.ambient)
            // A running bridge says goodbye first; its last words would come after our clearing.
            if let process = await holder(of: assembly, folder) {
                around.complain(
                    "the keys of \(site.id) are deleted, but the running bridge (process \(process)) still shows "
                        + "it; stop that one and run this again to clear the topics")
                return .failed
            }
            // Only now: until its goodbye the bridge may have made more.
            messages = LeftBehind.clearing(DiskMemory(file: memory))
            let doubtful = LeftBehind.doubtful(DiskMemory(file: memory))
            if !doubtful.isEmpty, let kept = await Visit(assembly).retained(doubtful, within: .seconds(15)) {
                messages = LeftBehind.clearing(
                    DiskMemory(file: memory), empty: Set(doubtful).subtracting(kept.keys))
            }
            let cleared = await Visit(assembly).publish(messages, within: .seconds(15))
            print("\(site.name) (\(site.id)) is forgotten; its keys are deleted.")
            if cleared {
                try memory.removeAll()
                print("\(messages.count) topics and entities were cleared on the broker.")
            } else {
                around.complain(
                    "the broker could not be reached, so topics and entities are still there; "
                        + "run this again when it is back")
            }
            print("On the box's own page the row of this bridge is still there; remove it there too.")
            return cleared ? .done : .unreachable
        } catch {
            around.complain("\(error)")
            return .state
        }
    }

    /// Waits until no running bridge shows the site any more.
    ///
    /// - Returns: The process that still does after a while; `nil` when there is none.
    private func holder(of assembly: SiteAssembly, _ folder: StateFolder) async -> Int32? {
        let time = assembly.ambient.time
        let topic = "\(assembly.root)/bridge/availability"
        var process: Int32?
        // A look later it has noticed; what it says last is that it is offline.
        for pause in [Household.pairingLook + .seconds(1)] + Array(repeating: .seconds(1), count: 20) {
            process = folder.daemonProcess()
            guard process != nil, (try? await time.sleep(for: pause)) != nil else { return process }
            // Without a broker there is nothing to clear yet, and that is said later.
            guard let kept = await Visit(assembly).retained([topic], within: .seconds(15)),
                kept[topic]?.text == "online"
            else { return nil }
        }
        return process
    }

    private func confirmed(_ site: Settings.Site) -> Bool {
        guard isatty(STDIN_FILENO) == 1 else {
            StandardError.write(Array("ftw-mqtt: nobody can be asked here; say --yes to mean it\n".utf8))
            return false
        }
        print(
            "Forget the box of \(site.name) (\(site.id)) and clear its topics and entities? [y/N] ",
            terminator: "")
        fflush(nil)
        return ["y", "yes", "j", "ja"].contains(readLine()?.lowercased() ?? "")
    }
}
