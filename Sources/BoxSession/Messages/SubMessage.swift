import BoxLink

/// How often the box sends a control frame.
public enum Beat: Sendable, Equatable, CaseIterable {
    /// One frame each second, 512 bytes per second.
    case second
    /// One frame each five seconds; enough for most dashboards.
    case fiveSeconds

    /// Time from one frame to the next.
    public var period: Duration {
        switch self {
        case .second: Contract.Session.beat
        case .fiveSeconds: Contract.Session.slowBeat
        }
    }

    /// The stream counts as silent when no frame came for 3.5 beats
    /// (FTW wire §11.6).
    public var silence: Duration { period * 7 / 2 }

    /// `hz` as the box wants it: exactly the 64-bit 0.2 for the slow cadence, a
    /// narrower 0.2 would mean 1 Hz (FTW wire §5.3).
    var hz: CBORValue {
        switch self {
        case .second: .int(1)
        case .fiveSeconds: .float(Contract.Session.slowHz)
        }
    }
}

/// `sub`: start the stream or change its cadence (FTW wire §6.2).
///
/// Only the first one of a session sets the bucket; a later one changes the
/// cadence alone and brings no snapshot.
struct SubMessage: Equatable {
    static let type = Contract.MessageType.sub.rawValue
    /// Size of every control frame of the box. 512, because a reply that does
    /// not fit kills the session (FTW wire §11.9).
    var bucket: Int64 = 512
    var beat: Beat

    init(beat: Beat) { self.beat = beat }

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        let bucket = try body.int("bucket")
        self.bucket = bucket == 256 ? 256 : 512
        beat = try body.required("hz") == .float(Contract.Session.slowHz) ? .fiveSeconds : .second
    }

    var body: CBORValue { ["bucket": .int(bucket), "hz": beat.hz] }
}
