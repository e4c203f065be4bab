import FoundationEssentials
import Glibc
import JSONText
import TestSupport
import Testing
import TextForms

@testable import Persistence

@Suite struct PairingTests {
    let outer: TemporaryFolder
    let folder: StateFolder
    let store: PairingStore

    init() throws {
        outer = try TemporaryFolder()
        folder = try StateFolder.open("\(outer.path)/state", for: .daemon)
        store = PairingStore(folder) { Date(timeIntervalSince1970: 1_796_023_000) }
    }

    static func record(_ site: String = "home", code: [UInt8]? = Array(200..<216)) -> PairingRecord {
        PairingRecord(
            site: site, privateKey: Array(0..<32), boxKey: Array(100..<132), rendezvousSecret: Array(50..<82),
            code: code, relayURL: "wss://relay.example", label: "Hemma", deviceID: "AbC-_123")
    }

    @Test func aRecordIsReadBackWhole() throws {
        var record = Self.record()
        #expect(try store.load("home") == .none)
        for change in [{ _ in }, { $0.code = nil }, { $0.relayURL = nil }, { $0.role = "owner" }]
            as [(inout PairingRecord) -> Void]
        {
            change(&record)
            try store.save(record)
            #expect(try store.load("home") == .record(record))
        }
        let text = String(decoding: try folder.read("pairing-home.json") ?? [], as: UTF8.self)
        #expect(text.contains("\"private_key\":\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\""))
    }

    @Test func onlyWhatSomebodyPairedIsAnotherPairing() {
        var old = Self.record(code: nil)
        old.pairedAt = Date(timeIntervalSince1970: 1_796_000_000)
        typealias Change = (inout PairingRecord) -> Void
        for change in [
            { $0.privateKey[0] ^= 1 }, { $0.boxKey[0] ^= 1 }, { $0.rendezvousSecret[0] ^= 1 },
            { $0.relayURL = nil }, { $0.code = Array(0..<16) },
            { $0.pairedAt = Date(timeIntervalSince1970: 1_796_000_001) },
        ] as [Change] {
            var new = old
            change(&new)
            #expect(new.isAnotherPairing(than: old))
        }
        #expect(!old.isAnotherPairing(than: old))
        // What the conversation itself notes.
        var fresh = Self.record()
        fresh.role = nil
        var noted = old
        noted.role = "owner"
        #expect(!noted.isAnotherPairing(than: fresh) && !noted.isAnotherPairing(than: old))
    }

    @Test func theCodeIsForgottenOnDiskAfterTheFirstSuccess() throws {
        let record = Self.record()
        try store.save(record)
        let confirmed = try #require(try store.confirm("home"))
        #expect(confirmed.code == nil && confirmed.pairedAt == Date(timeIntervalSince1970: 1_796_023_000))
        #expect(confirmed.privateKey == record.privateKey)
        #expect(try store.load("home") == .record(confirmed))
        let everything = try folder.names().flatMap { try folder.read($0) ?? [] }
        let code = Base64URL.encode(record.code ?? [])
        #expect(!String(decoding: everything, as: UTF8.self).contains(code))
        #expect(try store.confirm("home") == confirmed)
        #expect(try store.confirm("other") == nil)
    }

    @Test func aRefusedCodeIsDroppedButTheKeysStay() throws {
        try store.save(Self.record())
        try store.dropCode("home")
        try store.dropCode("none")
        var expected = Self.record(code: nil)
        #expect(try store.load("home") == .record(expected))
        try store.note(role: "viewer", for: "home")
        expected.role = "viewer"
        #expect(try store.load("home") == .record(expected))
    }

    @Test func sitesAreListedAndRemoved() throws {
        for site in ["home", "cabin-2", "a"] { try store.save(Self.record(site)) }
        try folder.write("pairing-.json", [])
        try folder.write("pairing-UP.json", [])
        try folder.write("other.json", [])
        #expect(try store.sites() == ["a", "cabin-2", "home"])
        try store.remove("home")
        try store.remove("home")
        #expect(try store.sites() == ["a", "cabin-2"])
    }

