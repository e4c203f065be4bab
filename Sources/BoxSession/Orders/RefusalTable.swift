import BoxLink
import EnergyModel

/// What each of the box's refusals means to whoever asked: one table for commands
/// and for requests (FTW wire §7.2, §7.6, §8.3).
enum RefusalTable {
    /// The meaning by code alone. A code of a later box is only "not available now".
    static func kind(of code: String) -> BoxRefusalReason.Kind {
        switch Contract.ErrorCode(rawValue: code) {
        case .booting: .starting
        case .unknownOp: .outOfRange
        case .commandExpired: .unavailable
        case .precondition: .precondition
        case .conflict: .conflict
        case .scopeDenied, .grantRevoked, .lastOwnerProtected: .notAllowed
        case .rangeTooLarge: .outOfRange
        case .unavailable: .unavailable
        case .needsStepUp: .needsConsent
        // Routes that no session may take: this box offers no way.
        case .useCommand, .unsupportedMedia, .wholeDocument, .localOnly: .unsupported
        case nil: .unavailable
        }
    }

    /// The meaning of a refusal with everything the box said.
    static func reason(_ refusal: BoxRefusal) -> BoxRefusalReason {
        BoxRefusalReason(kind: kind(of: refusal), boxCode: refusal.code, detail: detail(refusal))
    }

    private static func kind(of refusal: BoxRefusal) -> BoxRefusalReason.Kind {
        let args = refusal.args
        switch Contract.ErrorCode(rawValue: refusal.code) {
        case .unknownOp:
            if refusal.isUnknownOperation { return .unsupported }
            // No route for that path, which is never a 404 (FTW wire §8.3).
            if args["field"] == .text("path") { return .unsupported }
            return args["arg"] == .text("id") ? .noCharger : .outOfRange
        case .unavailable:
            if args["dispatchBlockedBy"] != nil { return .dispatchBlocked }
            if args["reason"] == .text("unplugged") { return .notPluggedIn }
            if args["subsystem"] == .text("loadpoints") { return .noCharger }
            return .unavailable
        default: return kind(of: refusal.code)
        }
    }

    /// The box wants a person's confirmation first.
    static func wantsStepUp(_ refusal: BoxRefusal) -> Bool {
        refusal.code == Contract.ErrorCode.needsStepUp.rawValue
    }

    /// What the box's HTTP handler meant with its status; `nil` for a success.
    static func reason(status: Int, error: String?) -> BoxRefusalReason? {
        let kind: BoxRefusalReason.Kind
        switch status {
        case 200..<300: return nil
        case 400, 422: kind = .outOfRange
        case 401, 403: kind = .notAllowed
        case 404: kind = .noCharger
        case 405, 415, 501: kind = .unsupported
        case 409: kind = .conflict
        case 412, 428: kind = .precondition
        // The API is not bound yet, right after a box start.
        case 503: kind = .starting
        default: kind = .unavailable
        }
        return BoxRefusalReason(kind: kind, detail: "HTTP \(status)" + (error.map { ": \($0)" } ?? ""))
    }

    /// The arguments as one line, bounded, because they may echo anything.
    private static func detail(_ refusal: BoxRefusal) -> String? {
        let parts = refusal.args.members.prefix(6).map { "\($0.key)=\(text($0.value))" }
        return parts.isEmpty ? nil : String(parts.joined(separator: " ").prefix(200))
    }

    private static func text(_ value: CBORValue) -> String {
        switch value {
        case .text(let text): String(text.prefix(80))
        case .int(let number): String(number)
        case .unsigned(let number): String(number)
        case .float(let number): String(number)
        case .bool(let flag): String(flag)
        case .array(let items): items.prefix(8).map(text).joined(separator: ",")
        case .null: "null"
        case .bytes, .map: "…"
        }
    }
}
