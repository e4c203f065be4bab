/// The telemetry as it stands: snapshot plus deltas (FTW wire §6.3–6.5).
///
/// There is no missing marker and no deletion on the wire: a field that became
/// unknown keeps its last number here until a snapshot leaves it out. Whether a
/// number may be shown is decided by the state of its source, not here.
struct FieldRegister: Equatable {
    /// What a control frame told about the order of frames.
    struct Sequence: Equatable {
        /// Frames that never arrived so far.
        var missing: UInt64 = 0
        /// The frame is older than one already applied.
        var isLate = false
    }

    /// `nil` until a snapshot arrived.
    private(set) var controlRev: UInt64?
    private(set) var fields: [UInt32: Int64] = [:]
    private(set) var dictionary: [UInt32: SnapMessage.Entry] = [:]
    private(set) var sources: [String: SourceEntry] = [:]
    private(set) var blockedBy: [String] = []
    /// Uptime of the newest frame.
    private(set) var uptimeMs: Int64?
    /// The newest `seq` of this session; `nil` before its first control frame.
    private(set) var lastSeq: UInt64?
    private var fieldSeq: [UInt32: UInt64] = [:]
    private var tableSeq: UInt64 = 0

    /// More field ids than this are not kept; a box knows ten.
    static let maxFields = 256

    var hasSnapshot: Bool { controlRev != nil }

    /// A new session counts its control frames from 1 again. Values stay until
    /// its snapshot replaces them.
    mutating func sessionStarted() {
        lastSeq = nil
        fieldSeq = [:]
        tableSeq = 0
    }

    /// The box process is another one: nothing of the old one is true.
    mutating func restarted() { self = FieldRegister() }

    mutating func apply(_ snap: SnapMessage) {
        controlRev = snap.controlRev
        fields = snap.fields
        dictionary = snap.dictionary
        sources = snap.sources
        blockedBy = snap.blockedBy
        uptimeMs = snap.uptimeMs
        fieldSeq = [:]
        let seq = lastSeq ?? 0
        for id in fields.keys { fieldSeq[id] = seq }
        tableSeq = seq
    }

    mutating func apply(_ delta: DeltaMessage) -> Sequence {
        let order = arrived(seq: delta.seq, uptimeMs: delta.uptimeMs)
        for (id, value) in delta.fields where delta.seq > fieldSeq[id] ?? 0 {
            guard fields[id] != nil || fields.count < Self.maxFields else { continue }
            fields[id] = value
            fieldSeq[id] = delta.seq
        }
        if let table = delta.sources, delta.seq > tableSeq {
            sources = table
            blockedBy = delta.blockedBy ?? []
            tableSeq = delta.seq
        }
        return order
    }

    mutating func apply(_ tick: TickMessage) -> Sequence {
        arrived(seq: tick.seq, uptimeMs: tick.uptimeMs)
    }

    private mutating func arrived(seq: UInt64, uptimeMs: Int64) -> Sequence {
        let last = lastSeq ?? 0
        guard seq > last else { return Sequence(missing: 0, isLate: true) }
        lastSeq = seq
        self.uptimeMs = max(uptimeMs, self.uptimeMs ?? uptimeMs)
        return Sequence(missing: seq - last - 1, isLate: false)
    }
}
