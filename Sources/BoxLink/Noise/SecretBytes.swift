import Synchronization

/// Bytes that must not outlive their use: keys, pairing codes, the rendezvous secret.
///
/// The storage is overwritten when the last reference goes. There is no
/// description and no equality on purpose: printing one shows the type only, and
/// comparing two takes ``Primitives/equal(_:_:)``, whose time says nothing.
public final class SecretBytes: Sendable {
    private let storage: Mutex<[UInt8]>

    /// Takes a copy; the caller's own array stays the caller's to forget.
    public init(_ bytes: [UInt8]) {
        storage = Mutex(SecretBytes.detached(bytes))
    }

    deinit { wipe() }

    /// How many bytes there are; 0 after ``wipe()``.
    public var count: Int { storage.withLock { $0.count } }

    /// Lends the bytes. What `body` is given is overwritten when it returns, so
    /// it must not keep the array; see ``exported()``.
    public func withBytes<R, E: Error>(_ body: ([UInt8]) throws(E) -> R) throws(E) -> R {
        var copy = storage.withLock { SecretBytes.detached($0) }
        defer { Primitives.wipe(&copy) }
        return try body(copy)
    }

    /// A copy for where an array is needed, such as a file: the caller's own to
    /// forget, and nothing here can wipe it.
    public func exported() -> [UInt8] { storage.withLock { SecretBytes.detached($0) } }

    /// Overwrites the bytes now. Whoever uses this value later finds it empty.
    public func wipe() {
        storage.withLock { bytes in
            Primitives.wipe(&bytes)
            bytes = []
        }
    }

    /// A copy with storage of its own: a shared array would be copied, not
    /// overwritten, by the wipe.
    private static func detached(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, count in
            count = buffer.update(fromContentsOf: bytes)
        }
    }
}
