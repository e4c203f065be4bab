import Glibc

/// The sockets of a loop as its thread sees them: who dials, who was accepted,
/// and which handler hears of it.
final class WebSocketEngine {
    /// A socket as the thread sees it.
    private final class Link {
        let connection: WebSocketConnection
        var handler: (@Sendable (WebSocketEvent) -> Void)?
        var dial: WebSocketLoop.Core.Dial?
        var addresses: ArraySlice<String> = []
        var wsi: OpaquePointer?
        var server: Int?
        var isOpen = false
        var partial: [UInt8] = []
        var closeFrame: (code: UInt16, reason: String)?
        var verifyError: Int32 = 0

        init(_ connection: WebSocketConnection) { self.connection = connection }
    }
    private struct Server {
        let host: OpaquePointer
        let listen: WebSocketLoop.Core.Listen
    }

    private let core: WebSocketLoop.Core
    private var library: WebSocketLibrary?
    private var links: [Int: Link] = [:]
    private var servers: [Int: Server] = [:]
    private var clientHosts: [String: OpaquePointer] = [:]
    /// Close frames still to be written for sockets that have no link any more.
    private var closing: [Int: (code: UInt16, reason: String)] = [:]

    /// Stopped servers: the library never closes the listening socket of a host
    /// that it destroys, so the host is kept, drops whoever comes, and listens
    /// again when somebody wants its port back.
    private var stopped: [Server] = []

    init?(core: WebSocketLoop.Core) {
        self.core = core
        library = WebSocketLibrary(owner: Unmanaged.passUnretained(self).toOpaque())
        if library == nil { return nil }
    }

    var waker: WebSocketLibrary.Waker? { library?.waker }
    func service() { library?.service() }

    func perform(_ command: WebSocketLoop.Core.Command) {
        switch command {
        case .prepare(let dial):
            let link = Link(dial.connection)
            link.handler = dial.handler
            link.dial = dial
            links[dial.connection.id] = link
        case .connect(let id, let result):
            guard let link = links[id] else { return }
            switch result {
            case .success(let addresses):
                link.addresses = addresses[...]
                connectNext(link)
            case .failure(let failure): fail(link, failure)
            }
        case .writable(let id):
            if let link = links[id], link.isOpen, let wsi = link.wsi { WebSocketLibrary.askForWritable(wsi) }
        case .end(let id):
            if let link = links[id] { end(link) }
        case .listen(let listen): start(listen)
        case .unlisten(let id, let done):
            stopServer(id)
            done()
        }
    }

    /// Closes everything; every handler gets its last event.
    func shutDown() {
        for id in servers.keys { stopServer(id) }
        library?.destroy()
        library = nil
        for link in links.values {
            finish(link, link.isOpen ? .closed(code: 1006, reason: "") : Self.loopStopped)
        }
    }

    private static let loopStopped = WebSocketEvent.failed(
        WebSocketFailure(kind: .unreachable, detail: "the socket loop was stopped"))

}

// MARK: - Dialling

extension WebSocketEngine {
    private func connectNext(_ link: Link) {
        guard let dial = link.dial, let address = link.addresses.popFirst() else {
            return fail(link, WebSocketFailure(kind: .unreachable, detail: "no address answered"))
        }
        let host: OpaquePointer
        switch clientHost(caFile: dial.url.isSecure ? dial.caFile : nil) {
        case .success(let found): host = found
        case .failure(let failure): return fail(link, failure)
        }
        let wsi = library?.connect(dial, address: address, from: host)
        // On an immediate failure the callback has already been here, and may have gone on to the next address.
        if let wsi, links[link.connection.id] === link { link.wsi = wsi }
        if wsi == nil, link.wsi == nil, links[link.connection.id] === link {
            connectNext(link)
        }
    }

