import Ambient
import BoxLink
public import BoxSession
public import Bridge
import EnergyModel
import JSONText
public import MQTTClient
import MQTTTypes
import Persistence

/// The parts were made to fit: these only say so.
extension MQTTClient: BrokerPort {}
extension BoxSession: BoxPort {}

/// A site without a pairing that can be used: one state, and it stays.
struct UnpairedBox: BoxPort {
    let states: AsyncStream<SiteState>

    init(reason: Link.Reason? = nil, time: any TimeSource) {
        let (states, continuation) = AsyncStream.makeStream(of: SiteState.self)
        continuation.yield(SiteState(link: Link(state: .unpaired, since: time.wall, reason: reason)))
        self.states = states
        // Kept open: a stream that ends means that the conversation is over for good.
        self.continuation = continuation
    }

    private let continuation: AsyncStream<SiteState>.Continuation

    /// There is no box to take it to.
    func perform(_ order: BoxOrder) async -> AsyncStream<BoxProgress> {
        let (progress, input) = AsyncStream.makeStream(of: BoxProgress.self)
        input.yield(.ended(.neverArrived))
        input.finish()
        return progress
    }

    func readBack(_ order: BoxOrder) async -> BoxReadBack { .unknown }
    func someoneLooks() async {}
}

/// The memory of bridge and session on disk, under names of their own.
struct DiskMemory: BridgeMemory, SessionMemory {
    let file: StateFile

    func load(_ name: String) -> JSONValue? { file.load(name) }
    func save(_ name: String, _ value: JSONValue) -> Bool { file.save(name, value) }
}
