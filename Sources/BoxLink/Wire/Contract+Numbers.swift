// FTW wire §10. Times are in milliseconds where the name ends in `Ms`, as the
// wire counts them; what we wait for ourselves is a `Duration`.
extension Contract {
    /// The relay and how it is dialled (FTW wire §1).
    public enum Relay {
        public static let origin = "wss://relay.ftw.energy"
        public static let epochMs: Int64 = Rendezvous.epochMs
        /// The most hours a relay may correct us by, either way.
        public static let maxEpochOffset: Int64 = 1
        /// How many corrections in a row are followed by a dial at once.
        public static let immediateRedials = 2
        /// After 4410 a client waits for a random part of this.
        public static let clientRejoinJitter: Duration = .seconds(3)
        public static let boxRejoinJitter: Duration = .seconds(5)
        /// Over how long after the hour the old rooms are closed.
        public static let roomSpreadMs: Int64 = 300_000
        public static let backoffBase: Duration = .milliseconds(500)
        public static let backoffCap: Duration = .seconds(60)
        public static let backoffExponentCap = 16
        public static let heartbeat: Duration = .seconds(15)
        /// A socket on which nothing arrived for so long is dead.
        public static let deadSocket: Duration = .seconds(45)
        public static let dialTimeout: Duration = .seconds(15)
        public static let writeTimeout: Duration = .seconds(10)
        /// The longest message, in bytes.
        public static let maxMessage = 65_536
        public static let frameBurst = 240
        public static let framesPerSecond = 60
        public static let byteBurst = 4 << 20
        public static let bytesPerSecond = 512 << 10
        /// Bytes that may wait for a slow reader.
        public static let maxQueued = 8 << 20
        public static let clientsPerRoom = 4
        public static let socketsPerAddress = 16
        public static let maxSockets = 4096
        public static let attemptsPerMinute = 30
    }

    /// WebSocket close codes of the relay (FTW wire §1.4).
    public enum CloseCode: UInt16, Sendable, CaseIterable {
        case join = 4400
        case epoch = 4409
        case rotated = 4410
        case busy = 4429
    }

    /// The only texts a relay sends (FTW wire §1.3).
    public enum ControlWord: String, Sendable, CaseIterable { case ready, gone }

    /// Handshake and session (FTW wire §2, §6).
    public enum Session {
        public static let handshakeDeadline: Duration = .seconds(12)
        public static let handshakeDeadlineAfterWake: Duration = .seconds(3)
        public static let handshakeBackoffBase: Duration = .seconds(3)
        public static let handshakeBackoffCap: Duration = .seconds(60)
        /// Sessions a box keeps; the oldest goes without a word.
        public static let boxSessions = 4
        public static let protoMin: Int64 = 0
        public static let protoMax: Int64 = 1
        /// The `hz` that means one beat in five seconds; any other means one a second.
        public static let slowHz = 0.2
        public static let beat: Duration = .seconds(1)
        public static let slowBeat: Duration = .seconds(5)
        public static let bootRetry: Duration = .seconds(5)
        /// A stream that brought nothing for so long is called quiet.
        public static let quiet: Duration = .seconds(3)
        public static let foregroundFrameDeadline: Duration = .milliseconds(2_500)
    }

    /// Questions and answers (FTW wire §6.8–6.10, §8).
    public enum Request {
        public static let planTimeout: Duration = .seconds(8)
        public static let priceTimeout: Duration = .seconds(8)
        /// Of silence; every chunk starts it again.
        public static let historyTimeout: Duration = .seconds(20)
        /// Of silence; head and chunks start it again.
        public static let apiTimeout: Duration = .seconds(20)
        public static let boxTimeout: Duration = .seconds(15)
        public static let planTooOld: Duration = .seconds(1_800)
        public static let priceWindowMs: Int64 = 8 * 86_400_000
        public static let maxHistoryPoints = 2_000
        public static let maxHistorySeries = 16
        /// A sample that is not there.
        public static let missingSample = Int32.min
        public static let apiChunkBytes = 12_288
        public static let apiMaxBytes = 8 << 20
        public static let apiPathBytes = 1_024
        public static let stepUpWindowMs: Int64 = 300_000
        /// When to ask again after the one slot was found busy.
        public static let busyRetries: [Duration] = [.milliseconds(250), .milliseconds(500), .seconds(1)]
    }

    /// How history is cut into tiles (FTW wire §6.10).
    public enum Resolution: String, Sendable, CaseIterable {
        case fiveMinutes = "5m"
        case hour = "1h"

        public var stepMs: Int64 { self == .hour ? 3_600_000 : 300_000 }
        public var tileSpanMs: Int64 { self == .hour ? 604_800_000 : 43_200_000 }
        public var pointsPerTile: Int { self == .hour ? 168 : 144 }
        public var retentionDays: Int { self == .hour ? 730 : 30 }
    }

    /// Commands (FTW wire §7).
    public enum Command {
        /// How far beyond the box's uptime a command stays valid.
        public static let validityMs: Int64 = 120_000
        public static let sendingShown: Duration = .milliseconds(1_200)
        /// With neither ack nor result: not delivered.
        public static let ackDeadline: Duration = .seconds(5)
        /// After sending, acknowledged but without result: unconfirmed.
        public static let resultDeadline: Duration = .seconds(15)
        public static let leaseMs: Int64 = 900_000
        public static let memoryMs: Int64 = 86_400_000
        public static let maxHoldSeconds: Int64 = 1_800
        public static let boostSeconds: ClosedRange<Int64> = 60...14_400
        public static let boostBatterySoCPercent: ClosedRange<Double> = 5...100
        /// How near a state of charge read back is to one that was set.
        public static let socTolerance = 0.0005
    }

    /// Pairing codes (FTW wire §9.2).
    public enum Pairing {
        public static let scannedCodeLifetime: Duration = .seconds(600)
        public static let spokenCodeLifetime: Duration = .seconds(300)
        /// Wrong codes that burn the live one.
        public static let maxAttempts = 5
    }
}
