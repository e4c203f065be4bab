import Ambient
import BoxLink
import BoxSimulator
import FoundationEssentials
import Glibc
import Testing

/// A relay on loopback and what is needed to talk to it.
struct RelayBench {
    let loop = WebSocketLoop()
    let relay: RelayServer
    /// Any secret; both ends of a test share it.
    let secret = SecretBytes([UInt8](repeating: 7, count: 32))
    /// Chance 0: every backoff and jitter is no wait, so tests need not wait either.
    let ambient = Ambient(chance: { 0 })

    init(_ change: (inout RelayServerSettings) -> Void = { _ in }) {
        var settings = RelayServerSettings()
        settings.limits = .oneAddress
        change(&settings)
        relay = RelayServer(loop: loop, settings: settings, ambient: ambient)
    }

    func url(secure: Bool = false, host: String = "127.0.0.1") throws -> WebSocketURL {
        try WebSocketURL(parsing: "\(secure ? "wss" : "ws")://\(host):\(relay.port)", allowPlain: true)
    }

    func carrier(
        _ end: RelaySettings.End = .app, secure: Bool = false, host: String = "127.0.0.1",
        caFile: String? = nil,
        ambient: Ambient? = nil
    ) throws -> RelayCarrier {
        RelayCarrier(
            settings: RelaySettings(
                url: try url(secure: secure, host: host), caFile: caFile, secret: secret, end: end),
            loop: loop, ambient: ambient ?? self.ambient)
    }

    /// Runs the carriers while `body` runs, then ends them, relay and loop.
    func running(_ carriers: [RelayCarrier] = [], _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for carrier in carriers { group.addTask { await carrier.run() } }
            let result: Result<Void, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            group.cancelAll()
            try await group.waitForAll()
            await relay.stop()
            await loop.stop()
            try result.get()
        }
    }

    /// The path of the room of that hour.
    func path(epoch: Int64, end: RelaySettings.End = .app) throws -> String {
        Rendezvous.path(epoch: epoch, handle: try Rendezvous.handle(secret: secret, epoch: epoch), end: end)
    }

    /// A bare socket, for what no carrier of ours does.
    func socket(path: String) throws -> (socket: WebSocketConnection, events: AsyncStream<WebSocketEvent>) {
        let (events, sink) = AsyncStream.makeStream(
            of: WebSocketEvent.self, bufferingPolicy: .bufferingOldest(1_024))
        let socket = loop.connect(to: try url(), path: path) { event in
            sink.yield(event)
            switch event {
            case .closed, .failed: sink.finish()
            case .opened, .text, .message, .pong: break
            }
        }
        return (socket, events)
    }
}

extension Carrier {
    /// Reads on to the first event that fits, and returns it.
    @discardableResult
    func next(_ fits: @escaping @Sendable (CarrierEvent) -> Bool) async throws -> CarrierEvent {
        for await event in events where fits(event) { return event }
        throw EndedEarly()
    }

    func nextLoss() async throws -> CarrierLoss {
        let event = try await next { if case .lost = $0 { true } else { false } }
        guard case .lost(let loss) = event else { throw EndedEarly() }
        return loss
    }
}

struct EndedEarly: Error {}

/// Reads to the end and returns how the socket ended.
func ending(of events: AsyncStream<WebSocketEvent>) async -> WebSocketEvent? {
    var last: WebSocketEvent?
    for await event in events { last = event }
    return last
}

/// Two authorities and three certificates, made afresh by the openssl command.
struct RelayCertificates {
    let folder: String

    func file(_ name: String) -> String { "\(folder)/\(name)" }

    init() throws {
        var template = Array("/tmp/ftw-relay-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw EndedEarly() }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        for authority in ["ca", "other-ca"] {
            try openssl(
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                "3650",
                "-subj", "/CN=\(authority)", "-keyout", file("\(authority).key"), "-out",
                file("\(authority).pem"))
        }
        try certificate("good", for: "DNS:localhost,IP:127.0.0.1")
        try certificate("elsewhere", for: "DNS:relay.example.org")
    }

    func remove() {
        for name in ["ca", "other-ca", "good", "elsewhere"] {
            for suffix in ["key", "pem", "csr", "ext"] { unlink(file("\(name).\(suffix)")) }
        }
        rmdir(folder)
    }

    private func certificate(_ name: String, for names: String) throws {
        let extensions = "subjectAltName=\(names)\nbasicConstraints=CA:FALSE\n"
        try Data(extensions.utf8).write(to: URL(filePath: file("\(name).ext")))
        try openssl(
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
            "/CN=\(name)", "-keyout", file("\(name).key"), "-out", file("\(name).csr"))
        try openssl(
            "x509", "-req", "-in", file("\(name).csr"), "-CA", file("ca.pem"), "-CAkey", file("ca.key"),
            "-set_serial", "2", "-days", "3650", "-extfile", file("\(name).ext"), "-out", file("\(name).pem"))
    }

    private func openssl(_ arguments: String...) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        var argv: [UnsafeMutablePointer<CChar>?] = (["openssl"] + arguments).map { (text: String) in
            strdup(text)
        }
        argv.append(nil)
        defer { for argument in argv { free(argument) } }
        var pid = pid_t()
        guard posix_spawnp(&pid, "openssl", &actions, nil, argv, environ) == 0 else { throw EndedEarly() }
        var status: CInt = 0
        waitpid(pid, &status, 0)
        guard status == 0 else { throw EndedEarly() }
    }
}
