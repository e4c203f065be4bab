public import EnergyModel
public import FoundationEssentials
public import JSONText

/// What became of every command of the last day, kept on disk.
///
/// The box forgets command ids when a session ends (FTW wire §7.4), so the
/// promise that one id is carried out once is ours.
public struct CommandLedger: Sendable, Equatable {
    /// How long an id is remembered.
    public static let memory: TimeInterval = 24 * 3600
    /// The most ids that are remembered; the oldest finished ones go first.
    public static let capacity = 4096

    /// What one id has come to.
    public struct Entry: Sendable, Equatable {
        public enum Step: String, Sendable {
            /// Known, and certainly not sent.
            case waiting
            /// Handed to the session, so the box may have it.
            case sent
            /// Ended; `report` says how.
            case ended
        }
        public var step: Step
        /// The newest stage; the final one once `step` is `ended`.
        public var report: StageReport
        /// What to compare the box with when a restart came in between; steps
        /// are already resolved here.
        public var intent: Intent
        /// True once it ended.
        public var isSettled: Bool { step == .ended }
    }

    /// Entries by id.
    public private(set) var entries: [String: Entry] = [:]

    public init() {}

    public subscript(id: String) -> Entry? { entries[id] }

    /// Notes that `id` reached `step`.
    public mutating func note(_ step: Entry.Step, _ report: StageReport, _ intent: Intent) {
        entries[report.id] = Entry(step: step, report: report, intent: intent)
    }

    /// Forgets ended entries that are older than ``memory``, and the oldest
    /// ended ones beyond ``capacity``.
    public mutating func prune(now: Date) {
        entries = entries.filter {
            $0.value.step != .ended || now.timeIntervalSince($0.value.report.at) < Self.memory
        }
        let surplus = entries.count - Self.capacity
        guard surplus > 0 else { return }
        let oldest = entries.values.filter(\.isSettled).sorted {
            ($0.report.at, $0.report.id) < ($1.report.at, $1.report.id)
        }
        for entry in oldest.prefix(surplus) { entries[entry.report.id] = nil }
    }

    /// Entries that were waiting or sent when the process ended, oldest first.
    public var unfinished: [Entry] {
        entries.values.filter { !$0.isSettled }.sorted {
            ($0.report.at, $0.report.id) < ($1.report.at, $1.report.id)
        }
    }
}

extension CommandLedger {
    /// The ledger as a document for the disk.
    public var document: JSONValue {
        .array(
            entries.values.sorted { $0.report.id < $1.report.id }.map { entry in
                let report = entry.report
                return [
                    "id": .string(report.id), "step": .string(entry.step.rawValue),
                    "topic": .string(report.topic), "intent": entry.intent.document,
                    "loadpoint": report.loadpoint.map(JSONValue.string) ?? .null,
                    "stage": .string(report.stage.rawValue),
                    "code": report.code.map { .string($0.rawValue) } ?? .null,
                    "box_code": report.boxCode.map(JSONValue.string) ?? .null,
                    "requested": report.requested, "value": report.value ?? .null,
                    "at": .double(report.at.timeIntervalSince1970),
                    "response_topic": report.responseTopic.map(JSONValue.string) ?? .null,
                    "correlation": report.correlationData.map { .array($0.map { .int(Int64($0)) }) } ?? .null,
                ]
            })
    }

    /// Reads a document; entries that make no sense are left out.
    public init(document: JSONValue) {
        for item in document.arrayValue ?? [] {
            guard let id = item["id"]?.stringValue, let topic = item["topic"]?.stringValue,
                let step = item["step"]?.stringValue.flatMap(Entry.Step.init(rawValue:)),
                let stage = item["stage"]?.stringValue.flatMap(Stage.init(rawValue:)),
                let intent = item["intent"].flatMap(Intent.init(document:)),
                let at = item["at"]?.doubleValue
            else { continue }
            let value = item["value"] ?? .null
            let correlation = item["correlation"]?.arrayValue?.compactMap {
                $0.intValue.flatMap(UInt8.init(exactly:))
            }
            note(
                step,
                StageReport(
                    id: id, topic: topic, loadpoint: item["loadpoint"]?.stringValue, stage: stage,
                    code: item["code"]?.stringValue.flatMap(CommandCode.init(rawValue:)),
                    boxCode: item["box_code"]?.stringValue, requested: item["requested"] ?? .null,
                    value: value.isNull ? nil : value, at: Date(timeIntervalSince1970: at),
                    responseTopic: item["response_topic"]?.stringValue, correlationData: correlation),
                intent)
        }
    }
}
