public import BoxLink
public import EnergyModel

/// What one conversation with one box needs to know.
public struct BoxSessionSettings: Sendable {
    /// Our key pair; whoever holds it *is* this client.
    public var identity: X25519KeyPair
    /// The box's public key, 32 bytes, from the pairing link.
    public var boxKey: [UInt8]
    /// The single-use pairing code while we are not enrolled yet. Forgotten at
    /// the first completed handshake and after three silent ones; its bytes are
    /// wiped then, also for whoever else holds them.
    public var code: SecretBytes?
    /// Our version, told to the box.
    public var build: String
    /// How often the box sends a control frame.
    public var beat: Beat
    /// How long the box may take to answer message 1.
    public var handshakeDeadline = Contract.Session.handshakeDeadline
    /// The first pause after an unanswered handshake; doubles, with chance in it.
    public var handshakeRetry = Contract.Session.handshakeBackoffBase
    /// The longest such pause.
    public var handshakeRetryLimit = Contract.Session.handshakeBackoffCap
    /// How long a removed client waits between attempts.
    public var revokedPause = Duration.seconds(3_600)
    /// From this age on the chargers are read again although nothing happened: the
    /// stream cannot show that a cable went in.
    public var readInterval = Duration.seconds(60)
    /// How much older than two intervals an answer about the chargers may be and
    /// still be shown as now; more where the house's clock runs faster than ours.
    public var readGrace = Duration.seconds(60)
    /// The household's zone when the box does not name one.
    public var zone = Zone.utc
    /// The plan is read for its own sake too, not only while a car is to be ready.
    public var wantsPlan = false
    /// Prices and energy are read, and the plan's board is made; a visitor has no use for them.
    public var wantsBoards = false
    /// Which cheap stretches to look for, and when it is cheap now.
    public var priceRules = PriceRules()
    /// Where energy totals begin when there are none yet.
    public var energyStart = EnergyStart.zero
    /// The owner accepts that a goal is written with the claim that a person has just
    /// confirmed it, where the box asks for one (FTW wire §8.3).
    public var goalConsent = false
    /// What is remembered over a restart; `nil` forgets.
    public var memory: (any SessionMemory)?

    /// The time-outs start as the wire description has them.
    public init(
        identity: X25519KeyPair, boxKey: [UInt8], code: SecretBytes? = nil, build: String,
        beat: Beat = .second
    ) {
        self.identity = identity
        self.boxKey = boxKey
        self.code = code
        self.build = build
        self.beat = beat
    }
}

/// Something that happened once, for whoever keeps records.
public enum BoxSessionNote: Sendable, Equatable {
    /// The first handshake is complete: the box knows our key. Delete the stored code.
    case paired
    /// The code met silence three times: it is wrong, used or expired, or the
    /// box knows another one. It is not sent any more; delete it.
    case codeRefused
    /// The box's owner removed this client. Pair again.
    case revoked
    /// The box process is another one than before; what it counted starts anew.
    case boxRestarted
    /// A plan nobody asked for, sent after somebody's command.
    case planPushed(PlanMessage)
    /// The box took a command.
    case commandAcknowledged(CommandAckMessage)
    /// A command ended.
    case commandSettled(CommandResultMessage)
}

/// Numbers for a diagnostic; all count from the start of the process.
public struct SessionCounters: Sendable, Equatable {
    /// Frames of ours that were opened.
    public var frames: UInt64 = 0
    /// Messages that were not ours: other clients', replays, forgeries.
    public var foreign: UInt64 = 0
    /// Frames or bodies of ours that could not be read.
    public var malformed: UInt64 = 0
    /// Handshakes begun.
    public var handshakes: UInt64 = 0
    /// Sessions established.
    public var sessions: UInt64 = 0
    /// Sessions that died of silence.
    public var silences: UInt64 = 0
    /// Control frames that never arrived.
    public var missedBeats: UInt64 = 0
    /// Questions sent, by method and route, ids included; `other` when there are too many.
    public var requests: [String: UInt64] = [:]

    /// Sessions after the first.
    public var reconnects: UInt64 { sessions > 0 ? sessions - 1 : 0 }

    static let maxRoutes = 64

    mutating func count(route: String) {
        let key = requests[route] != nil || requests.count < Self.maxRoutes ? route : "other"
        requests[key, default: 0] &+= 1
    }
}
