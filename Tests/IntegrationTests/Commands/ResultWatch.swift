import Ambient
import FoundationEssentials
import JSONText
import MQTTClient
import MQTTTypes
import Synchronization

/// Listens to one house on the broker and remembers every stage of every command,
/// as an automation would hear them.
final class ResultWatch: Sendable {
    /// What was heard so far.
    struct Heard: Sendable {
        /// By command id, in their order.
        var results: [String: [JSONValue]] = [:]
        /// The last document below `…/last_command`, by topic.
        var lastCommands: [String: JSONValue] = [:]
        /// How often the broker let us in.
        var connections = 0
        /// How often the box was said to be there, and not by a retained message.
        var births = 0
        /// The box is there, as this connection to the broker heard it.
        var isBoxThere = false
        /// How often each car was said to be read and current.
        var carBirths: [String: Int] = [:]

        func ends(_ id: String) -> [JSONValue] {
            (results[id] ?? []).filter { ResultWatch.isEnd($0["stage"]?.stringValue) }
        }
        func has(_ id: String, _ stage: String) -> Bool {
            results[id]?.contains { $0["stage"]?.stringValue == stage } ?? false
        }
    }
    private struct State {
        var heard = Heard()
        var waiters: [Int: (isSo: @Sendable (Heard) -> Bool, wake: CheckedContinuation<Bool, Never>)] = [:]
        var serial = 0
    }
    let base: String
    let lines = LogLines()
    private let client: MQTTClient
    private let state = Mutex(State())
    private let running: Task<Void, Never>
    private let reading: Mutex<Task<Void, Never>?>

    init(_ settings: MQTTSettings, base: String) {
        self.base = base
        // A broker that dies often looks like somebody else with our client id, unless we can tell.
        var settings = settings
        settings.claimTopic = "\(base)-watch"
        let client = MQTTClient(settings: settings, ambient: Ambient(log: lines.log, chance: { 0 }))
        self.client = client
        reading = Mutex(nil)
        // Both are ended by `close()`.
        running = Task { await client.run() }
        let task = Task { [self] in
            for await event in client.events {
                switch event {
                case .connected:
                    change { $0.isBoxThere = false }
                    _ = await client.subscribe(["\(base)/#"])
                    change { $0.connections += 1 }
                case .disconnected: break
                case .message(let message): note(message)
                }
            }
        }
        reading.withLock { $0 = task }
    }

    func close() async {
        running.cancel()
        await running.value
        await reading.withLock { $0.take() }?.value
    }

    static func isEnd(_ stage: String?) -> Bool {
        stage != nil && stage != "received" && stage != "accepted"
    }

    var heard: Heard { state.withLock { $0.heard } }

    func publish(_ path: String, _ document: JSONValue) {
        client.publish(Message("\(base)/\(path)", document.bytes, qos: .atLeastOnce))
    }

    /// - Returns: False when it was not so in time.
    func wait(
        within limit: Duration = .seconds(40), _ isSo: @escaping @Sendable (Heard) -> Bool
    ) async -> Bool {
        let ticket = state.withLock { state in
            state.serial += 1
            return state.serial
        }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { await self.wait(ticket, isSo) }
            group.addTask {
                try? await Task.sleep(for: limit)
                return false
            }
            let first = await group.next() ?? false
            group.cancelAll()
            state.withLock { $0.waiters.removeValue(forKey: ticket) }?.wake.resume(returning: false)
            return first
        }
    }

    private func wait(_ ticket: Int, _ isSo: @escaping @Sendable (Heard) -> Bool) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { wake in
                let isSoNow: Bool? = state.withLock { state in
                    if isSo(state.heard) { return true }
                    if Task.isCancelled { return false }
                    state.waiters[ticket] = (isSo, wake)
                    return nil
                }
                if let isSoNow { wake.resume(returning: isSoNow) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: ticket) }?.wake.resume(returning: false)
        }
    }

    private func note(_ message: Message) {
        guard let text = message.text else { return }
        let path = message.topic.dropFirst(base.count + 1)
        if path == "box/availability" {
            change { heard in
                heard.isBoxThere = text == "online"
                if text == "online", !message.retained { heard.births += 1 }
            }
        } else if path == "result", !message.retained, let result = try? JSONValue(parsing: text),
            let id = result["id"]?.stringValue
        {
            change { $0.results[id, default: []].append(result) }
        } else if path.hasSuffix("/state"), !message.retained, let state = try? JSONValue(parsing: text),
            state["live"]?.boolValue == true
        {
            change { $0.carBirths[String(path), default: 0] += 1 }
        } else if path.hasSuffix("/last_command"), let document = try? JSONValue(parsing: text) {
            change { $0.lastCommands[String(path)] = document }
        }
    }

    private func change(_ body: (inout Heard) -> Void) {
        let woken = state.withLock { state in
            body(&state.heard)
            let heard = state.heard
            let due = state.waiters.filter { $0.value.isSo(heard) }
            for ticket in due.keys { state.waiters[ticket] = nil }
            return due.values.map(\.wake)
        }
        for wake in woken { wake.resume(returning: true) }
    }
}
