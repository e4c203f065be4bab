import Ambient
import BoxLink
import Bridge
import Configuration
import FoundationEssentials
import Glibc
import JSONText
import MQTTTypes

/// `ftw-mqtt send`: one command to the running bridge, followed to its end.
struct SendVerb {
    let options: SendOptions
    let environment: [String: String]

    /// The bridge ends every command within its clocks; longer than this it is not there.
    private static let patience = Duration.seconds(120)
    /// A running bridge says within that time that it has the command.
    private static let firstWord = Duration.seconds(10)

    func run() async -> ExitCode {
        let around = Surroundings(
            environment: environment, logLevel: options.common.logLevel ?? "error",
            plain: options.common.plain)
        guard let settings = around.settings(options.common) else { return .configuration }
        guard let site = around.site(options.site, of: settings) else { return .usage }
        let assembly = SiteAssembly(
            settings: settings, site: site, loop: WebSocketLoop(), ambient: around.ambient)
        let order = SentCommand(
            options: options, root: assembly.root, id: options.id ?? UUID().uuidString,
            now: around.ambient.time.wall)
        let terminal = Terminal.of(STDOUT_FILENO, environment: environment, plain: options.common.plain)
        let end = await Visit(assembly).follow(
            order.message, answers: order.answers, firstWord: Self.firstWord, patience: Self.patience
        ) { message in
            guard let stage = order.stage(message) else { return nil }
            print(stage.line(terminal))
            return stage.isFinal
        }
        switch end {
        case .ended(let last): return order.stage(last)?.exitCode ?? .failed
        case .unreached:
            around.complain(assembly.brokerIsAway)
            return .unreachable
        case .silent(let heard):
            around.complain(
                heard
                    ? "the bridge took the command and did not say how it ended"
                    : "no answer on \(order.answers); is the bridge for \(site.id) running?")
            return heard ? .unconfirmed : .unreachable
        }
    }
}

/// The message that carries the command, and the answers to it. Pure.
struct SentCommand {
    let message: Message
    /// The topic on which the stages come.
    let answers: String
    let id: String

    init(options: SendOptions, root: String, id: String, now: Date) {
        self.id = id
        answers = "\(root)/result"
        var members: [String: JSONValue] = ["id": .string(id), "from": "ftw-mqtt send"]
        // An object is options as typed; everything else is a value as a person types it.
        if case .object(let typed)? = try? JSONValue(parsing: options.value) {
            members.merge(typed) { _, new in new }
            members["id"] = .string(id)
        } else {
            members["value"] = .string(options.value)
        }
        if let seconds = options.expiresS { members["expires_s"] = .int(Int64(seconds)) }
        let place: String =
            switch (options.loadpoint, options.command) {
            case (let loadpoint?, "adjust"): "car/\(loadpoint)/level/adjust"
            case (let loadpoint?, let command): "car/\(loadpoint)/\(command)/set"
            case (nil, let command): "\(command)/set"
            }
        message = Message(
            "\(root)/\(place)", JSONValue.object(members).bytes,
            expirySeconds: UInt32(clamping: options.expiresS ?? 30))
    }

    /// One stage of this command; `nil` for everything else.
    func stage(_ message: Message) -> Stage? {
        guard message.topic == answers, let said = try? JSONValue(parsing: message.payload),
            said["id"]?.stringValue == id, let stage = said["stage"]?.stringValue
        else { return nil }
        return Stage(
            stage: stage, isFinal: said["final"]?.boolValue ?? false, code: said["code"]?.stringValue,
            text: said["text"]?.stringValue ?? "", value: said["value"] ?? .null)
    }

    struct Stage: Equatable {
        var stage: String
        var isFinal: Bool
        var code: String?
        var text: String
        var value: JSONValue

        func line(_ terminal: Terminal) -> String {
            var words = [terminal.styled(stage, isFinal ? (stage == "done" ? .green : .red) : .bold)]
            if let code { words.append("(\(code))") }
            words.append(text)
            if !value.isNull { words.append("[\(value.stringValue ?? value.text)]") }
            return words.joined(separator: " ")
        }

        var exitCode: ExitCode {
            switch stage {
            case "done": .done
            case "unconfirmed": .unconfirmed
            case "not_delivered": .unreachable
            default: .refused
            }
        }
    }
}
