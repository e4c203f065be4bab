// FTW wire §10. Times are in milliseconds where the name ends in `Ms`, as the
// wire counts them; what we wait for ourselves is a `Duration`.
extension Contract {
    /// The relay and how it is dialled (FTW wire §1).
    public enum Relay {
        public static let epochMs: Int64 = Rendezvous.epochMs
        /// The most hours a relay may correct us by, either way.
        public static let maxEpochOffset: UInt64 = 1
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
        public static let handshakeBackoffBase: Duration = .seconds(3)
        public static let handshakeBackoffCap: Duration = .seconds(60)
        public static let protoMin: Int64 = 0
        public static let protoMax: Int64 = 1
        /// The `hz` that means one beat in five seconds; any other means one a second.
        public static let slowHz = 0.2
        public static let beat: Duration = .seconds(1)
        public static let slowBeat: Duration = .seconds(5)
        public static let bootRetry: Duration = .seconds(5)
        /// A stream that brought nothing for so long is called quiet.
        public static let quiet: Duration = .seconds(3)
    }

    /// Questions and answers (FTW wire §6.8–6.10, §8).
    public enum Request {
        /// For a plan and for prices.
        public static let planTimeout: Duration = .seconds(8)
        /// Of silence; head and chunks start it again.
        public static let apiTimeout: Duration = .seconds(20)
        /// A box calls a plan that was made longer ago than this stale.
        public static let planTooOld: Duration = .seconds(1_800)
        /// The longest stretch that one answer about prices covers.
        public static let priceWindowMs: Int64 = 8 * 86_400_000
        /// How a box cuts a long answer.
        public static let apiChunkBytes = 12_288
        public static let apiMaxBytes = 8 << 20
        public static let apiPathBytes = 1_024
        /// How long a person's confirmation counts, in uptime.
        public static let stepUpWindowMs: Int64 = 300_000
        /// When to ask again after the one slot was found busy.
        public static let busyRetries: [Duration] = [.milliseconds(250), .milliseconds(500), .seconds(1)]
    }

    /// Commands (FTW wire §7).
    public enum Command {
        /// With neither ack nor result: not delivered.
        public static let ackDeadline: Duration = .seconds(5)
        /// After sending, acknowledged but without result: unconfirmed.
        public static let resultDeadline: Duration = .seconds(15)
        /// What a box's receipt promises, in uptime (FTW wire §7.3).
        public static let leaseMs: Int64 = 900_000
        public static let maxHoldSeconds: Int64 = 1_800
        public static let boostSeconds: ClosedRange<Int64> = 60...14_400
        /// How full the house battery stays at least, 0 to 1.
        public static let boostBatterySoC: ClosedRange<Double> = 0.05...1
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