    /// The C library keeps trusted authorities per virtual host, so each CA file has one.
    private func clientHost(caFile: String?) -> Result<OpaquePointer, WebSocketFailure> {
        if let host = clientHosts[caFile ?? ""] { return .success(host) }
        if let caFile, let problem = Self.problem(withCAFile: caFile) {
            return .failure(WebSocketFailure(kind: .tlsFailed, detail: problem))
        }
        guard let host = library?.clientHost(number: clientHosts.count, caFile: caFile) else {
            return .failure(WebSocketFailure(kind: .tlsFailed, detail: "TLS could not be set up"))
        }
        clientHosts[caFile ?? ""] = host
        return .success(host)
    }

    /// The C library only logs that it could not read the file, so look first.
    private static func problem(withCAFile path: String) -> String? {
        guard let file = fopen(path, "re") else { return "\(path) cannot be read" }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            if strstr(line, "-----BEGIN CERTIFICATE-----") != nil { return nil }
        }
        return "\(path) holds no certificate in PEM form"
    }

    private func fail(_ link: Link, _ failure: WebSocketFailure) { finish(link, .failed(failure)) }

    /// The last event of a socket. Whatever the C library reports later finds no link.
    private func finish(_ link: Link, _ event: WebSocketEvent) {
        links[link.connection.id] = nil
        let handler = link.handler
        link.handler = nil
        handler?(event)
        link.connection.ended()
    }

    /// Carries out `close` or `terminate` of ours.
    private func end(_ link: Link) {
        let ending = link.connection.ending ?? .terminate
        if let wsi = link.wsi {
            if link.isOpen, case .close(let code, let reason) = ending {
                closing[link.connection.id] = (code, reason)
                WebSocketLibrary.askForWritable(wsi)
                WebSocketLibrary.killSoon(wsi)
            } else {
                WebSocketLibrary.kill(wsi)
            }
        }
        switch ending {
        case .close(let code, let reason) where link.isOpen: finish(link, .closed(code: code, reason: reason))
        case _ where link.isOpen: finish(link, .closed(code: 1006, reason: ""))
        default: fail(link, WebSocketFailure(kind: .unreachable, detail: "given up before it opened"))
        }
    }
}

// MARK: - Listening

extension WebSocketEngine {
    private func start(_ listen: WebSocketLoop.Core.Listen) {
        let settings = listen.settings
        if let index = stopped.firstIndex(where: { serves($0, settings) }) {
            let host = stopped.remove(at: index).host
            servers[listen.id] = Server(host: host, listen: listen)
            return listen.done(.success(WebSocketLibrary.port(of: host)))
        }
        for case let file? in [settings.certificateFile, settings.keyFile] where access(file, R_OK) != 0 {
            return listen.done(.failure(.unreadable(file: file)))
        }
        guard let host = library?.serverHost(number: listen.id, settings: settings) else {
            return listen.done(.failure(.cannotListen(address: settings.address, port: settings.port)))
        }
        servers[listen.id] = Server(host: host, listen: listen)
        listen.done(.success(WebSocketLibrary.port(of: host)))
    }

    private func serves(_ server: Server, _ settings: WebSocketServerSettings) -> Bool {
        let old = server.listen.settings
        return old.address == settings.address && old.certificateFile == settings.certificateFile
            && old.keyFile == settings.keyFile
            && WebSocketLibrary.port(of: server.host) == settings.port
    }

    private func stopServer(_ id: Int) {
        guard let server = servers.removeValue(forKey: id) else { return }
        for link in links.values where link.server == id {
            if let wsi = link.wsi { WebSocketLibrary.kill(wsi) }
            finish(link, .closed(code: 1006, reason: ""))
        }
        stopped.append(server)
    }

    /// A client asks to become a WebSocket: the last moment its headers can be read.
    private func admit(_ wsi: OpaquePointer) -> Int32 {
        let host = WebSocketLibrary.host(of: wsi)
        guard let (id, server) = servers.first(where: { $0.value.host == host }) else { return -1 }
        let path = WebSocketLibrary.path(of: wsi)
        let connection = WebSocketConnection(
            id: core.newID(), path: path, peer: WebSocketLibrary.peer(of: wsi),
            limits: server.listen.settings.limits,
            core: core)
        let link = Link(connection)
        link.wsi = wsi
        link.server = id
        let handler = server.listen.handler
        link.handler = { handler(connection, $0) }
        links[connection.id] = link
        WebSocketLibrary.setID(connection.id, of: wsi)
        return 0
    }

