import Ambient
import BoxLink
import Configuration
import FoundationEssentials
import Glibc
import JSONText
import MQTTTypes

/// `ftw-mqtt status`: the house as the bridge last published it.
struct StatusVerb {
    let options: SiteOptions
    let environment: [String: String]

    func run() async -> ExitCode {
        let around = Surroundings(
            environment: environment, logLevel: options.common.logLevel ?? "error",
            plain: options.common.plain)
        guard let settings = around.settings(options.common) else { return .configuration }
        guard let site = around.site(options.site, of: settings) else { return .usage }
        let assembly = SiteAssembly(
            settings: settings, site: site, loop: WebSocketLoop(), ambient: around.ambient)
        let base = assembly.root
        let answer = await Visit(assembly).retained(["\(base)/#"], within: .seconds(10))
        guard let answer else {
            around.complain(assembly.brokerIsAway)
            return .unreachable
        }
        let terminal = Terminal.of(STDOUT_FILENO, environment: environment, plain: options.common.plain)
        let report = StatusReport(
            name: site.name, id: site.id, base: base, topics: answer, now: around.ambient.time.wall)
        guard !report.isEmpty else {
            around.complain("nothing is published under \(base); is the bridge running?")
            return .failed
        }
        for line in report.lines(terminal) { print(line) }
        return report.isOnline ? .done : .failed
    }
}
