/// What is wrong with a text that should be a pairing link.
///
/// The description is a sentence for the person who pasted it. It names places
/// and lengths, never content: a mistyped link still holds most of a secret.
public enum PairingLinkError: Error, Equatable {
    /// A segment of the link.
    public enum Part: String, Sendable {
        case boxKey = "box key"
        case code = "pairing code"
        case hint = "address hint"
        case rendezvousSecret = "meeting secret"
    }

    case empty
    case tooLong
    /// `v1`: a box from before the relay could be used.
    case olderBox
    /// `v3` and up.
    case newerBox(version: Int)
    /// Does not start with a version at all.
    case noVersion
    case scheme
    case host
    case port
    /// Another path, or a query.
    case path
    case noFragment
    case segmentCount(Int)
    case emptySegment(Part)
    /// A character base64url does not have, or a last character with stray bits.
    case notBase64URL(Part)
    case length(Part, bytes: Int, expected: Int)
    case hintTooLong(bytes: Int)
    /// Something other than visible ASCII.
    case hintCharacter
}

extension PairingLinkError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .empty:
            "no pairing link was given; it is under Settings → FTW app on the box's page"
        case .tooLong:
            "this text is too long for a pairing link; paste the link and nothing else"
        case .olderBox:
            "this link comes from a box that is too old to be reached this way; update the box"
        case .newerBox(let version):
            "this link has version \(version), which is newer than this program knows; update this program"
        case .noVersion:
            "this is not a pairing link; one looks like https://app.ftw.energy/p#v2.…"
        case .scheme:
            "a pairing link starts with https://"
        case .host:
            "a pairing link leads to app.ftw.energy; this one leads elsewhere, so do not trust it"
        case .port:
            "a pairing link has no port after app.ftw.energy"
        case .path:
            "a pairing link goes on with /p# after app.ftw.energy"
        case .noFragment:
            "the part of the link from # on is missing; in a shell, put the link in quotes"
        case .segmentCount(let count):
            "a pairing link has 5 parts separated by dots after the #; this one has \(count),"
                + " so some of it was probably not copied"
        case .emptySegment(let part):
            "the \(part.rawValue) in the link is empty"
        case .notBase64URL(let part):
            "the \(part.rawValue) in the link has a wrong character; copy the link again"
        case .length(let part, let bytes, let expected):
            "the \(part.rawValue) in the link has \(bytes) bytes and should have \(expected);"
                + " copy the link again"
        case .hintTooLong(let bytes):
            "the address hint in the link has \(bytes) bytes; 64 is the most"
        case .hintCharacter:
            "the address hint in the link has characters that no address has; copy the link again"
        }
    }
}
