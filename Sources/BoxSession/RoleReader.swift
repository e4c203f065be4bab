import EnergyModel
import JSONText

/// What each source measures, read from `GET /api/status`: telemetry names
/// sources but not what they are.
enum RoleReader {
    static let request = APIRequest(path: "/api/status", maxBytes: 262_144, priority: .status)

    private static let keys: [(key: String, role: Source.Role)] = [
        ("meter_w", .meter), ("pv_w", .solar), ("bat_w", .battery), ("ev_w", .charger),
    ]

    /// - Returns: The roles by source id; `nil` when the answer does not tell.
    static func roles(in answer: APIAnswer) -> [String: Set<Source.Role>]? {
        guard answer.status == 200, let document = try? JSONValue(parsing: answer.body),
            let drivers = document["drivers"]?.objectValue
        else { return nil }
        return drivers.mapValues { driver in
            Set(keys.filter { driver[$0.key]?.doubleValue != nil }.map(\.role))
        }
    }
}

/// When to read the roles: once per run of the box, again when the set of
/// sources changes or a source of unknown role comes to life, and after a
/// failure with growing pauses. Pure.
struct RoleAsk: Equatable {
    private struct Name: Equatable {
        var ids: Set<String>
        /// Sources that were heard although the last answer told no role of theirs.
        var risen: Set<String> = []
    }
    static let firstPause = Duration.seconds(30)
    static let longestPause = Duration.seconds(900)

    private var wanted: Name?
    private var answered: Name?
    private var asked: Name?
    private var pause = Self.firstPause
    private(set) var retryAt: Duration?

    /// Whether to ask now.
    func isDue(at now: Duration) -> Bool {
        guard let wanted, wanted != answered, asked == nil else { return false }
        return retryAt.map { now >= $0 } ?? true
    }

    /// When ``isDue(at:)`` turns true by time alone.
    var nextDeadline: Duration? { wanted != answered && asked == nil ? retryAt : nil }

    /// The table as it stands.
    mutating func observed(ids: Set<String>, healthyWithoutRole: Set<String>) {
        guard !ids.isEmpty else { return }
        if wanted?.ids != ids { wanted = Name(ids: ids) }
        if answered?.ids == ids { wanted?.risen.formUnion(healthyWithoutRole) }
    }

    mutating func sent() { asked = wanted }

    mutating func succeeded() {
        answered = asked
        asked = nil
        retryAt = nil
        pause = Self.firstPause
    }

    mutating func failed(at now: Duration) {
        asked = nil
        retryAt = now + pause
        pause = min(pause * 2, Self.longestPause)
    }

    /// A new session: the link was no reason of the box's to stay silent.
    mutating func sessionStarted() {
        asked = nil
        retryAt = nil
        pause = Self.firstPause
    }

    /// The box process is another one.
    mutating func restarted() { self = RoleAsk() }
}
