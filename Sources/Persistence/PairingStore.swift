public import FoundationEssentials
import TextForms

/// The pairings in a state folder, one file per site: `pairing-<site>.json`.
///
/// One that is being made lies beside it as `pairing-<site>.new.json`, key and code
/// included, before the code is sent: the box takes a code once, and a key that
/// nobody has any more with it. The pairing in force stays until the box accepted.
public struct PairingStore: Sendable {
    /// What lies there for one site.
    public enum Entry: Sendable, Equatable {
        case none
        case record(PairingRecord)
        /// It could not be used, now or earlier, and has another name; the site
        /// is without until somebody pairs again.
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
        let name = try Self.fileName(site)
        switch try loaded(name, site) {
        case .none:
            // Set aside is not removed: a person did not mean to be without.
            let earlier = try folder.names().last { $0.hasPrefix("\(name).damaged-") }
            guard let earlier else { return .none }
            return .setAside(
                SetAside(folder: folder.path, name: name, newName: earlier, reason: .earlier))
        case .setAside(let file): return .setAside(file)
        case .document(let body, _): return PairingRecord(json: body).map { .record($0) } ?? .none
        }
    }

    private func loaded(_ name: String, _ site: String) throws(StateError) -> LoadedDocument {
        try folder.load(name, kind: Self.kind, now: now()) { PairingRecord(json: $0)?.site == site }
    }

    /// Writes a record; on return it is on the disk.
    public func save(_ record: PairingRecord) throws(StateError) {
        try folder.save(try Self.fileName(record.site), kind: Self.kind, record.json)
    }

    // MARK: One that is being made

    /// Writes down a pairing that is about to be tried; on return it is on the disk,
    /// and until this value goes nobody else takes it up.
    ///
    /// - Throws: `StateError`; the code is then still good and nothing was lost.
    public func begin(_ record: PairingRecord) throws(StateError) {
        folder.holdPairing()
        try folder.save(try Self.draftName(record.site), kind: Self.kind, record.json)
    }

    /// The pairing that was begun and not ended; `nil` when there is none.
    public func begun(_ site: String) throws(StateError) -> PairingRecord? {
        guard case .document(let body, _) = try loaded(try Self.draftName(site), site) else { return nil }
        return PairingRecord(json: body)
    }

    /// The box does not want the code: it is not sent again. The key stays for the next
    /// link, in case the box took it and only its answers were lost.
    public func giveUp(_ site: String) throws(StateError) {
        guard var record = try begun(site), record.code != nil else { return }
        record.code = nil
        try folder.save(try Self.draftName(site), kind: Self.kind, record.json)
    }

    /// The box accepted: from now on this is the site's pairing.
    public func finish(_ record: PairingRecord) throws(StateError) {
        try save(record)
        // One that stays for a moment does no harm: it is only looked at where there is no pairing.
        try? folder.remove(try Self.draftName(record.site))
    }

    /// Makes a begun pairing the site's own, if whoever began it is gone: it was killed, or
    /// its patience was over, and nobody can say whether the box took the code.
    ///
    /// - Returns: `nil` when there is none, or it is still at work, or its code was refused.
    public func adopt(_ site: String) throws(StateError) -> PairingRecord? {
        guard !folder.isPairingHeld(), let record = try begun(site), record.code != nil else { return nil }
        try finish(record)
        return record
    }

    // MARK: What becomes of it

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

    /// The sites with a pairing, or with one that was begun or set aside, sorted.
    public func sites() throws(StateError) -> [String] {
        let sites = try folder.names().compactMap { name -> String? in
            guard name.hasPrefix("pairing-"), let end = name.firstIndex(of: ".") else { return nil }
            let site = String(name[..<end].dropFirst(8))
            return name[end...].hasPrefix(".json") || name[end...].hasPrefix(".new.json") ? site : nil
        }
        return Set(sites.filter(SiteID.isValid)).sorted()
    }

    /// Forgets a pairing, with one that was begun and whatever was set aside of
    /// them: that holds keys too. None to forget is fine.
    public func remove(_ site: String) throws(StateError) {
        let name = try Self.fileName(site)
        for other in try folder.names() where other.hasPrefix("pairing-\(site).") && other != name {
            try folder.remove(other)
        }
        try folder.remove(name)
    }

    private static func fileName(_ site: String) throws(StateError) -> String {
        guard SiteID.isValid(site) else { throw .badName(site) }
        return "pairing-\(site).json"
    }

    private static func draftName(_ site: String) throws(StateError) -> String {
        guard SiteID.isValid(site) else { throw .badName(site) }
        return "pairing-\(site).new.json"
    }
}
