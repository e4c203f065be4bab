import Ambient
import BoxLink
import BoxSession
import BoxSimulator
import Configuration
import EnergyModel
import FoundationEssentials
import JSONText
import MQTTClient
import MQTTTypes
import Persistence
import Testing

/// Whom the bridge trusts, and what it says about those it does not.
@Suite(.needsBroker, .timeLimit(.minutes(3))) struct TrustTests {
    private let files: TestCertificates

    init() throws { files = try TestCertificates() }

    @Test func aRelayWithAPrivateAuthorityIsAccepted() async throws {
        var options = Stage.Options()
        options.relay = files.server
        let stage = try await Stage(options)
        let bridge = try stage.bridge { $0.relay.caFile = files.authority }
        let picture = try await stage.settled()
        #expect(picture.document("box/link")?["state"] == "live")
        #expect(stage.relay.socketCount(end: .app) == 1)
        await bridge.stop()
        await stage.close()
    }

    enum Doubt: CaseIterable { case unknownAuthority, wrongHost, systemAuthorities }

    @Test(arguments: Doubt.allCases)
    func aRelayThatCannotBeTrustedIsRefusedAndSaidWhy(_ doubt: Doubt) async throws {
        var options = Stage.Options()
        options.relay = doubt == .wrongHost ? files.elsewhere : files.server
        options.boxIsThere = false
        let stage = try await Stage(options)
        let bridge = try stage.bridge { settings in
            switch doubt {
            case .unknownAuthority: settings.relay.caFile = files.strangeAuthority
            case .wrongHost: settings.relay.caFile = files.authority
            case .systemAuthorities: settings.relay.caFile = nil
            }
        }
        let reason = doubt == .wrongHost ? "relay_wrong_host" : "relay_unknown_authority"
        let words = doubt == .wrongHost ? "another host" : "unknown authority"
        let picture = try await stage.picture("the reason in box/link") {
            $0.document("box/link")?["reason"]?.stringValue == reason
        }
        let link = try #require(picture.document("box/link"))
        #expect(link["state"] == "connecting")
        #expect(link["sentence"]?.stringValue?.contains(words) == true, "\(link.text)")
        #expect(picture.text("box/availability") == "offline")
        #expect(picture.text("bridge/availability") == "online")
        // Each attempt fails the same way, and that is one line.
        try await stage.line(words)
        let said = stage.lines.all.filter { $0.level <= .warning }.map(\.text)
        #expect(said.filter { $0.contains(words) }.count == 1, "\(said)")
        #expect(stage.relay.socketCount() == 0)
        await bridge.stop()
        await stage.close()
    }

    @Test func aBrokerWithTLSThatWantsACertificateIsServed() async throws {
        var options = Stage.Options()
        options.broker.tls = files.server
        options.broker.requiresClientCertificate = true
        let stage = try await Stage(options)
        let bridge = try stage.bridge { settings in
            settings.mqtt.usesTLS = true
            settings.mqtt.tlsFiles.caFile = files.authority
            settings.mqtt.tlsFiles.certificateFile = files.clientCertificate
            settings.mqtt.tlsFiles.keyFile = files.clientKey
        }
        var onlooker = stage.onlooker
        onlooker.tls = .init(
            caFile: files.authority,
            certificate: .init(certificateFile: files.clientCertificate, keyFile: files.clientKey))
        let picture = try await stage.eventually("a live house behind TLS") {
            let picture = RetainedPicture(messages: try await TestClient.retained(onlooker))
            return picture.isLive ? picture : nil
        }
        #expect(picture.discovery.count == RetainedPicture.announcements)
        await bridge.stop()
        await stage.close()
    }

    @Test func aWrongPasswordIsSaidInASentenceAndShownNowhere() async throws {
        let password = #"s3cret#wrong@p%20:ö"'\ $x"#
        var secrets = Secrets()
        secrets.add("password", Array(password.utf8))
        var options = Stage.Options()
        options.broker.users = [("bridge", "right"), ("onlooker", "looks")]
        let stage = try await Stage(options)
        secrets.add("private key", stage.record.privateKey)
        secrets.add("rendezvous secret", stage.record.rendezvousSecret)
        let wrong = try stage.bridge { settings in
            settings.mqtt.user = "bridge"
            settings.mqtt.password = Secret(Array(password.utf8))
        }
        let lines = try await stage.line("user name")
        #expect(lines.count == 1)
        // What is known of the box meanwhile is kept for the broker's return.
        _ = try await stage.eventually("the box, without a broker") {
            await wrong.session.counters().frames > 3 ? true : nil
        }
        await wrong.stop()
        let right = try stage.bridge { settings in
            settings.mqtt.user = "bridge"
            settings.mqtt.password = Secret(Array("right".utf8))
        }
        var onlooker = stage.onlooker
        onlooker.credentials = .init(user: "onlooker", password: "looks")
        let picture = try await stage.eventually("a live house with the right password") {
            let picture = RetainedPicture(messages: try await TestClient.retained(onlooker))
            return picture.isLive ? picture : nil
        }
        #expect(picture.contains(secrets) == [])
        #expect(secrets.found(in: stage.lines.texts.joined(separator: "\n")) == [])
        await right.stop()
        await stage.close()
    }
}
