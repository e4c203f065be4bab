import BoxSimulator
import EnergyModel
import FoundationEssentials
import TestSupport
import Testing

@testable import BoxSession
@testable import BoxSimulator

/// Orders at the whole stack: what came of one, and what the box did.
extension HouseStage {
    func order(
        _ intent: Intent, loadpoint: String? = "garage", id: String = "o1", for seconds: Int = 30
    ) -> BoxOrder {
        BoxOrder(
            id: id, loadpoint: loadpoint, intent: intent, deadline: time.monotonic + .seconds(seconds))
    }

    /// Carries an order out while time passes in quarters of a second, to its end.
    ///
    /// - Parameter patience: How many turns others get before time passes.
    /// - Returns: Everything that was told.
    func carryOut(
        _ order: BoxOrder, within seconds: Int = 40, patience: Int = 400
    ) async -> [BoxProgress] {
        let stream = await session.perform(order)
        let told = Task { await stream.reduce(into: [BoxProgress]()) { $0.append($1) } }
        // Most answers need no time at all, however busy the machine is.
        var hasEnded = await eventually(turns: patience) { await self.session.orders.running == 0 }
        if !hasEnded { hasEnded = await passUntil(seconds) { await self.session.orders.running == 0 } }
        #expect(hasEnded, "the order has no end")
        if !hasEnded { told.cancel() }
        return await told.value
    }

    /// The end of an order that ends with an outcome.
    func outcome(_ intent: Intent, loadpoint: String? = "garage") async -> BoxOutcome? {
        let told = await carryOut(order(intent, loadpoint: loadpoint))
        let ends = told.filter { $0 != .acknowledged }
        #expect(ends.count == 1 && told.last != .acknowledged)
        guard case .ended(let outcome) = told.last else { return nil }
        return outcome
    }

    /// Lets time pass until something is true; what is ready happens first.
    func passUntil(_ seconds: Int, _ isTrue: () async -> Bool) async -> Bool {
        for _ in 0..<seconds * 4 {
            if await eventually(turns: 400, isTrue) { return true }
            time.advance(by: .milliseconds(250))
        }
        return await eventually(turns: 400, isTrue)
    }

    /// The commands that changed something at the box, in their order.
    var executed: [BoxLog.Command] {
        get async {
            await box.requestLog.commands.filter {
                ["applied", "superseded", "unsettled"].contains($0.outcome)
            }
        }
    }
}
