import Ambient
import FoundationEssentials
import Glibc
import MQTTClient
import MQTTTypes

/// Watches the broker as anybody could, and prints what changes.
struct Onlooker: Sendable {
    let client: MQTTClient
    let base: String
    let plain: Bool
    let environment: [String: String]
    let time: any TimeSource

    /// Watches until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await client.run() }
            let terminal = Terminal.of(STDOUT_FILENO, environment: environment, plain: plain)
            var printer = TopicPrinter(
                base: base, width: terminal.isTerminal ? terminal.width : 0, zone: .current)
            for await event in client.events {
                switch event {
                case .connected: _ = await client.subscribe(["\(base)/#"])
                case .disconnected: break
                case .message(let message):
                    if let line = printer.line(for: message, wall: time.wall, monotonic: time.monotonic) {
                        print(line)
                    }
                }
            }
            group.cancelAll()
        }
    }
}
