import MQTTTypes

/// How many bytes a message takes on the wire, before it is sent.
///
/// A broker closes the connection over a packet that is larger than it said it
/// takes (MQTT 5.0 §3.2.2.3.6), and it would again after each reconnect.
enum PacketSize {
    /// | part | bytes |
    /// |---|---|
    /// | type and flags | 1 |
    /// | remaining length | 1 to 4 |
    /// | topic | 2 + length |
    /// | packet id | 2, QoS 1 only |
    /// | property length and properties | MQTT 5 only |
    /// | payload | length |
    static func publish(_ message: Message, version: BrokerSession.Version) -> Int {
        var rest = 2 + message.topic.utf8.count + message.payload.count
        if message.qos != .atMostOnce { rest += 2 }
        if version == .v5 {
            let properties = propertyBytes(message)
            rest += lengthBytes(properties) + properties
        }
        return 1 + lengthBytes(rest) + rest
    }

    private static func propertyBytes(_ message: Message) -> Int {
        var bytes = 0
        if message.expirySeconds != nil { bytes += 5 }
        if let topic = message.responseTopic { bytes += 3 + topic.utf8.count }
        if let data = message.correlationData { bytes += 3 + data.count }
        return bytes
    }

    /// A variable byte integer (MQTT 5.0 §1.5.5).
    private static func lengthBytes(_ value: Int) -> Int {
        switch value {
        case ..<128: 1
        case ..<16_384: 2
        case ..<2_097_152: 3
        default: 4
        }
    }
}
