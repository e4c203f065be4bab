import EnergyModel
import JSONText
import MQTTTypes

/// What somebody asked for on one of our topics, as far as it could be read.
struct Request: Sendable, Equatable {
    /// The asker's own, or one of ours when it brought none.
    var id: String
    /// Who asks, if the message says it in a way that can be shown.
    var from: String?
    /// The full topic it came in on.
    var topic: String
    /// What was asked for, shortened; null when it is no text.
    var requested: JSONValue
    /// Where else the answer is wanted (MQTT 5.0 §4.10.1), and the bytes to bring along.
    var responseTopic: String?
    var correlationData: [UInt8]?

    /// Why it is none; `nil` when it could be read.
    var problem: CommandProblem?

    /// - Parameter ownID: Used when the payload brings no id that can be used.
    init(_ message: Message, ownID: String) {
        topic = message.topic
        responseTopic = message.responseTopic
        correlationData = message.correlationData
        var envelope = CommandParser.Envelope()
        do throws(CommandProblem) { try envelope.read(message) } catch { problem = error }
        id = envelope.id ?? ownID
        from = envelope.from
        requested = envelope.requested
    }
}

/// One stage of a request, as `result` tells it.
struct RequestResult: Sendable, Equatable {
    enum Stage: String, Sendable { case received, done, refused }
    var stage: Stage
    var code: CommandCode?
    var text: String
    var value: String?

    var isFinal: Bool { stage != .received }

    static func refused(_ code: CommandCode, _ text: String) -> RequestResult {
        RequestResult(stage: .refused, code: code, text: text)
    }
}

extension SiteDocuments {
    func result(_ result: RequestResult, of request: Request, at: JSONValue) -> Document {
        [
            "id": .string(request.id), "from": text(request.from), "topic": .string(request.topic),
            "stage": .string(result.stage.rawValue), "final": .bool(result.isFinal),
            "code": text(result.code?.rawValue), "box_code": nil, "text": .string(result.text),
            "requested": request.requested, "value": text(result.value), "at": at,
            // Such a request is carried out each time, so each answer is its first.
            "repeated": false,
        ]
    }
}
