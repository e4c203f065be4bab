import Bridge
import JSONText
import Synchronization

/// What the demo's bridge remembers: nothing of it outlives the process.
final class DemoMemory: BridgeMemory {
    private let values = Mutex<[String: JSONValue]>([:])

    func load(_ name: String) -> JSONValue? { values.withLock { $0[name] } }
    func save(_ name: String, _ value: JSONValue) { values.withLock { $0[name] = value } }
}
