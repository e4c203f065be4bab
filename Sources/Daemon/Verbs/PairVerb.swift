import Ambient
import BoxLink
import BoxSession
import Configuration
import EnergyModel
import FoundationEssentials
import Glibc
import Persistence

/// `ftw-mqtt pair`: from a link to a box that knows us.
struct PairVerb {
    let options: PairOptions
    let environment: [String: String]

    /// How long we wait when nothing else is said.
    private static let patience = 60

    func run() async -> ExitCode {
        let around = Surroundings(
            environment: environment, logLevel: options.common.logLevel ?? "warning",
            plain: options.common.plain)
        guard var settings = around.settings(options.common) else { return .configuration }
        guard let site = around.site(options.site, of: settings) else { return .usage }
        if let relay = options.relay { settings.relay.url = relay }
        let link: PairingLink
        do {
            link = try PairingLink(parsing: try text())
        } catch {
            around.complain("\(error)")
            return .usage
        }
        link.code.withBytes { around.log.redactor.add($0) }
        link.rendezvousSecret.withBytes { around.log.redactor.add($0) }
        do {
            let store = PairingStore(try StateFolder.open(settings.stateDir, for: .visit))
            let old = try existing(store, site, link, around)
            guard let record = try record(for: link, site: site, old: old, store, around) else {
                return .refused
            }
            // Before the box hears of it: it takes the code once.
            try store.begin(record)
            return try await meet(record, in: store, settings, site, around)
        } catch let error as StateError {
            around.complain("\(error)")
            return .state
        } catch {
            around.complain("\(error)")
            return .failed
        }
    }

    /// What was given is nothing to pair with.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    /// The link, from wherever it was to come.
    func text() throws -> String {
        switch options.source {
        case .link(let link): return link
        case .picture(let word):
            let path = Surroundings.absolute(word)
            guard access(path, F_OK) == 0 else {
                throw Unusable(
                    description: "\(ArgumentReader.shown(word)) is neither a link, which begins with "
                        + "https://app.ftw.energy/p#v2., nor the name of a picture: there is no such file")
            }
            return try QRPicture.text(at: path)
        case .standardInput:
            if isatty(STDIN_FILENO) == 1 {
                StandardError.write(Array("Paste the link from the box's page and press Enter: ".utf8))
            }
            return readLine() ?? ""
        }
    }

    private func existing(
        _ store: PairingStore, _ site: Settings.Site, _ link: PairingLink, _ around: Surroundings
    ) throws(StateError) -> PairingRecord? {
        switch try store.load(site.id) {
        case .none: return nil
        case .record(let record): return record
        case .setAside(let file):
            around.complain("\(file)")
            return nil
        }
    }

    /// - Returns: `nil` when the site has another box already and nobody said to replace it.
    private func record(
        for link: PairingLink, site: Settings.Site, old: PairingRecord?, _ store: PairingStore,
        _ around: Surroundings
    ) throws -> PairingRecord? {
        // The same box again keeps our key, and with it our row in the box's list. So does
        // a pairing that was begun: the box may have taken its code already.
        let same = old.flatMap { $0.boxKey == link.boxKey ? $0 : nil }
        if old != nil, same == nil, !options.replace {
            around.complain(
                "\(site.id) is paired with another box already; --replace forgets that one. "
                    + "For a second house add a site to the configuration.")
            return nil
        }
        let begun = try store.begun(site.id).flatMap { $0.boxKey == link.boxKey ? $0 : nil }
        let identity = try (same ?? begun).map { try X25519KeyPair(secret: $0.privateKey) } ?? X25519KeyPair()
        var record = PairingRecord(link: link, identity: identity, site: site.id, label: site.name)
        record.relayURL = options.relay
        return record
    }

    /// Goes to the relay and waits for the box to answer.
    private func meet(
        _ record: PairingRecord, in store: PairingStore, _ settings: Settings, _ site: Settings.Site,
        _ around: Surroundings
    ) async throws -> ExitCode {
        let loop = WebSocketLoop()
        let assembly = SiteAssembly(settings: settings, site: site, loop: loop, ambient: around.ambient)
        let session = try assembly.session(for: record, over: try assembly.carrier(for: record))
        let patience = Duration.seconds(options.seconds ?? Self.patience)
        let language: Language = settings.language == .sv ? .sv : .en
        let progress = PairingProgress(language: language, time: around.ambient.time)
        let outcome = await withTaskGroup(of: PairingProgress.Outcome?.self) { group in
            group.addTask {
                await session.run()
                return nil
            }
            group.addTask { await progress.follow(session) }
            group.addTask {
                try? await around.ambient.time.sleep(for: patience)
                return progress.gaveUp()
            }
            defer { group.cancelAll() }
            for await outcome in group {
                if let outcome { return outcome }
            }
            return progress.gaveUp()
        }
        await loop.stop()
        switch outcome {
        case .paired(let facts):
            var paired = record
            paired.code = nil
            paired.pairedAt = around.ambient.time.wall
            paired.role = facts?.role
            do {
                try store.finish(paired)
            } catch {
                around.complain(
                    "\(error). The box has accepted, and the key is kept: mend that and give the same link again"
                )
                return .state
            }
            report(paired, facts, site)
            return .done
        case .codeRefused:
            try store.giveUp(site.id)
            around.complain(
                "the box is there but does not answer to this link: its code is wrong, used, or expired "
                    + "(it works once, for ten minutes), or it belongs to another box. "
                    + "Get a new link on the box's page.")
            return .refused
        case .outOfTime(let sentence):
            around.complain(
                "not paired after \(options.seconds ?? Self.patience) s. \(sentence) "
                    + "Nothing is lost: give the same link again while it is good")
            return .unreachable
        }
    }

    private func report(_ record: PairingRecord, _ facts: BoxFacts?, _ site: Settings.Site) {
        let role =
            record.role == "viewer" ? "a viewer: it can show the house, but send no commands" : "an owner"
        print("Paired: \(site.name) (\(site.id)).")
        print(
            "  box        \(facts.map { "version \($0.build)" } ?? "version not said") (key \(BoxNames.fingerprint(boxKey: record.boxKey)))"
        )
        print("  this end   \(record.deviceID) in the box's list of devices; \(role)")
        print("Next: ftw-mqtt run, or restart nothing: a running bridge notices by itself.")
    }
}
