import Ambient
import FoundationEssentials
import Glibc
import MQTTClient
import MQTTTypes

/// A short stay at the broker, beside the bridge's own connection.
struct Visit: Sendable {
    private let client: MQTTClient
    private let time: any TimeSource

    init(_ assembly: SiteAssembly) {
        client = assembly.broker(will: nil, clientID: "ftw-mqtt-visit-\(getpid())")
        time = assembly.ambient.time
    }

    /// Publishes everything and waits until the broker has it.
    ///
    /// - Returns: False when the broker was not reached in time.
    func publish(_ messages: [Message], within limit: Duration) async -> Bool {
        await connected(within: limit) { client in
            for message in messages { client.publish(message) }
            await client.drain(limit: limit)
            return true
        } ?? false
    }

    /// Everything that is retained under the filters.
    ///
    /// - Returns: `nil` when the broker was not reached in time.
    func retained(_ filters: [String], quiet: Duration = .milliseconds(700), within limit: Duration) async
        -> [String: Message]?
    {
        await connected(within: limit) { client in
            guard await client.subscribe(filters).contains(true) else { return [:] }
            let shelf = Shelf()
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await event in client.events {
                        if case .message(let message) = event, message.retained { await shelf.put(message) }
                    }
                }
                var seen = -1
                while await shelf.count != seen {
                    seen = await shelf.count
                    try? await time.sleep(for: quiet)
                }
                group.cancelAll()
            }
            return await shelf.messages
        }
    }

    enum Following: Sendable {
        /// The message after which nothing follows.
        case ended(Message)
        /// The broker was not reached.
        case unreached
        /// Nothing final came in time; whether anything did.
        case silent(heard: Bool)
    }

    /// Publishes one message and follows what comes on a topic.
    ///
    /// - Parameters:
    ///   - firstWord: How long to wait for any answer.
    ///   - patience: How long to wait for the last one.
    ///   - isLast: Called with each message there; true ends it, `nil` is none of ours.
    func follow(
        _ question: Message, answers: String, firstWord: Duration, patience: Duration,
        isLast: @escaping @Sendable (Message) -> Bool?
    ) async -> Following {
        let ear = Ear()
        let end = await connected(within: patience) { client -> Following in
            await ear.reached()
            // Listening first: the first answer may come before the publish returns.
            guard await client.subscribe([answers]).contains(true) else { return .silent(heard: false) }
            client.publish(question)
            return await withTaskGroup(of: Following?.self) { group in
                group.addTask {
                    for await event in client.events {
                        guard case .message(let message) = event, message.topic == answers else { continue }
                        guard let isEnd = isLast(message) else { continue }
                        await ear.heard()
                        if isEnd { return .ended(message) }
                    }
                    return nil
                }
                group.addTask {
                    try? await time.sleep(for: firstWord)
                    return await ear.hasHeard ? nil : .silent(heard: false)
                }
                for await end in group {
                    guard let end else { continue }
                    group.cancelAll()
                    return end
                }
                return .silent(heard: await ear.hasHeard)
            }
        }
        if let end { return end }
        return await ear.wasReached ? .silent(heard: await ear.hasHeard) : .unreached
    }

    private actor Ear {
        var hasHeard = false
        var wasReached = false
        func heard() { hasHeard = true }
        func reached() { wasReached = true }
    }

    /// How the broker answers: `nil` for connected, else why not.
    func reach(within limit: Duration) async -> (session: BrokerSession?, loss: BrokerLoss?) {
        await withTaskGroup(of: (BrokerSession?, BrokerLoss?)?.self) { group in
            group.addTask {
                await client.run()
                return nil
            }
            group.addTask {
                for await event in client.events {
                    switch event {
                    case .connected(let session): return (session, nil)
                    case .disconnected(let loss): return (nil, loss)
                    case .message: break
                    }
                }
                return nil
            }
            group.addTask {
                try? await time.sleep(for: limit)
                return (nil, nil)
            }
            defer { group.cancelAll() }
            for await answer in group {
                if let answer { return answer }
            }
            return (nil, nil)
        }
    }

    private func connected<Result: Sendable>(
        within limit: Duration, _ body: @escaping @Sendable (MQTTClient) async -> Result
    ) async -> Result? {
        await withTaskGroup(of: Result?.self) { group in
            let runner = Task { await client.run() }
            group.addTask {
                for await event in client.events {
                    switch event {
                    case .connected: return await body(client)
                    // Somebody waits at the terminal: what the first attempt says holds.
                    case .disconnected: return nil
                    case .message: break
                    }
                }
                return nil
            }
            group.addTask {
                try? await time.sleep(for: limit)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            runner.cancel()
            await runner.value
            return first
        }
    }

    private actor Shelf {
        var messages: [String: Message] = [:]
        var count: Int { messages.count }
        func put(_ message: Message) { messages[message.topic] = message.payload.isEmpty ? nil : message }
    }
}