    @Test func forgettingTakesWhatWasSetAsideToo() throws {
        for site in ["home", "home2"] {
            try folder.write("pairing-\(site).json", Array("{".utf8))
            _ = try store.load(site)
        }
        try store.remove("home")
        #expect(try folder.names() == ["pairing-home2.json.damaged-20261130T071640Z"])
    }

    // MARK: One that is being made

    /// The file of a state folder that another process has open.
    private func visit() throws -> PairingStore {
        PairingStore(try StateFolder.open("\(outer.path)/state", for: .visit))
    }

    @Test func aBegunPairingLeavesTheOneInForceAndIsTakenUpOnceItsMakerIsGone() throws {
        var maker: PairingStore? = try visit()
        try maker?.begin(Self.record())
        var status = stat()
        #expect(stat("\(outer.path)/state/pairing-home.new.json", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(try store.load("home") == .none && store.begun("home") == Self.record())
        // Two at once would send the code twice as often, and a box gives up after five.
        #expect(try store.adopt("home") == nil)
        maker = nil
        #expect(try store.adopt("home") == Self.record())
        #expect(try store.load("home") == .record(Self.record()) && store.begun("home") == nil)
        #expect(try store.adopt("home") == nil)
    }

    @Test func aRefusedBeginningIsNotTakenUpButItsKeyIsKept() throws {
        try visit().begin(Self.record())
        try store.giveUp("home")
        #expect(try store.adopt("home") == nil)
        #expect(try store.begun("home") == Self.record(code: nil))
        try store.giveUp("none")
    }

    @Test func anAcceptedPairingTakesThePlaceOfTheOneInForce() throws {
        try store.save(Self.record(code: nil))
        let maker = try visit()
        var new = Self.record()
        new.boxKey[0] ^= 1
        try maker.begin(new)
        #expect(try store.load("home") == .record(Self.record(code: nil)))
        new.code = nil
        try maker.finish(new)
        #expect(try store.load("home") == .record(new) && store.begun("home") == nil)
    }

    @Test func aDiskThatIsFullKeepsTheCodeUnused() throws {
        let full = try StateFolder(
            "\(outer.path)/state", for: .visit,
            operations: {
                var operations = FileOperations()
                operations.write = { _, _ in
                    errno = ENOSPC
                    return -1
                }
                return operations
            }())
        #expect(throws: StateError.self) { try PairingStore(full).begin(Self.record()) }
        #expect(try store.begun("home") == nil)
    }

    @Test func whatWasBegunOrSetAsideIsListedAndForgottenToo() throws {
        try visit().begin(Self.record("begun"))
        try folder.write("pairing-damaged.json", Array("{".utf8))
        _ = try store.load("damaged")
        try store.save(Self.record("whole"))
        #expect(try store.sites() == ["begun", "damaged", "whole"])
        for site in try store.sites() { try store.remove(site) }
        #expect(try folder.names().isEmpty)
    }

    @Test func whatWasSetAsideIsNotNothing() throws {
        try folder.write("pairing-home.json", Array("{".utf8))
        guard case .setAside(let first) = try store.load("home"),
            case .setAside(let later) = try store.load("home")
        else {
            Issue.record("forgotten")
            return
        }
        #expect(first.reason == .damaged && later.reason == .earlier && later.newName == first.newName)
        try store.save(Self.record())
        #expect(try store.load("home") == .record(Self.record()))
        try store.remove("home")
        #expect(try store.load("home") == .none)
    }

