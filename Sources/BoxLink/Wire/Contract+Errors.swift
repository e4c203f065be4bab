extension Contract {
    /// What a box answers instead (FTW wire §6.11). Treat a code that is not
    /// here as not retryable.
    public enum ErrorCode: String, Sendable, CaseIterable {
        case booting = "E_BOOTING"
        case unknownOp = "E_UNKNOWN_OP"
        case commandExpired = "E_CMD_EXPIRED"
        case precondition = "E_PRECONDITION"
        case conflict = "E_CONFLICT"
        case scopeDenied = "E_SCOPE_DENIED"
        case grantRevoked = "E_GRANT_REVOKED"
        /// Only inside the JSON of an HTTP 409.
        case lastOwnerProtected = "E_LAST_OWNER_PROTECTED"
        case rangeTooLarge = "E_RANGE_TOO_LARGE"
        case unavailable = "E_UNAVAILABLE"
        case needsStepUp = "E_NEEDS_STEP_UP"
        case useCommand = "E_USE_CMD"
        case unsupportedMedia = "E_UNSUPPORTED_MEDIA"
        case wholeDocument = "E_WHOLE_DOCUMENT"
        case localOnly = "E_LOCAL_ONLY"

        /// Whether asking again can help. Asking for a step-up again without one
        /// cannot, whatever this says (FTW wire §8.3).
        public var isRetryable: Bool {
            switch self {
            case .booting, .conflict, .unavailable, .needsStepUp: true
            case .unknownOp, .commandExpired, .precondition, .scopeDenied, .grantRevoked, .lastOwnerProtected,
                .rangeTooLarge, .useCommand, .unsupportedMedia, .wholeDocument, .localOnly:
                false
            }
        }

        /// Whether a box puts it on the wire, as far as is known.
        public var isSent: Bool { self != .lastOwnerProtected && self != .rangeTooLarge }
    }
}
