/// What only shows when all keys are known: pairs, conflicts, files.
extension SettingsReader {
    mutating func finish() {
        checkRivals()
        if settings.prices.cheapUnder != nil || settings.prices.cheapWindow != nil {
            settings.prices.cheapLevel = nil
        }
        checkTLS()
        readPasswordFile()
        checkRelay()
        if settings.mqtt.password != nil || settings.mqtt.passwordFile != nil, settings.mqtt.user == nil,
            places["mqtt.user"] == nil
        {
            let key = settings.mqtt.passwordFile == nil ? "mqtt.password" : "mqtt.password_file"
            report(key, "\(key) is set but mqtt.user is not; a password goes with a user name")
        }
        if settings.mqtt.baseTopic == settings.mqtt.discoveryPrefix {
            report(
                "mqtt.base_topic",
                "mqtt.base_topic and mqtt.discovery_prefix are the same; Home Assistant would read our own topics"
            )
        }
        if let window = settings.prices.cheapWindow, !settings.prices.cheapHours.contains(window) {
            let hours = Values.joined(settings.prices.cheapHours.map { "\($0)" })
            report(
                "prices.cheap_now.window",
                "prices.cheap_now.window is \(window), which is not in prices.cheap_hours; allowed are \(hours)"
            )
        }
    }

    /// Two keys of which one is enough. The later one is the one to look at.
    private mutating func checkRivals() {
        for group in Self.rivals {
            let set = group.filter { places[$0] != nil }
            guard set.count > 1, let last = set.last else { continue }
            report(last, "\(Values.joined(set)) are set together; give one of them")
        }
    }

    private mutating func checkTLS() {
        let tls = settings.mqtt.tlsFiles
        let named = ["mqtt.tls.ca_file", "mqtt.tls.certificate_file", "mqtt.tls.key_file"]
        if !settings.mqtt.usesTLS {
            if let key = named.first(where: { places[$0] != nil }) {
                report(key, "\(key) is set but mqtt.tls is false; TLS is off then")
            }
            if settings.mqtt.portWritten == 8883 {
                warn(
                    "mqtt.port",
                    "mqtt.port is 8883, where brokers expect TLS; add mqtt.tls: true if yours does")
            }
            return
        }
        if settings.mqtt.portWritten == 1883 {
            warn("mqtt.port", "mqtt.port is 1883, where brokers expect no TLS; with TLS it is usually 8883")
        }
        if tls.certificateFile != nil, tls.keyFile == nil {
            report("mqtt.tls.certificate_file", "mqtt.tls.certificate_file needs mqtt.tls.key_file beside it")
        }
        if tls.keyFile != nil, tls.certificateFile == nil {
            report("mqtt.tls.key_file", "mqtt.tls.key_file needs mqtt.tls.certificate_file beside it")
        }
        settings.mqtt.tlsFiles.caFile = checkedPEM("mqtt.tls.ca_file", tls.caFile)
        settings.mqtt.tlsFiles.certificateFile = checkedPEM("mqtt.tls.certificate_file", tls.certificateFile)
        settings.mqtt.tlsFiles.keyFile = checkedPEM("mqtt.tls.key_file", tls.keyFile, isSecret: true)
    }

    private mutating func checkRelay() {
        settings.relay.caFile = checkedPEM("relay.ca_file", settings.relay.caFile)
        guard let relay = RelayAddress(settings.relay.url) else { return }
        if relay.isPlain, !relay.isLoopback, !settings.relay.allowPlain {
            report(
                "relay.url",
                "relay.url has no TLS; give wss://, or relay.allow_plain: true if that is what you want")
        }
    }

    // MARK: Files

    private func absolute(_ path: String) -> String {
        path.hasPrefix("/") || folder.isEmpty ? path : "\(folder)/\(path)"
    }

