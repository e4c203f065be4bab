public import MQTTTypes

/// What a client has done since it was made, for the health topic.
public struct MQTTCounters: Sendable, Equatable {
    /// Connections the broker accepted; the first one counts.
    public var connects: UInt64 = 0
    /// Messages given to the library while connected.
    public var publishes: UInt64 = 0
    /// Messages given up because too many waited, or because the connection ended first.
    public var dropped: UInt64 = 0
    /// Messages published while there was no connection.
    public var droppedWhileAway: UInt64 = 0
    /// Retained messages that a newer one of the same topic replaced while they waited.
    public var replaced: UInt64 = 0
    /// Messages larger than the broker takes.
    public var oversize: UInt64 = 0
    /// Messages the broker or the library did not take: no right, bad topic.
    public var refused: UInt64 = 0
    /// Messages received.
    public var received: UInt64 = 0
    /// Messages received and given up: too large, or the reader was too slow.
    public var receivedDropped: UInt64 = 0
    /// Messages waiting now, and the most that ever did.
    public var queued = 0
    public var queueHighWater = 0
    /// The version of the connection that stands; `nil` without one.
    public var version: BrokerSession.Version?

    public init() {}
}
