import BoxLink
import EnergyModel
import FoundationEssentials

/// Wire units to the energy model: the only place that knows field ids and permille.
///
/// A number is shown only while everything it depends on is healthy. Offline
/// devices count as 0 W on the wire, so a zero with an ill source behind it is
/// not a zero of the house (FTW wire §11.14).
struct Projection {
    var fields: [UInt32: Int64]
    /// The source whose state governs the grid reading; `nil` when the box does not say.
    var meterID: String?
    var sources: [Source]
    /// When the box sent the newest frame.
    var at: Date
    /// The site meter has answered in this run of the box. Before that a
    /// snapshot is all zeros and no reading of the house (FTW wire §6.6).
    var isUsable: Bool
    var catalogue: [Mode.Entry]

    var power: Power? {
        guard isUsable else { return nil }
        let power = Power(
            gridW: isMeterHealthy ? watts(.gridW) : nil,
            solarW: isHealthy(.solar) ? watts(.pvW) : nil,
            batteryW: isHealthy(.battery) ? watts(.batteryW) : nil,
            carW: isHealthy(.charger) ? watts(.evW) : nil,
            houseW: isMeterHealthy && sources.allSatisfy(\.isHealthy) ? watts(.loadW) : nil,
            at: at)
        return power
    }

    /// `nil` while no battery reports a state of charge.
    var battery: Battery? {
        guard isUsable, let permille = value(.batterySoCPermille) else { return nil }
        let isKnown = isHealthy(.battery) && (0...1_000).contains(permille)
        return Battery(soc: isKnown ? Double(permille) / 1_000 : nil, at: at)
    }

    /// The field is an index into this session's own list, never a fixed one.
    var mode: Mode? {
        guard !catalogue.isEmpty || value(.mode) != nil else { return nil }
        guard isUsable, let index = value(.mode).flatMap(Int.init(exactly:)),
            catalogue.indices.contains(index)
        else { return Mode(current: nil, catalogue: catalogue) }
        return Mode(current: catalogue[index], catalogue: catalogue)
    }

    private var isMeterHealthy: Bool {
        // A box that does not name its meter: nothing may be ill.
        guard let meterID else { return !sources.isEmpty && sources.allSatisfy(\.isHealthy) }
        return sources.contains { $0.id == meterID && $0.isHealthy }
    }

    /// Whether all that can feed that quantity are healthy, and there is one.
    /// A source of unknown role may be any of them, except the meter.
    private func isHealthy(_ role: Source.Role) -> Bool {
        let contributors = sources.filter {
            $0.roles.contains(role) || ($0.roles.isEmpty && $0.id != meterID)
        }
        return !contributors.isEmpty && contributors.allSatisfy(\.isHealthy)
    }

    private func watts(_ field: Contract.Field) -> Double? { value(field).map(Double.init) }

    private func value(_ field: Contract.Field) -> Int64? { fields[field.id] }
}

extension Contract.Field {
    /// The number as the register keeps it.
    var id: UInt32 { UInt32(truncatingIfNeeded: rawValue) }
}
