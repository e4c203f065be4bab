import CSystemd

/// What systemd is told (sd_notify(3)); does nothing when it did not start us.
enum ServiceManager {
    /// The daemon does its work, whether or not broker and box are there yet.
    static func ready() { sd_notify(0, "READY=1") }
    static func stopping() { sd_notify(0, "STOPPING=1") }
    /// One line for `systemctl status`; must hold no secret.
    static func status(_ line: String) {
        sd_notify(0, "STATUS=\(line.replacing("\n", with: " "))")
    }
    static func alive() { sd_notify(0, "WATCHDOG=1") }

    /// How often ``alive()`` has to be called: half of what the unit allows.
    /// `nil` when no watchdog watches.
    static var watchdogInterval: Duration? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds / 2))
    }
}
