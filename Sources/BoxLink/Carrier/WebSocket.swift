import CWebSockets
import Glibc

/// The sockets themselves: the only file that knows libwebsockets.
///
/// Everything here runs on the loop's thread. The C library keeps a number per
/// socket, never a pointer of ours, so a late callback finds nothing instead of
/// freed memory.
final class WebSocketEngine {
    /// Wakes the socket thread; the one call that other threads may make.
    struct Waker: @unchecked Sendable {  // lws_cancel_service is made for being called from elsewhere
        fileprivate let context: OpaquePointer
        func wake() { lws_cancel_service(context) }
    }

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

    private static let name = "ftw"
    /// Room that the library wants in front of what it writes (LWS_PRE).
    private static let pre = 16

    private let core: WebSocketLoop.Core
    private let protocolName: UnsafeMutablePointer<CChar>
    private let protocols: UnsafeMutablePointer<lws_protocols>
    private var context: OpaquePointer?
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
        guard let protocolName = strdup(Self.name) else { return nil }
        self.core = core
        self.protocolName = protocolName
        protocols = .allocate(capacity: 2)
        protocols.initialize(repeating: lws_protocols(), count: 2)
        protocols[0].name = UnsafePointer(protocolName)
        protocols[0].callback = engineCallback
        protocols[0].rx_buffer_size = 16_384
        // Its lines carry no socket; what matters reaches us through callbacks.
        lws_set_log_level(0, discardLine)
        var info = lws_context_creation_info()
        info.port = -1
        info.gid = -1
        info.uid = -1
        info.options = Self.options(LWS_SERVER_OPTION_EXPLICIT_VHOSTS, LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
        info.protocols = UnsafePointer(protocols)
        info.fd_limit_per_thread = 1_024
        info.timeout_secs = 15
        info.connect_timeout_secs = 6
        info.user = Unmanaged.passUnretained(self).toOpaque()
        guard let context = lws_create_context(&info) else {
            release()
            return nil
        }
        self.context = context
    }

    var waker: Waker? { context.map { Waker(context: $0) } }

