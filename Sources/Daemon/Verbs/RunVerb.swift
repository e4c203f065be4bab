import Ambient
import BoxLink
import CLinux
import Configuration
import FoundationEssentials
import Persistence

/// `ftw-mqtt run`: the daemon.
struct RunVerb {
    let options: CommonOptions
    let environment: [String: String]

    func run() async -> ExitCode {
        let around = Surroundings(
            environment: environment, logLevel: options.logLevel, plain: options.plain)
        guard let settings = around.settings(options, isDaemon: true) else { return .configuration }
        let log = around.log.log
        let folder: StateFolder
        do {
            folder = try StateFolder.open(settings.stateDir, for: .daemon)
        } catch {
            log.error("\(error)")
            return .state
        }
        log.notice("ftw-mqtt \(Version.text) starts with \(settings.sites.map(\.id).joined(separator: ", "))")
        let signals = Signals.stream()
        let household = Household(settings: settings, folder: folder, around: around, options: options)
        let work = Task { await household.run() }
        let watchdog = Task { await Self.feedWatchdog(household, time: around.ambient.time) }
        let tidying = Task { await Self.giveMemoryBack(around.ambient.time) }
        ServiceManager.ready()
        for await signal in signals {
            if signal == .stop { break }
            _ = await household.reload()
        }
        log.notice("stopping")
        ServiceManager.stopping()
        work.cancel()
        await work.value
        watchdog.cancel()
        tidying.cancel()
        return .done
    }

    /// Start and first reading of a box need more memory than the years after it: what is free a
    /// minute later goes back to the machine, and so does what a busy hour left behind.
    private static func giveMemoryBack(_ time: any TimeSource) async {
        var pause = Duration.seconds(60)
        while (try? await time.sleep(for: pause)) != nil {
            clinux_give_memory_back()
            pause = .seconds(3600)
        }
    }

    /// Tells the service manager that the loops still turn: each round goes
    /// through the household's own actor, so a stuck one stays silent.
    private static func feedWatchdog(_ household: Household, time: any TimeSource) async {
        guard let interval = ServiceManager.watchdogInterval else { return }
        while !Task.isCancelled {
            if await household.isAlive() { ServiceManager.alive() }
            do { try await time.sleep(for: interval) } catch { return }
        }
    }
}
