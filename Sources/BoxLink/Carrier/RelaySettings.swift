/// Everything a carrier over the relay needs to know.
public struct RelaySettings: Sendable {
    /// Which end of the room we are: `app` for a client, `box` for a simulated box.
    public typealias End = Rendezvous.End

    public var url: WebSocketURL
    /// A PEM file whose authorities are trusted instead of the system's; for a private relay.
    public var caFile: String?
    /// The rendezvous secret from the pairing link, at least 16 bytes.
    public var secret: SecretBytes
    public var end: End
    public var numbers: Numbers

    public init(
        url: WebSocketURL = .production, caFile: String? = nil, secret: SecretBytes, end: End = .app,
        numbers: Numbers? = nil
    ) {
        self.url = url
        self.caFile = caFile
        self.secret = secret
        self.end = end
        self.numbers = numbers ?? Numbers(end: end)
    }

    /// The numbers of FTW wire §10 that a carrier lives by.
    public struct Numbers: Sendable, Equatable {
        /// How long an attempt may take, name lookup and TLS included.
        public var dialTimeout = Contract.Relay.dialTimeout
        /// A socket on which nothing was heard for so long is dead.
        public var deadSocket = Contract.Relay.deadSocket
        /// After so much silence, and then again, we ping. The relay's own pings
        /// are answered below us and not reported, so that our own are what
        /// shows an empty room to be alive.
        public var pingAfter = Contract.Relay.heartbeat
        public var backoffBase = Contract.Relay.backoffBase
        public var backoffCap = Contract.Relay.backoffCap
        /// From here on the wait no longer doubles.
        public var backoffExponentCap = Contract.Relay.backoffExponentCap
        /// After 4410 a random part of this passes before the next dial.
        public var rejoinJitter: Duration
        /// How many corrections of the epoch in a row are followed by a dial at once.
        public var immediateRedials = Contract.Relay.immediateRedials
        /// A dial younger than this is left alone by `redial()` (FTW wire §1.8).
        public var minDialAge = Duration.seconds(1)

        public init(end: End = .app) {
            rejoinJitter =
                end == .app ? Contract.Relay.clientRejoinJitter : Contract.Relay.boxRejoinJitter
        }
    }
}