    func service() {
        guard let context else { return }
        lws_service(context, 0)
    }

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
            if let link = links[id], link.isOpen, let wsi = link.wsi { lws_callback_on_writable(wsi) }
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
        if let context { lws_context_destroy(context) }
        context = nil
        for link in links.values {
            finish(link, link.isOpen ? .closed(code: 1006, reason: "") : Self.loopStopped)
        }
        release()
    }

    private static let loopStopped = WebSocketEvent.failed(
        WebSocketFailure(kind: .unreachable, detail: "the socket loop was stopped"))

    private func release() {
        protocols.deallocate()
        free(protocolName)
    }

    private static func options(_ all: Int64...) -> UInt64 { all.reduce(0) { $0 | UInt64(bitPattern: $1) } }
    private static func options(_ all: Int...) -> UInt64 {
        all.reduce(0) { $0 | UInt64(bitPattern: Int64($1)) }
    }
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
        var wsi: OpaquePointer?
        address.withCString { address in
            dial.url.authority.withCString { authority in
                link.connection.path.withCString { path in
                    "http/1.1".withCString { alpn in
                        var info = lws_client_connect_info()
                        info.context = context
                        info.vhost = host
                        info.address = address
                        info.port = Int32(clamping: dial.url.port)
                        info.ssl_connection = dial.url.isSecure ? Int32(LCCSCF_USE_SSL.rawValue) : 0
                        info.path = path
                        info.host = authority
                        info.ietf_version_or_minus_one = -1
                        info.local_protocol_name = UnsafePointer(protocolName)
                        info.alpn = alpn
                        info.opaque_user_data = UnsafeMutableRawPointer(bitPattern: link.connection.id)
                        wsi = lws_client_connect_via_info(&info)
                    }
                }
            }
        }
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
        var info = clientHostInfo()
        var host: OpaquePointer?
        "client \(clientHosts.count)".withCString { name in
            "".withCString { noProxy in
                info.vhost_name = name
                info.http_proxy_address = noProxy
                if let caFile {
                    info.options |= Self.options(LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS)
                    caFile.withCString { file in
                        info.client_ssl_ca_filepath = file
                        host = lws_create_vhost(context, &info)
                    }
                } else {
                    host = lws_create_vhost(context, &info)
                }
            }
        }
        guard let host else {
            return .failure(WebSocketFailure(kind: .tlsFailed, detail: "TLS could not be set up"))
        }
        clientHosts[caFile ?? ""] = host
        return .success(host)
    }

    private func clientHostInfo() -> lws_context_creation_info {
        var info = lws_context_creation_info()
        info.port = -1
        info.options = Self.options(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
        info.protocols = UnsafePointer(protocols)
        info.timeout_secs = 15
        info.connect_timeout_secs = 6
        return info
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
                lws_callback_on_writable(wsi)
                // A peer that reads nothing does not get to keep the socket.
                lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, 2)
            } else {
                lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC)
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
            return listen.done(.success(Int(lws_get_vhost_listen_port(host))))
        }
        for case let file? in [settings.certificateFile, settings.keyFile] where access(file, R_OK) != 0 {
            return listen.done(.failure(.unreadable(file: file)))
        }
        var info = lws_context_creation_info()
        info.port = Int32(clamping: settings.port)
        info.protocols = UnsafePointer(protocols)
        info.options = Self.options(LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND)
        if !settings.address.contains(":") { info.options |= Self.options(LWS_SERVER_OPTION_DISABLE_IPV6) }
        info.timeout_secs = 15
        let isSecure = settings.certificateFile != nil
        if isSecure { info.options |= Self.options(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT) }
        let strings: [UnsafeMutablePointer<CChar>?] = [
            "server \(listen.id)", settings.address, "http/1.1", settings.certificateFile ?? "",
            settings.keyFile ?? "",
        ].map { (text: String) in strdup(text) }
        defer { for string in strings { free(string) } }
        info.vhost_name = UnsafePointer(strings[0])
        info.iface = UnsafePointer(strings[1])
        info.alpn = UnsafePointer(strings[2])
        if isSecure {
            info.ssl_cert_filepath = UnsafePointer(strings[3])
            info.ssl_private_key_filepath = UnsafePointer(strings[4])
        }
        guard let host = lws_create_vhost(context, &info) else {
            return listen.done(.failure(.cannotListen(address: settings.address, port: settings.port)))
        }
        servers[listen.id] = Server(host: host, listen: listen)
        listen.done(.success(Int(lws_get_vhost_listen_port(host))))
    }

    private func serves(_ server: Server, _ settings: WebSocketServerSettings) -> Bool {
        let old = server.listen.settings
        return old.address == settings.address && old.certificateFile == settings.certificateFile
            && old.keyFile == settings.keyFile
            && Int(lws_get_vhost_listen_port(server.host)) == settings.port
    }

    private func stopServer(_ id: Int) {
        guard let server = servers.removeValue(forKey: id) else { return }
        for link in links.values where link.server == id {
            if let wsi = link.wsi { lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC) }
            finish(link, .closed(code: 1006, reason: ""))
        }
        stopped.append(server)
    }

    /// A client asks to become a WebSocket: the last moment its headers can be read.
    private func admit(_ wsi: OpaquePointer) -> Int32 {
        let host = lws_get_vhost(wsi)
        guard let (id, server) = servers.first(where: { $0.value.host == host }) else { return -1 }
        let path = Self.header(WSI_TOKEN_GET_URI, of: wsi) ?? ""
        var peer = [CChar](repeating: 0, count: 64)
        lws_get_peer_simple(wsi, &peer, peer.count)
        let connection = WebSocketConnection(
            id: core.newID(), path: path, peer: Self.text(peer), limits: server.listen.settings.limits,
            core: core)
        let link = Link(connection)
        link.wsi = wsi
        link.server = id
        let handler = server.listen.handler
        link.handler = { handler(connection, $0) }
        links[connection.id] = link
        lws_set_opaque_user_data(wsi, UnsafeMutableRawPointer(bitPattern: connection.id))
        return 0
    }

    private func answerHTTP(_ wsi: OpaquePointer, path: String) -> Int32 {
        let host = lws_get_vhost(wsi)
        guard let server = servers.values.first(where: { $0.host == host }) else { return -1 }
        let answer = server.listen.answer(path)
        let body = Array(answer.body.utf8)
        let room = 1_024
        var buffer = [UInt8](repeating: 0, count: Self.pre + room + body.count)
        return buffer.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let base = buffer.baseAddress else { return -1 }
            let start = base + Self.pre
            var end: UnsafeMutablePointer<UInt8>? = start
            let status = UInt32(clamping: answer.status)
            guard
                lws_add_http_common_headers(
                    wsi, status, "text/plain", UInt64(body.count), &end, start + room) == 0,
                answer.status != 426
                    || lws_add_http_header_by_name(wsi, "upgrade:", "websocket", 9, &end, start + room) == 0,
                lws_finalize_write_http_header(wsi, start, &end, start + room) == 0
            else { return -1 }
            for (index, byte) in body.enumerated() { start[index] = byte }
            guard lws_write(wsi, start, body.count, LWS_WRITE_HTTP_FINAL) == Int32(body.count) else {
                return -1
            }
            return lws_http_transaction_completed(wsi) == 0 ? 0 : -1
        }
    }

    private static func header(_ token: lws_token_indexes, of wsi: OpaquePointer) -> String? {
        var buffer = [CChar](repeating: 0, count: 1_024)
        return lws_hdr_copy(wsi, &buffer, Int32(buffer.count), token) >= 0 ? text(buffer) : nil
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

// MARK: - Callbacks

extension WebSocketEngine {
    /// - Returns: 0 to go on, anything else to drop the socket.
    fileprivate func called(
        _ wsi: OpaquePointer, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
        _ bytes: UnsafeRawBufferPointer, _ length: Int
    ) -> Int32 {
        switch reason {
        case LWS_CALLBACK_FILTER_NETWORK_CONNECTION:
            let host = lws_get_vhost(wsi)
            return stopped.contains { $0.host == host } ? -1 : 0
        case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: return admit(wsi)
        case LWS_CALLBACK_HTTP: return answerHTTP(wsi, path: String(decoding: bytes, as: UTF8.self))
        case LWS_CALLBACK_CLIENT_HTTP_REDIRECT: return -1  // a relay does not send us elsewhere
        default: break
        }
        let id = Int(bitPattern: lws_get_opaque_user_data(wsi))
        guard let link = links[id] else { return calledLate(wsi, reason, id) }
        switch reason {
        case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
            if length == 0, let user { link.verifyError = X509_STORE_CTX_get_error(OpaquePointer(user)) }
        case LWS_CALLBACK_CLIENT_ESTABLISHED, LWS_CALLBACK_ESTABLISHED:
            link.wsi = wsi
            link.isOpen = true
            link.handler?(.opened)
            lws_callback_on_writable(wsi)
        case LWS_CALLBACK_CLIENT_RECEIVE, LWS_CALLBACK_RECEIVE: return received(link, wsi, bytes)
        case LWS_CALLBACK_CLIENT_RECEIVE_PONG, LWS_CALLBACK_RECEIVE_PONG: link.handler?(.pong)
        case LWS_CALLBACK_CLIENT_WRITEABLE, LWS_CALLBACK_SERVER_WRITEABLE: return write(link, wsi)
        case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
            if bytes.count >= 2 {
                let code = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
                link.closeFrame = (code, String(decoding: bytes.dropFirst(2), as: UTF8.self))
            } else {
                link.closeFrame = (1005, "")
            }
        case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
            link.wsi = nil
            let failure = Self.failure(String(decoding: bytes, as: UTF8.self), verifyError: link.verifyError)
            if failure.kind == .unreachable, !link.addresses.isEmpty {
                connectNext(link)
            } else {
                fail(link, failure)
            }
        case LWS_CALLBACK_CLIENT_CLOSED, LWS_CALLBACK_CLOSED, LWS_CALLBACK_WSI_DESTROY:
            guard reason != LWS_CALLBACK_WSI_DESTROY || link.wsi == wsi else { break }
            if link.isOpen {
                let frame = link.closeFrame ?? (1006, "")
                finish(link, .closed(code: frame.code, reason: frame.reason))
            } else if reason == LWS_CALLBACK_WSI_DESTROY {
                fail(link, WebSocketFailure(kind: .unreachable, detail: "the connection ended"))
            }
        default: break
        }
        return 0
    }

    /// A socket that we are done with: it may only finish its close frame.
    private func calledLate(_ wsi: OpaquePointer, _ reason: lws_callback_reasons, _ id: Int) -> Int32 {
        switch reason {
        case LWS_CALLBACK_CLIENT_WRITEABLE, LWS_CALLBACK_SERVER_WRITEABLE:
            if let (code, reason) = closing.removeValue(forKey: id) {
                var text = Array(reason.utf8.prefix(123))
                lws_close_reason(wsi, lws_close_status(UInt32(code)), &text, text.count)
            }
            return -1
        case LWS_CALLBACK_CLIENT_ESTABLISHED, LWS_CALLBACK_ESTABLISHED: return -1
        case LWS_CALLBACK_WSI_DESTROY: closing[id] = nil
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
        guard lws_is_final_fragment(wsi) != 0, lws_remaining_packet_payload(wsi) == 0 else { return 0 }
        let message = link.partial
        link.partial = []
        if lws_frame_is_binary(wsi) != 0 {
            link.handler?(.message(message))
        } else {
            link.handler?(.text(String(decoding: message, as: UTF8.self)))
        }
        return 0
    }

    private func write(_ link: Link, _ wsi: OpaquePointer) -> Int32 {
        guard let (item, more) = link.connection.take() else { return 0 }
        let (bytes, kind) =
            switch item {
            case .binary(let bytes): (bytes, LWS_WRITE_BINARY)
            case .text(let bytes): (bytes, LWS_WRITE_TEXT)
            case .ping: (Array("ftw".utf8), LWS_WRITE_PING)
            }
        var buffer = [UInt8](repeating: 0, count: Self.pre)
        buffer.append(contentsOf: bytes)
        let written = buffer.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let base = buffer.baseAddress else { return -1 }
            return lws_write(wsi, base + Self.pre, bytes.count, kind)
        }
        guard written >= 0 else { return -1 }
        if more { lws_callback_on_writable(wsi) }
        return 0
    }

    private static func failure(_ text: String, verifyError: Int32) -> WebSocketFailure {
        guard verifyError == 0 else {
            let detail = String(cString: X509_verify_cert_error_string(Int(verifyError)))
            let unknown = [
                X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
                X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
                X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_INVALID_CA,
            ]
            let host = [X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH]
            let kind: WebSocketFailure.Kind =
                host.contains(verifyError)
                ? .wrongHost : unknown.contains(verifyError) ? .unknownAuthority : .tlsFailed
            return WebSocketFailure(kind: kind, detail: detail)
        }
        let kind: WebSocketFailure.Kind =
            text.hasPrefix("HS:")
            ? .notAWebSocket : text.lowercased().contains("ssl") ? .tlsFailed : .unreachable
        return WebSocketFailure(kind: kind, detail: text)
    }
}

private func discardLine(_ level: Int32, _ line: UnsafePointer<CChar>?) {}

private func engineCallback(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
    _ input: UnsafeMutableRawPointer?, _ length: Int
) -> Int32 {
    guard let wsi, let context = lws_get_context(wsi), let owner = lws_context_user(context) else { return 0 }
    let engine = Unmanaged<WebSocketEngine>.fromOpaque(owner).takeUnretainedValue()
    // For the certificate callback the length is a flag and the input is no text.
    let isText = reason != LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION
    let bytes = UnsafeRawBufferPointer(start: input, count: input == nil || !isText ? 0 : length)
    return engine.called(wsi, reason, user, bytes, length)
}