    /// The facts of a file that `key` names; `nil` after a problem was reported.
    private mutating func facts(_ key: String, _ written: String, isSecret: Bool) -> FileLook.Facts? {
        let path = absolute(written)
        // A password typed where its file's name belongs must not be shown.
        let isPath = written.contains("/") || !isSecret
        let shown = isPath ? path : "the file"
        switch files.facts(path) {
        case .failure(.missing):
            report(key, "\(key): \(shown) does not exist")
        case .failure(.notPermitted):
            report(
                key,
                "\(key): \(shown) may not be read by the user the bridge runs as; change its owner or group")
        case .failure(.other(let words)):
            report(key, "\(key): \(shown) cannot be read: \(words)")
        case .success(let facts) where !facts.isRegular:
            report(key, "\(key): \(shown) is not a file")
        case .success(let facts) where isSecret && facts.mode & 0o027 != 0 && !isLentByContainer(path):
            let mode = String(facts.mode & 0o777, radix: 8)
            report(
                key,
                "\(key): \(shown) is open to others (mode \(mode)); run: chmod 600 \(isPath ? path : "FILE")")
        case .success(let facts):
            return facts
        }
        return nil
    }

    /// Container run-times place secrets there, readable for all inside; the
    /// container is the fence.
    private func isLentByContainer(_ path: String) -> Bool {
        path.hasPrefix("/run/secrets/") && !path.contains("/../")
    }

    private mutating func checkedPEM(_ key: String, _ path: String?, isSecret: Bool = false) -> String? {
        guard let path else { return nil }
        let full = absolute(path)
        guard facts(key, path, isSecret: isSecret) != nil else { return full }
        switch files.read(full, 1 << 20) {
        case .failure:
            report(key, "\(key): \(full) cannot be read")
        case .success(let bytes):
            let text = String(decoding: bytes, as: UTF8.self)
            if !text.contains("-----BEGIN ") {
                report(key, "\(key): \(full) is not a PEM file (it has no -----BEGIN line)")
            } else if isSecret, text.contains("ENCRYPTED") {
                report(
                    key,
                    "\(key): \(full) is locked with a passphrase, which a service cannot type; store it without"
                )
            }
        }
        return full
    }

    private mutating func readPasswordFile() {
        let key = "mqtt.password_file"
        guard let path = settings.mqtt.passwordFile else { return }
        let full = absolute(path)
        settings.mqtt.passwordFile = full
        guard facts(key, path, isSecret: true) != nil else { return }
        guard case .success(var bytes) = files.read(full, 65_538) else {
            report(key, "\(key): the file cannot be read")
            return
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.isEmpty {
            report(key, "\(key): the file is empty")
        } else if bytes.count > 65_535 {
            report(key, "\(key): the file is longer than a password can be (65535 bytes)")
        } else {
            settings.mqtt.password = Secret(bytes)
        }
    }

    mutating func checkZone(_ zone: String?, at place: Problem.Place) {
        guard let zone else { return }
        let root = "/usr/share/zoneinfo"
        if case .success(let bytes) = files.read("\(root)/\(zone)", 4), bytes == Array("TZif".utf8) { return }
        guard case .success = files.facts(root) else {
            problems.append(
                Problem(place, "sites.zone: this machine has no time zone data; install the package tzdata"))
            return
        }
        var hint = "give a time zone by its name, such as Europe/Stockholm"
        if case .success(let bytes) = files.read("\(root)/tzdata.zi", 1 << 20),
            let near = Nearest.match(zone, among: Self.zoneNames(bytes))
        {
            hint += "; did you mean \(near)?"
        }
        problems.append(
            Problem(place, "sites.zone is \(Shown.value(zone)), which this machine does not know; \(hint)"))
    }

    /// Names from the compiled list of zones: lines `Z name …` and `L target name`.
    private static func zoneNames(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 3)
            if words.count > 1, words[0] == "Z" { return String(words[1]) }
            if words.count > 2, words[0] == "L" { return String(words[2]) }
            return nil
        }
    }

    // MARK: Reporting

    /// Reports at the place where `key` was set, or for the file as a whole.
    private mutating func report(_ key: String, _ text: String) {
        problems.append(Problem(places[key] ?? .file(fileName, line: 0, column: 0), text))
    }

    private mutating func warn(_ key: String, _ text: String) {
        warnings.append(Problem(places[key] ?? .file(fileName, line: 0, column: 0), text))
    }
}
