import Ambient
import BoxSession
import Bridge
import EnergyModel
import MQTTClient

/// One household at work: its box, its broker connection, and the bridge between.
///
/// Each site has a broker connection of its own, because the will that says
/// "offline" belongs to a connection (MQTT 5.0 §3.1.2.5).
struct SiteRunner: Sendable {
    /// The conversation with the box, which also runs the carrier under it;
    /// `nil` for a site that is not paired.
    let session: BoxSession?
    let broker: MQTTClient
    let bridge: BridgeService
    let onNote: @Sendable (BoxSessionNote) async -> Void

    /// Works until the task is cancelled; then says goodbye to the broker and ends.
    func run() async {
        let parts = Task { await runParts() }
        await Cancellation.wait()
        // A new task, because this one is cancelled and its waits would not wait.
        await Task { await bridge.goodbye() }.value
        parts.cancel()
        await parts.value
    }

    private func runParts() async {
        await withTaskGroup(of: Void.self) { parts in
            if let session {
                parts.addTask { await session.run() }
                parts.addTask { for await note in session.notes { await onNote(note) } }
            }
            parts.addTask { await broker.run() }
            parts.addTask { await bridge.run() }
            await parts.waitForAll()
        }
    }
}

enum Cancellation {
    /// Returns when the task is cancelled, not before.
    static func wait() async {
        let (never, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        continuation.finish()
    }
}
