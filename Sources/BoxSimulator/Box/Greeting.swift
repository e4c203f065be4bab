import BoxLink
import EnergyModel

/// `hello` and `sub` (FTW wire §6.1, 6.2).
extension SimulatedBox {
    func hello(_ body: CBORValue?, _ session: PhoneSession) throws {
        let body = try BodyReader(body)
        let proto = try body.map("proto")
        _ = try proto?.int("min")
        let version = min(1, try proto?.int("max") ?? 0)
        if let app = try body.map("app") {
            _ = try app.text("build")
            _ = try app.text("ua")
        }
        var subscription: (bucket: Int64?, hz: Double?)?
        if vintage.foldsSubscription, let sub = try body.map("sub") {
            subscription = (try sub.int("bucket"), try sub.number("hz"))
        }
        let accepted = subscription != nil && script.boot == nil
        bulk("hello_ok", greeting(version: max(0, version), subscribed: accepted, session), to: session)
        if accepted, let subscription { subscribe(subscription, session) }
    }

    func subscribe(_ body: BodyReader, _ session: PhoneSession) throws {
        let wish = (bucket: try body.int("bucket"), hz: try body.number("hz"))
        if let boot = script.boot {
            return refuse("E_BOOTING", ["phase": .text(boot.phase), "pct": .int(boot.pct)], nil, session)
        }
        subscribe(wish, session)
    }

    private func subscribe(_ wish: (bucket: Int64?, hz: Double?), _ session: PhoneSession) {
        // Only this very double means the slow cadence.
        session.isSlow = wish.hz == 0.2
        guard !session.isSubscribed else { return }
        session.isSubscribed = true
        session.bucket = wish.bucket == 256 ? 256 : 512
        snap(observe(), session)
    }

    private func greeting(version: Int64, subscribed: Bool, _ session: PhoneSession) -> CBORValue {
        let role = enrolment.role(of: session.clientKey) ?? .viewer
        let isReadonly = vintage.hasRoles && role == .viewer
        let mode =
            script.boot != nil ? "booting" : version == 0 ? "floor" : isReadonly ? "readonly" : "full"
        let caps = version == 0 ? ["status.core"] : capabilities
        var members: [(String, CBORValue)] = [
            ("proto", .int(version)), ("mode", .text(mode)),
            (
                "box",
                [
                    "id": .text(settings.boxID), "build": .text(build),
                    "tz": .text(settings.zoneName ?? house.settings.zone.name),
                ]
            ),
            ("clock", ["source": "ntp", "syncedAtMs": 0, "uptimeMs": .int(uptimeMs)]),
            ("caps", .array(caps.map(CBORValue.text))),
            ("capsHash", .text(Self.hash(caps))),
            (
                "modes",
                .array(
                    modes.map { mode in
                        [
                            "key": .text(mode.key), "label": .text(mode.label),
                            "tooltip": .text(mode.tooltip), "tier": .text(mode.tier),
                        ]
                    })
            ),
        ]
        if let boot = script.boot {
            members.append(("boot", ["phase": .text(boot.phase), "pct": .int(boot.pct), "etaMs": nil]))
        }
        if version == 0 { members.append(("hint", "app_update")) }
        if vintage.hasRoles {
            members.append(("role", .text(role.rawValue)))
            members.append(("scopes", .array(BoxVintage.scopes(of: role).sorted().map(CBORValue.text))))
        }
        if subscribed { members.append(("subscribed", true)) }
        return .map(CBORMap(members))
    }

    var build: String { settings.build ?? vintage.build }

    private var capabilities: [String] {
        var caps = ["status.core", "cmd.lease", "cmd.precondition", "cmd.readback", "plan.dispatch"]
        if vintage.hasLoadpoints, board.chargerCount > 0 { caps.append("der.ev") }
        if vintage.hasPrices, !script.hasNoPrices { caps.append("price.spot") }
        if vintage.hasPassthrough { caps.append("api.passthrough") }
        return caps
    }

    private static func hash(_ caps: [String]) -> String {
        let text = caps.sorted().flatMap { name -> [UInt8] in Array(name.utf8) + [0] }
        return String(UUIDText.hex(Primitives.sha256(text).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }))
    }
}
