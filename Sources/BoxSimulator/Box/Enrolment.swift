import BoxLink
import FoundationEssentials

/// Who may talk to the box, and the one code that lets another in.
///
/// Pure. A refusal never says why: to the outside all of them are silence.
struct Enrolment: Sendable {
    struct Device: Sendable, Equatable {
        var role: BoxRole
        var addedAt: Date
        var lastSeen: Date
    }
    private struct Code: Sendable {
        let bytes: SecretBytes
        let role: BoxRole
        let expires: Duration
    }
    enum Kind: Sendable {
        /// 16 bytes in a link, good for ten minutes.
        case scanned
        /// 5 bytes that a person reads aloud, good for five minutes.
        case spoken
        var byteCount: Int { self == .scanned ? 16 : 5 }
        var lifetime: Duration {
            self == .scanned ? Contract.Pairing.scannedCodeLifetime : Contract.Pairing.spokenCodeLifetime
        }
    }
    private(set) var devices: [[UInt8]: Device] = [:]
    private var code: Code?
    private var wrongCodes = 0
    /// After so many wrong codes, whoever sent them, the live one is burnt.
    static let wrongCodeLimit = Contract.Pairing.maxAttempts

    var hasLiveCode: Bool { code != nil }

    /// Replaces any code there is.
    mutating func mint(_ bytes: [UInt8], kind: Kind, role: BoxRole, now: Duration) {
        code = Code(bytes: SecretBytes(bytes), role: role, expires: now + kind.lifetime)
        wrongCodes = 0
    }

    /// Decides whether whoever proved to hold `key` may have a session.
    ///
    /// - Parameters:
    ///   - payload: The code presented; ignored from a known key.
    ///   - now: Monotonic time, for the code's life. `date` is what the list of devices shows.
    mutating func admits(key: [UInt8], payload: [UInt8], now: Duration, date: Date) -> Bool {
        if devices[key] != nil {
            devices[key]?.lastSeen = date
            return true
        }
        guard !payload.isEmpty, let live = code else { return false }
        guard now < live.expires else {
            code = nil
            return false
        }
        guard live.bytes.withBytes({ Primitives.equal($0, payload) }) else {
            wrongCodes += 1
            if wrongCodes >= Self.wrongCodeLimit { code = nil }
            return false
        }
        code = nil
        // The first on an ownerless box owns it, whatever the code said.
        let hasOwner = devices.values.contains { $0.role == .owner }
        devices[key] = Device(role: hasOwner ? live.role : .owner, addedAt: date, lastSeen: date)
        return true
    }

    mutating func enrol(key: [UInt8], role: BoxRole, date: Date) {
        devices[key] = Device(role: role, addedAt: date, lastSeen: date)
    }

    mutating func remove(key: [UInt8]) { devices[key] = nil }
    mutating func set(role: BoxRole, key: [UInt8]) { devices[key]?.role = role }
    func role(of key: [UInt8]) -> BoxRole? { devices[key]?.role }
}
