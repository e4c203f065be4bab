import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Daemon

@Suite struct SentCommandTests {
    func sent(_ loadpoint: String?, _ command: String, _ value: String, expiresS: Int? = nil) -> SentCommand {
        SentCommand(
            options: SendOptions(loadpoint: loadpoint, command: command, value: value, expiresS: expiresS),
            root: "ftw/home", id: "x1", now: Date(timeIntervalSince1970: 0))
    }

    @Test func aValueTravelsAsTyped() {
        #expect(
            sent("garage", "level", "62 %").message
                == Message(
                    "ftw/home/car/garage/level/set", #"{"from":"ftw-mqtt send","id":"x1","value":"62 %"}"#,
                    expirySeconds: 30))
        #expect(sent("garage", "adjust", "+5").message.topic == "ftw/home/car/garage/level/adjust")
        #expect(sent(nil, "mode", "idle").message.topic == "ftw/home/mode/set")
    }

    @Test func anObjectTravelsWithItsOptions() {
        let message = sent("garage", "control", #"{"value":"charge_now","minutes":20}"#, expiresS: 5).message
        #expect(
            message.text
                == #"{"expires_s":5,"from":"ftw-mqtt send","id":"x1","minutes":20,"value":"charge_now"}"#)
        #expect(message.expirySeconds == 5)
    }

    @Test(arguments: [
        ("done", ExitCode.done), ("refused", .refused), ("expired", .refused), ("superseded", .refused),
        ("unconfirmed", .unconfirmed), ("not_delivered", .unreachable),
    ])
    func theExitCodeIsTheOutcome(stage: String, code: ExitCode) {
        let command = sent("garage", "level", "62")
        let said = Message(
            "ftw/home/result",
            #"{"id":"x1","stage":"\#(stage)","final":true,"code":null,"text":"T.","value":62}"#)
        #expect(command.stage(said)?.exitCode == code)
        #expect(command.stage(said)?.isFinal == true)
        #expect(command.stage(Message("ftw/home/result", #"{"id":"x2","stage":"done"}"#)) == nil)
        #expect(command.stage(Message("ftw/home/power", #"{"id":"x1","stage":"done"}"#)) == nil)
    }
}
