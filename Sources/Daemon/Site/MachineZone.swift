import EnergyModel
import FoundationEssentials

extension Zone {
    /// The zone this machine is set to, as `TZ` or the system says; UTC when neither names one.
    static var ofThisMachine: Zone {
        let named = ProcessInfo.processInfo.environment["TZ"].flatMap { Zone(named: $0) }
        if let named { return named }
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/etc/localtime")
        let name = target.flatMap { path in
            path.ranges(of: "zoneinfo/").last.map { String(path[$0.upperBound...]) }
        }
        return name.flatMap { Zone(named: $0) } ?? .utc
    }
}
