public import EnergyModel
public import JSONText
public import MQTTTypes

/// The box, as the bridge sees it: the site's newest state, and nothing of the wire.
public protocol BoxPort: Sendable {
    /// The site as it stands; only the newest undelivered value is kept. Ends when
    /// the box's conversation ends for good. For one consumer.
    var states: AsyncStream<SiteState> { get }
    /// Hands an order to the box. The stream ends with exactly one element that is
    /// not `acknowledged`.
    func perform(_ order: BoxOrder) async -> AsyncStream<BoxProgress>
    /// Reads the box: does it hold what the order asked for?
    func readBack(_ order: BoxOrder) async -> BoxReadBack
    /// Somebody starts looking: a broker that is back, a home automation that
    /// started. What is past its time to live is read again.
    func someoneLooks() async
}

/// The broker, as the bridge sees it.
public protocol BrokerPort: Sendable {
    /// Every event in order, for one consumer.
    var events: AsyncStream<BrokerEvent> { get }
    /// Whether the next event can be had without waiting.
    var hasMoreEvents: Bool { get }
    /// Subscribes to all filters in as few packets as possible.
    ///
    /// - Returns: For each filter, in order, whether the broker granted it.
    func subscribe(_ filters: [String]) async -> [Bool]
    /// Hands a message over and never waits. While the broker is away messages are
    /// dropped: after `connected` the bridge publishes everything again. While it is
    /// slow only the newest message of each retained topic is kept.
    func publish(_ message: Message)
    /// Returns when everything handed over so far was given to the broker, or
    /// after `limit`.
    func drain(limit: Duration) async
}

extension BrokerPort {
    /// A broker that cannot say is taken one event at a time.
    public var hasMoreEvents: Bool { false }
}

/// What the bridge remembers from run to run, one memory per site.
///
/// Values are small and are saved seldom: when what is announced changes, and
/// the last known picture every few minutes.
public protocol BridgeMemory: Sendable {
    /// What was saved under that name; `nil` if nothing usable was.
    func load(_ name: String) -> JSONValue?
    /// Replaces what is saved under that name. Must not block for long; a failure
    /// is the implementation's to report.
    ///
    /// - Returns: Whether it would outlive the process.
    @discardableResult func save(_ name: String, _ value: JSONValue) -> Bool
}

/// Counters of the parts around the bridge, for `bridge/health`. `nil` is not known.
public struct HealthFacts: Sendable, Equatable {
    /// Resident memory of the process, in bytes.
    public var memoryBytes: Int?
    /// The most messages that waited for the broker at one time.
    public var queueHighWater: Int?
    /// Connections to the broker after the first.
    public var brokerReconnects: Int?
    /// Sessions with the box after the first.
    public var boxReconnects: Int?
    /// Frames of the box that were opened.
    public var frames: Int?
    /// Messages from the box's room that were meant for us and could not be used.
    public var framesRejected: Int?
    /// Messages handed to the broker.
    public var publishes: Int?
    /// Messages given up unsent: too many waited, or the connection ended. One that a newer one of
    /// its topic replaced is none.
    public var dropped: Int?
    /// Requests to the box's HTTP interface by route.
    public var requests: [String: Int]
    /// Messages that were larger than the broker takes.
    public var oversize: Int?

    public init(
        memoryBytes: Int? = nil, queueHighWater: Int? = nil, brokerReconnects: Int? = nil,
        boxReconnects: Int? = nil, frames: Int? = nil, framesRejected: Int? = nil, publishes: Int? = nil,
        dropped: Int? = nil, requests: [String: Int] = [:], oversize: Int? = nil
    ) {
        self.memoryBytes = memoryBytes
        self.queueHighWater = queueHighWater
        self.brokerReconnects = brokerReconnects
        self.boxReconnects = boxReconnects
        self.frames = frames
        self.framesRejected = framesRejected
        self.publishes = publishes
        self.dropped = dropped
        self.requests = requests
        self.oversize = oversize
    }
}

/// What the process around the bridge does for it.
public struct BridgeHooks: Sendable {
    /// Gives the counters of the other parts; asked about once a minute.
    public var health: @Sendable () async -> HealthFacts
    /// Reads the configuration again; answers with one sentence about what
    /// happened, for whoever asked. `nil`: this process cannot.
    public var reload: (@Sendable () async -> String)?

    public init(
        health: @escaping @Sendable () async -> HealthFacts = { HealthFacts() },
        reload: (@Sendable () async -> String)? = nil
    ) {
        self.health = health
        self.reload = reload
    }
}
