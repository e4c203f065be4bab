/// What the console can do, in one line for a person.
enum ConsoleHelp {
    static let lines: [(verb: String, form: String)] = [
        ("help", "help [WORD]"), ("where", "where"), ("link", "link [owner|viewer]"),
        ("clock", "clock [TIME]"),
        ("speed", "speed N"), ("state", "state"), ("log", "log clear"), ("quit", "quit"),
        ("car", "car [ID] plug|unplug"),
        (
            "car",
            "car [ID] situation everyday|unplugged|assumed|estimated %|car_live %|car_old % SECONDS|car_flagged_old %|"
                + "person_set %|late WH|no_goal|holding W|replanning|no_plan|two_chargers|old_box"
        ),
        ("car", "car [ID] draw on|off|auto"), ("phone", "phone [ID] level %"),
        ("phone", "phone [ID] hold charge|pause|release"),
        ("phone", "phone [ID] goal none|% HH:MM [once|mon,tue]"),
        ("phone", "phone [ID] surplus_only on|off"), ("phone", "phone mode KEY"),
        ("mode", "mode add KEY LABEL"), ("mode", "mode remove KEY"), ("mode", "mode set KEY"),
        ("source", "source NAME live|lagging|stale|down|never"), ("meter", "meter lose|restore"),
        ("battery", "battery remove"), ("box", "box restart|away|back|booting %|ready"),
        ("box", "box vintage ancient|base|soc|late"), ("box", "box consent on|off"),
        ("box", "box mute on|off"),
        ("relay", "relay drop|rotate|stop|start"), ("role", "role owner|viewer"), ("revoke", "revoke"),
        (
            "next",
            "next lost|answers_lost|receipt_lost|result_lost|result_late SECONDS|slow SECONDS|unconfirmed|refused CODE|refused_at_execution CODE|"
                + "overtaken VALUE|none"
        ),
        ("swallow", "swallow results|commands on|off"),
        ("api", "api fault PATH truncated|garbled|foreign|refused|status N|none"), ("api", "api busy N"),
        ("api", "api delay SECONDS"), ("prices", "prices none|known|negative"),
        ("prices", "prices today|tomorrow ÖRE…"), ("prices", "prices published yes|no|auto"),
        ("energy", "energy import KWH"),
    ]

    /// Every first word, once.
    static var verbs: [String] {
        lines.map(\.verb).reduce(into: []) { list, verb in if list.last != verb { list.append(verb) } }
    }

    /// - Parameter verb: Only its commands; `nil`: all.
    /// - Returns: `nil` when there is no such command.
    static func text(_ verb: String?) -> String? {
        let wanted = lines.filter { verb == nil || $0.verb == verb }
        guard !wanted.isEmpty else { return nil }
        let forms = wanted.map(\.form).joined(separator: "  ·  ")
        return verb == "prices" ? "\(forms)  (a bridge reads prices again after box restart)" : forms
    }
}
