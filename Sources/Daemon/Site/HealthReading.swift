import BoxSession
import Bridge
import FoundationEssentials
import Glibc
import MQTTClient

/// The numbers for the health topic, gathered when it is due.
enum HealthReading {
    static func take(session: BoxSession?, broker: MQTTClient) async -> HealthFacts {
        let mqtt = broker.counters()
        let box = await session?.counters()
        return HealthFacts(
            memoryBytes: residentBytes(), queueHighWater: mqtt.queueHighWater,
            brokerReconnects: Int(clamping: mqtt.connects > 0 ? mqtt.connects - 1 : 0),
            boxReconnects: box.map { Int(clamping: $0.reconnects) },
            frames: box.map { Int(clamping: $0.frames) },
            framesRejected: box.map { Int(clamping: $0.malformed) },
            publishes: Int(clamping: mqtt.publishes), dropped: Int(clamping: mqtt.dropped),
            requests: (box?.requests ?? [:]).mapValues { Int(clamping: $0) },
            oversize: Int(clamping: mqtt.oversize))
    }

    /// Memory in use as the system counts it (proc(5), statm); `nil` when it cannot be read.
    static func residentBytes() -> Int? {
        guard let text = try? Data(contentsOf: URL(filePath: "/proc/self/statm")) else { return nil }
        let fields = String(decoding: text, as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * Int(getpagesize())
    }
}
