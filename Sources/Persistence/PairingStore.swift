public import FoundationEssentials

/// The pairings in a state folder, one file per site: `pairing-<site>.json`.
public struct PairingStore: Sendable {
    /// What lies there for one site.
    public enum Entry: Sendable, Equatable {
        case none
        case record(PairingRecord)
        /// It could not be used; the site is unpaired until somebody looks.
        case setAside(SetAside)
    }

    private static let kind = "pairing"
    private let folder: StateFolder
    private let now: @Sendable () -> Date

    public init(_ folder: StateFolder, now: @escaping @Sendable () -> Date = { Date() }) {
        self.folder = folder
        self.now = now
    }

    public func load(_ site: String) throws(StateError) -> Entry {
        let loaded = try folder.load(try Self.fileName(site), kind: Self.kind, now: now()) {
            PairingRecord(json: $0)?.site == site
        }
        switch loaded {
        case .none: return .none
        case .setAside(let file): return .setAside(file)
        case .document(let body, _): return PairingRecord(json: body).map { .record($0) } ?? .none
        }
    }

    /// Writes a record; on return it is on the disk.
    public func save(_ record: PairingRecord) throws(StateError) {
        try folder.save(try Self.fileName(record.site), kind: Self.kind, record.json)
    }

    /// After the first completed handshake: forgets the spent code for good and
    /// notes when the box accepted us. Does nothing to a record without code
    /// that has its time already.
    ///
    /// - Returns: The record as it is now; `nil` when there is none.
    @discardableResult
    public func confirm(_ site: String) throws(StateError) -> PairingRecord? {
        guard case .record(var record) = try load(site) else { return nil }
        guard record.code != nil || record.pairedAt == nil else { return record }
        record.code = nil
        record.pairedAt = record.pairedAt ?? now()
        try save(record)
        return record
    }

    /// Forgets a code that the box does not want, so that it is not sent again.
    public func dropCode(_ site: String) throws(StateError) {
        guard case .record(var record) = try load(site), record.code != nil else { return }
        record.code = nil
        try save(record)
    }

    /// Notes the role that the box named; writes only when it is another.
    public func note(role: String, for site: String) throws(StateError) {
        guard case .record(var record) = try load(site), record.role != role else { return }
        record.role = role
        try save(record)
    }

    /// The sites with a pairing file, sorted.
    public func sites() throws(StateError) -> [String] {
        try folder.names().compactMap { name in
            guard name.hasPrefix("pairing-"), name.hasSuffix(".json") else { return nil }
            let site = String(name.dropFirst(8).dropLast(5))
            return Self.isSite(site) ? site : nil
        }
    }

    /// Forgets a pairing, with whatever was set aside of it: that holds keys
    /// too. None to forget is fine.
    public func remove(_ site: String) throws(StateError) {
        let name = try Self.fileName(site)
        for other in try folder.names() where other.hasPrefix("\(name).damaged-") { try folder.remove(other) }
        try folder.remove(name)
    }

    private static func fileName(_ site: String) throws(StateError) -> String {
        guard isSite(site) else { throw .badName(site) }
        return "pairing-\(site).json"
    }

    static func isSite(_ site: String) -> Bool {
        (1...32).contains(site.utf8.count)
            && site.utf8.allSatisfy { ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D }
    }
}