    @Test func aPairingThatOthersMayReadIsAnErrorAndNotNone() throws {
        try store.save(Self.record())
        let path = "\(outer.path)/state/pairing-home.json"
        chmod(path, 0o644)
        #expect(throws: StateError.tooOpen(path: path, mode: 0o100644, isFolder: false)) {
            try store.load("home")
        }
    }

    @Test(arguments: ["", "../x", "A", "a b", "-a", String(repeating: "a", count: 33)])
    func onlyASitesIdNamesARecord(site: String) {
        #expect(throws: StateError.badName(site)) { try store.load(site) }
        #expect(throws: StateError.badName(site)) { try store.save(Self.record(site)) }
    }

    @Test func noWayOfPrintingARecordShowsItsSecrets() {
        let record = Self.record()
        var dumped = ""
        dump(record, to: &dumped)
        for text in ["\(record)", String(reflecting: record), dumped, "\([record])"] {
            for bytes in [record.privateKey, record.rendezvousSecret, record.code ?? []] {
                #expect(!text.contains(Base64URL.encode(bytes)))
                #expect(!text.contains(bytes.prefix(3).map { "\($0)" }.joined(separator: ", ")))
            }
        }
        #expect("\(record)" == "pairing of home (device AbC-_123, role unknown, code unused)")
    }

    @Test func aRecordOfAnotherSiteIsSetAside() throws {
        try store.save(Self.record("home"))
        let bytes = try #require(try folder.read("pairing-home.json"))
        try folder.write("pairing-cabin.json", bytes)
        guard case .setAside(let file) = try store.load("cabin") else {
            Issue.record("taken")
            return
        }
        #expect(file.reason == .damaged && file.newName.hasPrefix("pairing-cabin.json.damaged-"))
    }

    @Test(arguments: [
        "private_key", "box_key", "rendezvous_secret", "site", "label", "device_id", "code", "role",
        "relay_url", "paired_at",
    ])
    func aMissingOrWrongMemberMakesItUnusable(member: String) throws {
        let json = Self.record().json
        #expect(PairingRecord(json: json) == Self.record())
        for wrong in [
            nil, .int(1), .string("A"), .string("AA=="), .string(String(repeating: "A", count: 44)),
            .array([]),
        ] as [JSONValue?] {
            // Free texts may be anything.
            if case .string? = wrong, ["label", "device_id", "role", "relay_url"].contains(member) {
                continue
            }
            guard var members = json.objectValue else { return }
            members[member] = wrong
            #expect(PairingRecord(json: .object(members)) == nil, "\(member) \(String(describing: wrong))")
        }
    }

    @Test func everyBeginningOfARecordIsSetAside() throws {
        try store.save(Self.record())
        let whole = try #require(try folder.read("pairing-home.json"))
        for count in 0..<whole.count {
            try folder.write("pairing-home.json", Array(whole[..<count]))
            guard case .setAside(let file) = try store.load("home") else {
                Issue.record("a beginning of \(count) bytes was taken")
                return
            }
            try folder.remove(file.newName)
        }
    }

    @Test func mutationsAreSetAsideOrWholeRecords() throws {
        try store.save(Self.record())
        let whole = try #require(try folder.read("pairing-home.json"))
        var dice = SeededDice(7)
        var taken = 0
        for _ in 0..<2_000 {
            var bytes = whole
            let at = Int.random(in: 0..<bytes.count, using: &dice)
            switch Int.random(in: 0..<3, using: &dice) {
            case 0: bytes[at] = UInt8.random(in: 0...255, using: &dice)
            case 1: bytes.remove(at: at)
            default: bytes.insert(UInt8.random(in: 0x20...0x7E, using: &dice), at: at)
            }
            try folder.write("pairing-home.json", bytes)
            switch try store.load("home") {
            case .none: Issue.record("vanished")
            case .setAside(let file): try folder.remove(file.newName)
            case .record(let record):
                taken += 1
                #expect(record.site == "home" && record.privateKey.count == 32 && record.boxKey.count == 32)
            }
        }
        #expect(taken < 2_000)
    }

    @Test(arguments: ["=", "A", "AA", "AB", "AAAA=", "AA==", "A+", "A/", "AA\n", " AA", "é"])
    func onlyTheOneSpellingOfBytesIsRead(text: String) {
        #expect(Base64URL.decode(text).map { Base64URL.encode($0) } ?? text == text)
        #expect((Base64URL.decode(text) != nil) == (text == "AA"))
    }

    @Test func everyByteSurvivesItsSpelling() {
        let bytes = Array(UInt8.min...UInt8.max)
        for count in 0...bytes.count {
            #expect(Base64URL.decode(Base64URL.encode(Array(bytes[..<count]))) == Array(bytes[..<count]))
        }
    }
}
