import TextForms

/// Names made from public keys. They are for people and files and are never
/// sent; only the box's list of devices uses ``deviceID(clientKey:)`` as well
/// (FTW wire §9.3).
public enum BoxNames {
    /// Which box this is, for file names and topics: 16 lower-case hex characters.
    public static func siteID(boxKey: [UInt8]) -> String {
        Primitives.sha256(boxKey).prefix(8).hexText
    }

    /// A short form to compare by eye: 6 upper-case hex characters.
    public static func fingerprint(boxKey: [UInt8]) -> String {
        Primitives.sha256(boxKey).prefix(3).hexText.uppercased()
    }

    /// Under what name the box lists a client: 8 characters of base64url.
    public static func deviceID(clientKey: [UInt8]) -> String {
        String(Base64URL.encode(clientKey).prefix(8))
    }
}
