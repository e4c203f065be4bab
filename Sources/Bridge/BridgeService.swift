public import Ambient
import EnergyModel
import JSONText
public import MQTTTypes

/// One site's bridge at work: the loop between its box, the broker and the clock.
///
/// Everything that has an order to it is in the machine; this actor feeds it
/// and carries out what it says, one event at a time.
public actor BridgeService {
    private let settings: BridgeSettings
    private let box: any BoxPort
    private let broker: any BrokerPort
    private let memory: any BridgeMemory
    private let hooks: BridgeHooks
    private let ambient: Ambient
    private var machine: BridgeMachine
    /// Ends with `run()`, which cancels it.
    private var alarm: Task<Void, Never>?
    private var alarmAt: Duration?
    private var chores: AsyncStream<Chore>.Continuation?

    /// What takes time and must not hold up the loop.
    private enum Chore: Sendable {
        case subscribe(attempt: Int, filters: [String])
        case askHealth
        case someoneLooks
        case reload(Request)
        case perform(BoxOrder)
        case readBack(BoxOrder)
    }

    /// - Parameters:
    ///   - box: The box; its states are consumed here.
    ///   - broker: The broker; its events are consumed here. Its will must be ``BridgeSettings/will``.
    ///   - memory: What is remembered from run to run, for this site alone.
    ///   - hooks: What the process around does for the bridge.
    public init(
        settings: BridgeSettings, box: any BoxPort, broker: any BrokerPort, memory: any BridgeMemory,
        hooks: BridgeHooks = BridgeHooks(), ambient: Ambient
    ) {
        self.settings = settings
        self.box = box
        self.broker = broker
        self.memory = memory
        self.hooks = hooks
        self.ambient = ambient
        machine = BridgeMachine(
            settings: settings, run: BridgeRun(started: ambient.time.wall, chance: ambient.chance()),
            memory: memory.load, canReload: hooks.reload != nil, chance: ambient.chance)
    }

    /// What the broker must say for us when we die; goes into the broker client's settings.
    public static func will(for settings: BridgeSettings) -> Will { settings.will }

    /// Works until cancelled, or until the broker's events end. To be called once.
    public func run() async {
        // Work that waits for others: a subscription per connection, a health
        // report per minute, a reload per request, an order per loadpoint. More than this is not asked for in time.
        let (work, chores) = AsyncStream.makeStream(of: Chore.self, bufferingPolicy: .bufferingNewest(256))
        self.chores = chores
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await state in self.box.states { await self.feed(.site(state)) } }
            group.addTask {
                await withDiscardingTaskGroup { group in
                    for await chore in work { group.addTask { await self.perform(chore) } }
                }
            }
            for await event in broker.events {
                switch event {
                case .connected(let session):
                    feed(.connected(session))
                    chores.yield(.someoneLooks)
                case .disconnected(let loss): feed(.disconnected(loss))
                case .message(let message): feed(.message(message), more: broker.hasMoreEvents)
                }
            }
            chores.finish()
            group.cancelAll()
        }
        self.chores = nil
        alarm?.cancel()
        alarm = nil
        alarmAt = nil
    }

    /// Says goodbye: nothing that stays on the broker looks live, and the bridge
    /// is `offline`. Returns when the broker has it, or after two seconds.
    public func goodbye() async {
        feed(.goodbye)
        await broker.drain(limit: .seconds(2))
    }

    /// Returns as soon as the loop is free; for a watchdog.
    public func answer() {}

    /// One event through the machine, and what comes of it.
    private func feed(_ event: BridgeMachine.Event, more: Bool = false) {
        var isLedgerSaved = true
        var unsaved: [String] = []
        for action in machine.handle(event, now: Moment(ambient.time), more: more) {
            switch action {
            case .publish(let message): broker.publish(message)
            case .save(BridgeMachine.commandsName, let ledger):
                isLedgerSaved = memory.save(BridgeMachine.commandsName, ledger)
            case .save(let name, let value): memory.save(name, value)
            case .log(let level, let line): ambient.log(level, "\(settings.siteID): \(line)")
            case .subscribe(let attempt, let filters):
                chores?.yield(.subscribe(attempt: attempt, filters: filters))
            case .askHealth: chores?.yield(.askHealth)
            case .someoneLooks: chores?.yield(.someoneLooks)
            case .reload(let request): chores?.yield(.reload(request))
            // What the disk does not know of would be done again after a restart.
            case .perform(let order) where !isLedgerSaved: unsaved.append(order.id)
            case .perform(let order): chores?.yield(.perform(order))
            case .readBack(let order): chores?.yield(.readBack(order))
            }
        }
        for id in unsaved { feed(.notSaved(id)) }
        arm()
    }

    private func perform(_ chore: Chore) async {
        switch chore {
        case .subscribe(let attempt, let filters):
            feed(.subscribed(attempt: attempt, granted: await broker.subscribe(filters)))
        case .askHealth: feed(.health(await hooks.health()))
        case .someoneLooks: await box.someoneLooks()
        case .reload(let request):
            guard let reload = hooks.reload else { return }
            feed(.reloaded(request, await reload()))
        case .perform(let order): await follow(order)
        case .readBack(let order): feed(.wasRead(order.id, await box.readBack(order)))
        }
    }

    /// An order from the box's hands to its end, which the machine hears of in any case.
    private func follow(_ order: BoxOrder) async {
        var hasEnded = false
        for await progress in await box.perform(order) {
            if progress != .acknowledged { hasEnded = true }
            feed(.progress(order.id, progress))
        }
        if !hasEnded { feed(.progress(order.id, .linkBroke(acknowledged: false))) }
    }

    /// Sets the alarm for the machine's next deadline. One that rings too early
    /// costs nothing, so it is only replaced by an earlier one.
    private func arm() {
        guard chores != nil, let deadline = machine.nextDeadline else { return }
        if let alarmAt, alarmAt <= deadline { return }
        alarm?.cancel()
        alarmAt = deadline
        let time = ambient.time
        alarm = Task { [weak self] in
            guard (try? await time.sleep(until: deadline)) != nil else { return }
            await self?.rang(deadline)
        }
    }

    private func rang(_ deadline: Duration) {
        guard alarmAt == deadline else { return }
        alarm = nil
        alarmAt = nil
        feed(.timerFired)
    }
}
