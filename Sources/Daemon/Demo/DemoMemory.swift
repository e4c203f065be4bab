import BoxSession
import Bridge
import JSONText
import Synchronization

/// What the demo's bridge and session remember: nothing of it outlives the process.
final class DemoMemory: BridgeMemory, SessionMemory {
    private let values = Mutex<[String: JSONValue]>([:])

    func load(_ name: String) -> JSONValue? { values.withLock { $0[name] } }
    func save(_ name: String, _ value: JSONValue) -> Bool {
        values.withLock { $0[name] = value }
        return true
    }
}
