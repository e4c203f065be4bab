import FoundationEssentials
import JSONText

/// What `bridge/health` says: the counters of the other parts and our own.
struct BridgeHealth: Sendable, Equatable {
    /// The last thing that went wrong: a stable token and a sentence.
    struct Fault: Sendable, Equatable {
        var code: String
        var sentence: String
        var at: Date
    }
    var since: Date = .distantPast
    var facts = HealthFacts()
    /// Requests by final stage.
    var commands: [String: Int] = [:]
    var refusedFilters: [String] = []
    var lastFault: Fault?
}

extension SiteDocuments {
    func health(_ health: BridgeHealth, at: Date) -> Document {
        let facts = health.facts
        let fault: JSONValue =
            health.lastFault.map { fault in
                [
                    "code": .string(fault.code), "sentence": .string(fault.sentence),
                    "at": time(fault.at),
                ]
            } ?? nil
        return [
            "since": time(health.since), "memory_bytes": whole(facts.memoryBytes),
            "queue_high_water": whole(facts.queueHighWater),
            "broker_reconnects": whole(facts.brokerReconnects),
            "box_reconnects": whole(facts.boxReconnects), "frames": whole(facts.frames),
            "frames_rejected": whole(facts.framesRejected), "publishes": whole(facts.publishes),
            "dropped": whole(facts.dropped), "oversize": whole(facts.oversize),
            "requests": counts(facts.requests), "commands": counts(health.commands),
            "refused_filters": .array(health.refusedFilters.map(JSONValue.string)),
            "last_error": fault, "at": time(at),
        ]
    }

    private func counts(_ counts: [String: Int]) -> JSONValue {
        .object(counts.mapValues { .int(Int64($0)) })
    }
}
