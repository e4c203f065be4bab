import Ambient
import BoxLink
import Bridge
import Configuration
import FoundationEssentials
import Glibc
import Persistence
import TestSupport
import Testing

@testable import Daemon

@Suite struct SitePairingTests {
    let outer: TestSupport.TemporaryFolder
    let store: PairingStore
    var path: String { "\(outer.path)/state/pairing-home.json" }

    init() throws {
        outer = try TestSupport.TemporaryFolder()
        store = PairingStore(try StateFolder.open("\(outer.path)/state", for: .daemon))
    }

    private func record(_ change: (inout PairingRecord) -> Void = { _ in }) -> PairingRecord {
        var record = PairingRecord(
            site: "home", privateKey: Array(0..<32), boxKey: Array(100..<132),
            rendezvousSecret: Array(50..<82), code: nil, label: "Home",
            pairedAt: Date(timeIntervalSince1970: 1_796_000_000), deviceID: "AbC-_123")
        change(&record)
        return record
    }

    // MARK: Looking

    @Test func aFileThatCannotBeReadIsNotNone() throws {
        try store.save(record())
        #expect(SitePairing.look("home", in: store) == .paired(record()))
        chmod(path, 0o644)
        guard case .unusable(let why) = SitePairing.look("home", in: store) else {
            Issue.record("taken for something else")
            return
        }
        #expect(why.hasSuffix("run: chmod 600 \(path)"))
        chmod(path, 0o600)
        #expect(SitePairing.look("home", in: store) == .paired(record()))
        try store.remove("home")
        #expect(SitePairing.look("home", in: store) == .none)
    }

    @Test func aDamagedFileStaysUnusableUntilSomebodyPairsOrUnpairs() throws {
        try Data("{".utf8).write(to: URL(filePath: path))
        chmod(path, 0o600)
        for _ in 0..<2 {
            guard case .unusable(let why) = SitePairing.look("home", in: store) else {
                Issue.record("taken for something else")
                return
            }
            #expect(why.contains(".damaged-") && why.hasSuffix("pair again: ftw-mqtt pair - --site home"))
        }
        try store.remove("home")
        #expect(SitePairing.look("home", in: store) == .none)
    }

    @Test func onlyASiteWithoutPairingTakesItsEntitiesBack() throws {
        let assembly = SiteAssembly(
            settings: Settings(), site: Settings.Site(), loop: WebSocketLoop(), ambient: Ambient())
        #expect(!assembly.bridge(for: .none).discovery)
        let kept = assembly.bridge(for: .unusable("it is damaged"))
        #expect(kept.discovery && kept.boxKeyHash == nil)
        #expect(assembly.bridge(for: .paired(record())).boxKeyHash != nil)
    }

    // MARK: Watching

    @Test func aSiteRunsOnWithoutItsFileAndSaysSoOnce() {
        var watch = PairingWatch(.paired(record()))
        #expect(watch.saw(.unusable("why")) == .tell(.unreadable("why")))
        #expect(watch.saw(.unusable("why")) == .same && watch.saw(.unusable("other")) == .same)
        #expect(watch.saw(.paired(record())) == .tell(.readableAgain))
        #expect(watch.saw(.paired(record())) == .same)
        #expect(watch.saw(.unusable("why")) == .tell(.unreadable("why")))
        #expect(watch.saw(.paired(record { $0.boxKey[0] ^= 1 })) == .another)
    }

    @Test func whatBecomesReadableIsTakenUpAndWhatIsGoneIsRemoved() {
        for known in [SitePairing.none, .unusable("why")] {
            var watch = PairingWatch(known)
            #expect(watch.saw(known) == .same)
            #expect(watch.saw(.paired(record())) == .another)
        }
        for known in [SitePairing.paired(record()), .unusable("why")] {
            var watch = PairingWatch(known)
            #expect(watch.saw(.none) == .removed)
        }
        var none = PairingWatch(.none)
        #expect(none.saw(.unusable("why")) == .another)
    }

    @Test func itsOwnNotesAreNoOtherPairing() {
        var watch = PairingWatch(.paired(record { ($0.code, $0.pairedAt) = (Array(0..<16), nil) }))
        #expect(watch.saw(.paired(record())) == .same)
        #expect(watch.saw(.paired(record { $0.role = "owner" })) == .same)
        #expect(
            watch.saw(.paired(record { $0.pairedAt = Date(timeIntervalSince1970: 1_796_000_009) }))
                == .another)
    }
}