    private func answerHTTP(_ wsi: OpaquePointer, path: String) -> Int32 {
        let host = WebSocketLibrary.host(of: wsi)
        guard let server = servers.values.first(where: { $0.host == host }) else { return -1 }
        return WebSocketLibrary.answer(wsi, with: server.listen.answer(path))
    }
}

// MARK: - Callbacks

extension WebSocketEngine {
    /// - Returns: 0 to go on, anything else to drop the socket.
    func noticed(_ wsi: OpaquePointer, _ notice: WebSocketLibrary.Notice) -> Int32 {
        switch notice {
        case .knocked:
            let host = WebSocketLibrary.host(of: wsi)
            return stopped.contains { $0.host == host } ? -1 : 0
        case .upgradeAsked: return admit(wsi)
        case .requested(let path): return answerHTTP(wsi, path: path)
        case .redirected: return -1  // a relay does not send us elsewhere
        default: break
        }
        let id = WebSocketLibrary.id(of: wsi)
        guard let link = links[id] else { return noticedLate(wsi, notice, id) }
        switch notice {
        case .certificateRefused(let error): link.verifyError = error
        case .opened:
            link.wsi = wsi
            link.isOpen = true
            link.handler?(.opened)
            WebSocketLibrary.askForWritable(wsi)
        case .received(let bytes): return received(link, wsi, bytes)
        case .pong: link.handler?(.pong)
        case .writable: return write(link, wsi)
        case .closeFrame(let bytes):
            if bytes.count >= 2 {
                let code = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
                link.closeFrame = (code, String(decoding: bytes.dropFirst(2), as: UTF8.self))
            } else {
                link.closeFrame = (1005, "")
            }
        case .connectFailed(let text):
            link.wsi = nil
            let failure = WebSocketLibrary.failure(text, verifyError: link.verifyError)
            if failure.kind == .unreachable, !link.addresses.isEmpty {
                connectNext(link)
            } else {
                fail(link, failure)
            }
        case .closed where link.isOpen, .destroyed where link.isOpen && link.wsi == wsi:
            let frame = link.closeFrame ?? (1006, "")
            finish(link, .closed(code: frame.code, reason: frame.reason))
        case .destroyed where link.wsi == wsi:
            fail(link, WebSocketFailure(kind: .unreachable, detail: "the connection ended"))
        default: break
        }
        return 0
    }

    /// A socket that we are done with: it may only finish its close frame.
    private func noticedLate(_ wsi: OpaquePointer, _ notice: WebSocketLibrary.Notice, _ id: Int) -> Int32 {
        switch notice {
        case .writable:
            if let (code, reason) = closing.removeValue(forKey: id) {
                WebSocketLibrary.setCloseFrame(wsi, code: code, reason: reason)
            }
            return -1
        case .opened: return -1
        case .destroyed: closing[id] = nil
        default: break
        }
        return 0
    }

    private func received(_ link: Link, _ wsi: OpaquePointer, _ bytes: UnsafeRawBufferPointer) -> Int32 {
        guard link.connection.limits.messageBytes - link.partial.count >= bytes.count else {
            link.connection.close(code: 1009)
            end(link)
            return 0
        }
        link.partial.append(contentsOf: bytes)
        guard WebSocketLibrary.isMessageComplete(wsi) else { return 0 }
        let message = link.partial
        link.partial = []
        if WebSocketLibrary.isBinary(wsi) {
            link.handler?(.message(message))
        } else {
            link.handler?(.text(String(decoding: message, as: UTF8.self)))
        }
        return 0
    }

    private func write(_ link: Link, _ wsi: OpaquePointer) -> Int32 {
        guard let (item, more) = link.connection.take() else { return 0 }
        guard WebSocketLibrary.write(item, to: wsi) else { return -1 }
        if more { WebSocketLibrary.askForWritable(wsi) }
        return 0
    }
}
