import Persistence

/// What a site's pairing is, as its files say now.
enum SitePairing: Equatable {
    /// None, or none any more.
    case none
    case paired(PairingRecord)
    /// There is one, and it cannot be used: why, and what to do. That is no word from
    /// anybody that the house is to be forgotten.
    case unusable(String)

    var record: PairingRecord? {
        guard case .paired(let record) = self else { return nil }
        return record
    }

    /// Looks at the files. A pairing that was begun and left is taken up.
    static func look(_ site: String, in store: PairingStore) -> SitePairing {
        do {
            switch try store.load(site) {
            case .record(let record): return .paired(record)
            case .none: return try store.adopt(site).map { .paired($0) } ?? .none
            case .setAside(let file):
                let text = "\(file); pair again: ftw-mqtt pair - --site \(site)"
                return try store.adopt(site).map { .paired($0) } ?? .unusable(text)
            }
        } catch {
            return .unusable("\(error)")
        }
    }
}

/// Follows the pairing of a site that runs. Pure.
struct PairingWatch {
    enum Verdict: Equatable {
        /// Nothing that matters.
        case same
        /// Still the same; something for the log.
        case tell(LogWord)
        /// Another pairing, or another reason to be without: begin again.
        case another
        /// Somebody took it away, and clears the topics: stop, and say nothing more.
        case removed
    }
    enum LogWord: Equatable {
        /// It runs on with what it read; the next start could not.
        case unreadable(String)
        case readableAgain
    }

    private var known: SitePairing
    /// Why the file of the pairing in use cannot be used; `nil` while it can.
    private var trouble: String?

    init(_ pairing: SitePairing) { known = pairing }

    mutating func saw(_ new: SitePairing) -> Verdict {
        switch (known, new) {
        case (.none, .none): return .same
        case (_, .none): return .removed
        case (.paired(let old), .paired(let record)):
            guard !record.isAnotherPairing(than: old) else { return .another }
            known = new
            guard trouble != nil else { return .same }
            trouble = nil
            return .tell(.readableAgain)
        case (.paired, .unusable(let why)):
            guard trouble == nil else { return .same }
            trouble = why
            return .tell(.unreadable(why))
        case (.unusable, .unusable): return .same
        case (.none, .unusable), (.none, .paired), (.unusable, .paired): return .another
        }
    }
}
