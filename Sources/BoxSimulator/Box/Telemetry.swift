import BoxLink

/// The bodies of `snap`, `delta` and `tick` (FTW wire §6.3–6.5). Pure.
struct Telemetry: Sendable, Equatable {
    var uptimeMs: Int64
    var controlRev: Int64
    /// By field id.
    var fields: [Int: Int64]
    var sources: [String: SourceBoard.Entry]
    var blockedBy: [String]
    var hasCars: Bool
    /// A field that no client has heard of, to see that it is let pass.
    var hasUnknownField = false

    /// Whole watts; what is no number is zero, as a box sends it.
    static func whole(_ value: Double) -> Int64 {
        value.isFinite ? Int64(exactly: value.rounded()) ?? 0 : 0
    }

    init(
        board: SourceBoard, uptimeMs: Int64, controlRev: Int64, modeIndex: Int, hasCars: Bool,
        hasUnknownField: Bool = false
    ) {
        self.uptimeMs = uptimeMs
        self.controlRev = controlRev
        self.hasCars = hasCars
        self.hasUnknownField = hasUnknownField
        let reading = board.reading(uptimeMs: uptimeMs)
        fields = [
            1: Int64(modeIndex), 2: Self.whole(reading.gridW), 3: min(0, Self.whole(reading.pvW)),
            4: Self.whole(reading.batteryW), 6: Self.whole(reading.loadW),
        ]
        if let soc = reading.batterySoc { fields[5] = min(1_000, max(0, Self.whole(soc * 1_000))) }
        if hasCars, let power = reading.evW { fields[10] = Self.whole(power) }
        if hasUnknownField { fields[200] = 7 }
        sources = board.table(uptimeMs: uptimeMs)
        blockedBy = board.blockedBy(uptimeMs: uptimeMs)
    }

    // MARK: Bodies

    var snap: CBORValue {
        [
            "uptimeMs": .int(uptimeMs), "controlRev": .int(controlRev), "dict": dictionary,
            "fields": Self.body(fields), "sources": Self.body(sources),
            "dispatchBlockedBy": Self.body(blockedBy),
        ]
    }

    private var dictionary: CBORValue {
        let entry = { (id: String, name: String, unit: CBORValue, source: CBORValue) in
            (id, ["name": .text(name), "unit": unit, "srcId": source] as CBORValue)
        }
        let meter = CBORValue.text(SourceBoard.meterID)
        var entries = [
            entry("1", "mode", .null, .null), entry("2", "grid_w", "W", meter),
            entry("3", "pv_w", "W", meter), entry("4", "battery_w", "W", meter),
            entry("5", "battery_soc", "permille", meter), entry("6", "load_w", "W", meter),
        ]
        if hasCars { entries.append(entry("10", "ev_w", "W", .null)) }
        if hasUnknownField { entries.append(entry("200", "flux_q", "q", .null)) }
        return .map(CBORMap(entries))
    }

    static func body(_ fields: [Int: Int64]) -> CBORValue {
        .map(CBORMap(fields.sorted { $0.key < $1.key }.map { (String($0.key), .int($0.value)) }))
    }

    static func body(_ sources: [String: SourceBoard.Entry]) -> CBORValue {
        .map(
            CBORMap(
                sources.sorted { $0.key < $1.key }.map { name, entry in
                    let row: CBORValue = [
                        "kind": "driver", "name": .text(name), "lastOkMs": .int(entry.lastOkMs),
                        "staleAfterMs": .int(entry.staleAfterMs), "state": .text(entry.state),
                    ]
                    return (name, row)
                }))
    }

    static func body(_ names: [String]) -> CBORValue { .array(names.map(CBORValue.text)) }
}

/// What one client has been told, so that only what is new is sent (FTW wire §6.5).
struct TelemetryFeed: Sendable {
    private var fields: [Int: Int64] = [:]
    private var sources: [String: SourceBoard.Entry] = [:]
    private var blockedBy: [String] = []
    private(set) var controlRev: Int64 = 0
    private(set) var sequence: Int64 = 0

    /// One control frame's worth.
    struct Beat: Equatable {
        var type: String
        var body: CBORValue
        var isTruncated: Bool
    }

    mutating func snapped(_ now: Telemetry) {
        fields = now.fields
        sources = now.sources
        blockedBy = now.blockedBy
        controlRev = now.controlRev
    }

    /// The next beat, cut to what `fits`; what was cut off is tried again next time.
    mutating func beat(_ now: Telemetry, fits: (String, CBORValue) -> Bool) -> Beat {
        sequence += 1
        var changed = now.fields.filter { fields[$0.key] != $0.value }
        var table = tableChanged(now)
        if changed.isEmpty, !table {
            return Beat(
                type: "tick", body: ["seq": .int(sequence), "uptimeMs": .int(now.uptimeMs)],
                isTruncated: false)
        }
        var isCut = false
        while !fits("delta", body(now, changed, table)) {
            isCut = true
            if table {
                table = false
            } else if let highest = changed.keys.max() {
                changed[highest] = nil
            } else {
                break
            }
        }
        let body = body(now, changed, table)
        for (id, value) in changed { fields[id] = value }
        if table {
            sources = now.sources
            blockedBy = now.blockedBy
        }
        return Beat(type: "delta", body: body, isTruncated: isCut)
    }

    /// The time of the last answer alone is no change.
    private func tableChanged(_ now: Telemetry) -> Bool {
        let plain = { (table: [String: SourceBoard.Entry]) in
            table.mapValues { [$0.state, String($0.staleAfterMs)] }
        }
        return plain(sources) != plain(now.sources) || blockedBy != now.blockedBy
    }

    private func body(_ now: Telemetry, _ changed: [Int: Int64], _ table: Bool) -> CBORValue {
        var members: [(String, CBORValue)] = [
            ("seq", .int(sequence)), ("uptimeMs", .int(now.uptimeMs)), ("fields", Telemetry.body(changed)),
        ]
        if table {
            members.append(("sources", Telemetry.body(now.sources)))
            // The encoder drops an empty list: cleared is shown by absence.
            if !now.blockedBy.isEmpty {
                members.append(("dispatchBlockedBy", Telemetry.body(now.blockedBy)))
            }
        }
        return .map(CBORMap(members))
    }
}
