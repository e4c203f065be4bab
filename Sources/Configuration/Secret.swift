/// Bytes that must never be printed: a password.
///
/// Printing, interpolating, reflecting or dumping one gives `***`, so that a
/// whole `Settings` value can be logged by mistake without harm.
public struct Secret: Sendable, Equatable {
    /// The bytes as they were written, unchanged.
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
