public import EnergyModel
public import MQTTTypes

/// The box, as the bridge sees it: the site's newest state, and nothing of the wire.
public protocol BoxPort: Sendable {
    /// The site as it stands; only the newest undelivered value is kept. Ends when
    /// the box's conversation ends for good. For one consumer.
    var states: AsyncStream<SiteState> { get }
}

/// The broker, as the bridge sees it.
public protocol BrokerPort: Sendable {
    /// Every event in order, for one consumer.
    var events: AsyncStream<BrokerEvent> { get }
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
