import Synchronization

/// Where a server listens, and how.
public struct WebSocketServerSettings: Sendable, Equatable {
    /// The address to listen on.
    public var address = "127.0.0.1"
    /// From 1 to 65535, or 0 for one that is free.
    public var port = 0
    /// A PEM file with the certificate chain; `nil` listens without TLS.
    public var certificateFile: String?
    /// A PEM file with the private key of that certificate.
    public var keyFile: String?
    /// The bounds of each accepted socket.
    public var limits = WebSocketLimits()

    public init() {}
}

/// Why a server does not listen.
public enum WebSocketServerError: Error, Equatable, CustomStringConvertible {
    case cannotListen(address: String, port: Int)
    /// The certificate or key file is missing or not readable.
    case unreadable(file: String)
    case stopped

    public var description: String {
        switch self {
        case .cannotListen(let address, let port):
            "cannot listen on \(address):\(port); is it in use, or are certificate and key no pair?"
        case .unreadable(let file): "\(file) cannot be read"
        case .stopped: "the socket loop was stopped"
        }
    }
}

/// Accepts sockets on a loop; the relay of the simulator stands on it.
public final class WebSocketServer: Sendable {
    /// The answer to an HTTP request that asks for no WebSocket.
    public struct Answer: Sendable, Equatable {
        public var status: Int
        public var body: String

        public init(status: Int, body: String) {
            self.status = status
            self.body = body
        }
    }

    private let loop: WebSocketLoop
    private let settings: WebSocketServerSettings
    private let handler: @Sendable (WebSocketConnection, WebSocketEvent) -> Void
    private let answer: @Sendable (String) -> Answer
    private let listening = Mutex<(id: Int, port: Int)?>(nil)

    /// - Parameters:
    ///   - loop: The loop whose thread serves the sockets.
    ///   - settings: Where to listen.
    ///   - answer: Answers plain HTTP requests by their path.
    ///   - handler: Called on the loop's thread: `opened` first, `closed` last.
    public init(
        loop: WebSocketLoop, settings: WebSocketServerSettings,
        answer: @escaping @Sendable (String) -> Answer = { _ in Answer(status: 426, body: "WebSocket only\n")
        },
        handler: @escaping @Sendable (WebSocketConnection, WebSocketEvent) -> Void
    ) {
        self.loop = loop
        self.settings = settings
        self.handler = handler
        self.answer = answer
    }

    /// The port it listens on, or 0 while it does not.
    public var port: Int { listening.withLock { $0?.port ?? 0 } }

    /// Listens.
    ///
    /// - Throws: `.unreadable` or `.cannotListen`; after that it may be tried again.
    public func start() async throws(WebSocketServerError) {
        let id = loop.core.newID()
        let result = await withCheckedContinuation {
            (waiter: CheckedContinuation<Result<Int, WebSocketServerError>, Never>) in
            loop.core.submit(
                .listen(
                    .init(id: id, settings: settings, handler: handler, answer: answer) {
                        waiter.resume(returning: $0)
                    }))
        }
        let port = try result.get()
        listening.withLock { $0 = (id, port) }
    }

    /// Drops every accepted socket without a close frame, and from now on whoever comes.
    ///
    /// The port itself stays taken until the loop is stopped; a server started
    /// on the same loop with the same port and certificate takes it over.
    public func stop() async {
        let id = listening.withLock { listening -> Int? in
            defer { listening = nil }
            return listening?.id
        }
        guard let id else { return }
        await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
            loop.core.submit(.unlisten(id, done: { waiter.resume() }))
        }
    }
}
