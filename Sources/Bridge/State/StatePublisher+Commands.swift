import EnergyModel
import FoundationEssentials

/// What commands leave on topics: never the wish, only how it ended.
extension StatePublisher {
    /// The box would not refuse us for who we are.
    var takesCommands: Bool {
        site.link.isUp && site.link.state != .readonly && site.box?.role != "viewer" && !settings.isReadOnly
    }

    /// A command of a loadpoint ended.
    mutating func ended(_ report: StageReport, now: Moment) {
        guard let loadpoint = report.loadpoint, let level = carLevels[loadpoint] else { return }
        if let before = lastCommands[loadpoint], before.at > report.at { return }
        let isFirst = lastCommands[loadpoint] == nil
        lastCommands[loadpoint] = report
        if isFirst { arrange() }
        mark(.init(.carLastCommand, level), at: now.monotonic)
    }
}
