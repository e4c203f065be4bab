import BoxLink
import Synchronization
import Testing

@testable import BoxSimulator

@Suite struct CableCarrierTests {
    @Test func aPulledCableIsALossAndEachTimeThereIsANewCarrier() async {
        let made = Mutex<[PlugCarrier]>([])
        let cable = CableCarrier {
            let carrier = PlugCarrier()
            made.withLock { $0.append(carrier) }
            return carrier
        }
        let running = Task { await cable.run() }
        var events = cable.events.makeAsyncIterator()
        #expect(await events.next() == .joined)
        cable.send([1])
        cable.plug(false)
        #expect(!cable.isPluggedIn)
        guard case .lost = await events.next() else {
            Issue.record("no loss")
            return
        }
        cable.send([2])
        cable.plug(true)
        #expect(await events.next() == .joined)
        cable.send([3])
        running.cancel()
        await running.value
        #expect(made.withLock { $0.map(\.messages) } == [[[1]], [[3]]])
    }
}

/// Says that it joined, and keeps what it is given.
private final class PlugCarrier: Carrier {
    let events: AsyncStream<CarrierEvent>
    private let input: AsyncStream<CarrierEvent>.Continuation
    private let sent = Mutex<[[UInt8]]>([])

    init() { (events, input) = AsyncStream.makeStream() }
    var messages: [[UInt8]] { sent.withLock { $0 } }
    func send(_ bytes: [UInt8]) { sent.withLock { $0.append(bytes) } }
    func redial() {}
    func pathProven() {}
    func run() async {
        input.yield(.joined)
        let (never, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        continuation.finish()
        input.finish()
    }
}
