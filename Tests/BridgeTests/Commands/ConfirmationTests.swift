import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

/// Between a command and its confirmation nothing old is told as new.
@Suite struct ConfirmationTests {
    @Test func theControlChangesOnceHoweverMuchGoesOnMeanwhile() {
        var bench = Bench()
        bench.see(houseWithCars())
        bench.connect()
        bench.pass(.seconds(10))
        var sent = bench.feed(
            .message(Message("ftw/home/car/garage/control/set", #"{"id":"k","value":"charge_now"}"#)))
        sent += bench.pass(.milliseconds(300))
        sent += bench.feed(.progress("k", .acknowledged))
        for second in 1...4 {
            sent += bench.see(
                houseWithCars().changed { house in
                    house.power?.gridW = Double(second * 1_000)
                    house.power?.carW = Double(second * 500)
                    house.cars?[0].readAt = bench.wall
                    house.cars?[0].loadpoint.powerW = Double(second * 500)
                })
            sent += bench.pass(.seconds(1))
        }
        #expect(sent.to("power").count >= 3)
        for path in ["car/garage/control", "car/garage/hold"] { #expect(sent.to(path).isEmpty, "\(path)") }
        sent = bench.feed(.progress("k", .ended(.applied(.number(11_000)))))
        // The confirmation alone is no state: the box's own word is.
        #expect(sent.to("car/garage/control").isEmpty)
        sent += bench.see(
            houseWithCars().changed { house in
                house.cars?[0].readAt = bench.wall
                house.cars?[0].loadpoint.manualActive = true
                house.cars?[0].loadpoint.manualW = 11_000
            })
        sent += bench.pass(.seconds(10))
        #expect(sent.to("car/garage/control").map(\.text) == ["charge_now"])
        #expect(sent.documents("car/garage/hold").allSatisfy { $0["kind"] == "charge_now" })
    }

    /// A renewal in between says what is confirmed.
    @Test func whatIsSaidAgainMeanwhileIsWhatTheBoxHolds() {
        var bench = Bench()
        bench.see(houseWithCars())
        bench.connect()
        bench.feed(.message(Message("ftw/home/car/garage/control/set", #"{"id":"k","value":"charge_now"}"#)))
        bench.feed(.progress("k", .acknowledged))
        let sent = bench.feed(.message(Message("ftw/home/bridge/request/republish", "")))
        #expect(sent.to("car/garage/control").map(\.text) == ["plan"])
        bench.feed(.progress("k", .ended(.refused(.init(kind: .dispatchBlocked)))))
        bench.pass(.seconds(5))
        #expect(bench.text("car/garage/control") == "plan")
    }
}
