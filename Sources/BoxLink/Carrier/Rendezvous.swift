public import FoundationEssentials

/// Why there is no room to go to.
public enum RendezvousError: Error, Equatable {
    /// Fewer than 16 bytes of secret; both ends refuse that.
    case shortSecret
}

/// Where box and clients meet on the relay: a room whose name changes every
/// hour and which only holders of the secret can compute (FTW wire §1.2).
public enum Rendezvous {
    /// Which end of the room a socket is.
    public enum End: String, Sendable, CaseIterable { case app, box }

    /// The length of an epoch, in milliseconds.
    public static let epochMs: Int64 = 3_600_000
    /// The shortest secret that is accepted, in bytes; a pairing link carries 32.
    public static let minSecret = 16

    /// The number of the hour since 1970; negative before.
    public static func epoch(at date: Date) -> Int64 {
        let hours = (date.timeIntervalSince1970 / 3_600).rounded(.down)
        // A date that is none has no room anyway; it must not trap.
        return Int64(exactly: hours) ?? 0
    }

    /// The room's name in an epoch, 32 lower-case hex characters.
    ///
    /// HKDF-SHA256 with an empty salt, cut to 16 bytes (RFC 5869).
    ///
    /// - Throws: `.shortSecret`.
    public static func handle(secret: SecretBytes, epoch: Int64) throws(RendezvousError) -> String {
        guard secret.count >= minSecret else { throw .shortSecret }
        let salt = [UInt8](repeating: 0, count: Primitives.keyLength)
        let info = Array("ftw/rendezvous/v1/\(epoch)".utf8)
        let key = secret.withBytes { Primitives.hmacSHA256(key: salt, $0) }
        return Primitives.hmacSHA256(key: key, info + [1]).prefix(16).hexText
    }

    /// The path to ask the relay for, with a leading slash.
    public static func path(epoch: Int64, handle: String, end: End = .app) -> String {
        "/r/\(epoch)/\(handle)/\(end.rawValue)"
    }

    /// How far the relay's epoch is from ours, from the reason of a 4409 or 4410 close.
    ///
    /// Remember the offset, not the number. It is `nil`, and the old one stays,
    /// unless the reason is a decimal number at most one away from our clock:
    /// a relay that could name any hour could collect the handles of hours to
    /// come (FTW wire §1.4).
    public static func epochOffset(announced reason: String, at date: Date) -> Int64? {
        let digits = reason.trimmingEdges
        guard !digits.hasPrefix("+"), let announced = Int64(digits) else { return nil }
        let (offset, overflow) = announced.subtractingReportingOverflow(epoch(at: date))
        return overflow || offset.magnitude > Contract.Relay.maxEpochOffset ? nil : offset
    }

    /// How long after the hour the relay closes this room, in milliseconds from
    /// 0 to below 300 000: spread by name, so that not all come back at once
    /// (FTW wire §1.5). `nil` for something that is no handle.
    public static func closingDelayMs(handle: String) -> Int64? {
        let digits = handle.prefix(4)
        guard digits.count == 4, !digits.hasPrefix("+"), let number = UInt16(digits, radix: 16) else {
            return nil
        }
        return Int64(number) * Contract.Relay.roomSpreadMs / 65_536
    }
}
