import Ambient
import BoxLink
import BoxSession
import Bridge
import Configuration
import EnergyModel
import MQTTClient
import MQTTTypes
import Persistence

/// Turns settings and a pairing into the parts of one site.
struct SiteAssembly: Sendable {
    let settings: Settings
    let site: Settings.Site
    let loop: WebSocketLoop
    let ambient: Ambient
    /// Tells this process from any other on ``BridgeSettings/claimTopic``; random, not secret.
    var instance = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    /// How many times faster than ours the household's clock runs; 1 but for a demo.
    var speed = 1.0
    /// The zone of last resort.
    var machineZone = Zone.ofThisMachine

    /// The household's zone when the box does not name one: the configured one, else this machine's.
    ///
    /// The one for the session and for the bridge: a time that a person writes, times that are
    /// shown, goals, price days and energy's day must be of the same clock.
    var zone: Zone { site.zone.flatMap { Zone(named: $0) } ?? machineZone }

    /// First levels of every topic of the site, as the bridge has them.
    var root: String { TopicTree(base: settings.mqtt.baseTopic, site: site.id).root }

    /// For a verb that got no further than the broker's address.
    var brokerIsAway: String {
        "the broker at \(settings.mqtt.host):\(settings.mqtt.port) cannot be reached; ftw-mqtt check says why"
    }

    /// How the box is reached.
    ///
    /// - Throws: `WebSocketURLError` when the relay's address is none.
    func carrier(for record: PairingRecord) throws(WebSocketURLError) -> RelayCarrier {
        // The address is checked with the configuration too; a pairing may name another.
        let url = try WebSocketURL(
            parsing: record.relayURL ?? settings.relay.url, allowPlain: settings.relay.allowPlain)
        return RelayCarrier(
            settings: RelaySettings(
                url: url, caFile: settings.relay.caFile, secret: SecretBytes(record.rendezvousSecret)),
            loop: loop, ambient: ambient)
    }

    /// The conversation with the box.
    ///
    /// - Parameter memory: Where it keeps what the box does not; `nil` for a visitor.
    /// - Throws: `NoiseError` when the stored key is no key.
    func session(
        for record: PairingRecord, over carrier: any Carrier, memory: (any SessionMemory)? = nil
    ) throws(NoiseError) -> BoxSession {
        var session = BoxSessionSettings(
            identity: try X25519KeyPair(secret: record.privateKey), boxKey: record.boxKey,
            code: record.code.map(SecretBytes.init), build: Version.text)
        session.readInterval = speed > 1 ? .seconds(2) : settings.car.readInterval
        session.readGrace = .seconds(60 * speed)
        session.goalConsent = settings.commands.goalConsent
        session.zone = zone
        session.memory = memory
        // Without a memory energy cannot be counted, and nobody looks.
        session.wantsPlan = memory != nil
        session.wantsBoards = memory != nil
        session.priceRules = priceRules
        session.energyStart = settings.energy.start == .backfill ? .backfill : .zero
        return BoxSession(settings: session, carrier: carrier, ambient: ambient)
    }

    func bridge(for record: PairingRecord?) -> BridgeSettings {
        BridgeSettings(
            siteID: site.id, siteName: site.name,
            boxKeyHash: record.map { BoxNames.siteID(boxKey: $0.boxKey) } ?? "unpaired",
            baseTopic: settings.mqtt.baseTopic,
            // Entities need an identity that lasts, and that comes with the pairing.
            discovery: settings.mqtt.discovery && record != nil,
            discoveryPrefix: settings.mqtt.discoveryPrefix,
            language: settings.language == .sv ? .sv : .en, rate: rate,
            mirrorsValues: settings.mqtt.values, zone: zone,
            cheapHours: settings.prices.cheapHours, isReadOnly: settings.isReadOnly(site),
            commands: Set(settings.commands.allow.compactMap { CommandName(rawValue: $0.rawValue) }),
            voice: voice, claim: instance, version: Version.text)
    }

    /// Of several sites the first one answers what names no home.
    private var voice: VoiceSettings? {
        guard settings.voice.hermes else { return nil }
        return VoiceSettings(
            prefix: settings.voice.prefix, isFirst: settings.sites.first?.id == site.id,
            otherHomes: settings.sites.filter { $0.id != site.id }.flatMap { [$0.id, $0.name] })
    }

    private var priceRules: PriceRules {
        let rule: EnergyModel.CheapRule =
            switch settings.prices.cheapNow {
            case .level(let level): .level(level)
            case .under(let price): .under(price)
            case .window(let hours): .window(hours: Double(hours))
            }
        return PriceRules(cheapHours: settings.prices.cheapHours, cheapNow: rule)
    }

    func broker(will: Will?, clientID: String? = nil) -> MQTTClient {
        MQTTClient(settings: brokerSettings(will: will, clientID: clientID), ambient: ambient)
    }

    /// - Parameters:
    ///   - will: What the broker says when we are gone; `nil` for a visitor.
    ///   - clientID: `nil`: the bridge's own.
    func brokerSettings(will: Will?, clientID: String? = nil) -> MQTTSettings {
        let mqtt = settings.mqtt
        var broker = MQTTSettings(
            host: mqtt.host, port: mqtt.port, clientID: clientID ?? self.clientID,
            keepAliveSeconds: mqtt.keepAliveSeconds,
            credentials: mqtt.user.map { user in
                MQTTCredentials(
                    user: user, password: mqtt.password.map { String(decoding: $0.bytes, as: UTF8.self) })
            },
            tls: mqtt.tls.map { tls in
                MQTTEncryption(caFile: tls.caFile, certificate: Self.certificate(tls))
            },
            will: will, protocolPreference: protocolPreference,
            // What it writes itself it need not hear (MQTT 5.0 §3.8.3.1); a 3.1.1 broker sends it all the same.
            ignoresOwnMessages: will != nil,
            // A command that somebody asked the broker to keep is refused, also when it comes live.
            seesRetainFlag: will != nil,
            // Who leaves a will is the bridge; only it claims its place.
            claimTopic: will == nil ? nil : bridge(for: nil).claimTopic)
        broker.instance = instance
        return broker
    }

    private static func certificate(_ tls: Settings.TLS) -> MQTTEncryption.ClientCertificate? {
        guard let certificate = tls.certificateFile, let key = tls.keyFile else { return nil }
        return .init(certificateFile: certificate, keyFile: key)
    }

    /// Stable from start to start, and not the same for two bridges of two households on one broker.
    private var clientID: String {
        guard let written = settings.mqtt.clientID else {
            return "ftw-mqtt-\(settings.mqtt.baseTopic.replacing("/", with: "-"))-\(site.id)"
        }
        return settings.sites.count > 1 ? "\(written)-\(site.id)" : written
    }

    private var rate: BridgeSettings.Rate {
        switch settings.mqtt.rate {
        case .calm: .calm
        case .normal: .normal
        case .fast: .fast
        }
    }

    private var protocolPreference: MQTTSettings.ProtocolPreference {
        switch settings.mqtt.version {
        case .auto: .newest
        case .v5: .v5
        case .v311: .v311
        }
    }
}
