import JSONText
import MQTTTypes

/// What a topic carries.
enum Payload: Sendable, Equatable {
    case plain(String)
    case document([String: JSONValue])

    var bytes: [UInt8] {
        switch self {
        case .plain(let text): Array(text.utf8)
        case .document(let members): JSONValue.object(members).bytes
        }
    }

    /// True if a reader learns nothing new from `other` but its date.
    func says(sameAs other: Payload, but dating: Set<String>) -> Bool {
        switch (self, other) {
        case (.plain(let a), .plain(let b)): a == b
        case (.document(let a), .document(let b)):
            a.count == b.count
                && a.allSatisfy { name, value in dating.contains(name) || b[name] == value }
        default: false
        }
    }
}

/// One topic of ours: what it last carried and when it is due again.
struct Slot {
    /// When to look at it again; `nil`: nothing changed.
    var due: Duration?
    /// Not before this, even if it is due.
    var notBefore: Duration?
    var sent: (payload: Payload, at: Duration)?

    /// When it will be looked at, with its renewal counted in.
    func deadline(renewal: Duration?) -> Duration? {
        let renewed = renewal.flatMap { renewal in sent.map { $0.at + renewal } }
        let next = [due, renewed].compactMap { $0 }.min()
        guard let next, let notBefore else { return next }
        return max(next, notBefore)
    }
}
