import CWebSockets
import Glibc

/// What the engine needs of libwebsockets, and the only file that knows it.
///
/// Hosts and sockets are opaque pointers that never leave the loop's thread.
/// The library keeps a number per socket, never a pointer of ours, so a late
/// callback finds nothing instead of freed memory.
final class WebSocketLibrary {
    /// Wakes the socket thread; the one call that other threads may make.
    struct Waker: @unchecked Sendable {  // lws_cancel_service is made for being called from elsewhere
        fileprivate let context: OpaquePointer
        func wake() { lws_cancel_service(context) }
    }
    /// What the library reports about a socket. Bytes are only lent.
    enum Notice {
        /// Somebody connects to a listening host; nothing was said yet.
        case knocked
        /// A client asks to become a WebSocket: the last moment its headers can be read.
        case upgradeAsked
        case requested(path: String)
        case redirected
        case certificateRefused(error: Int32)
        case opened
        case received(UnsafeRawBufferPointer)
        case pong
        case writable
        case closeFrame(UnsafeRawBufferPointer)
        case connectFailed(String)
        case closed
        case destroyed
    }

    private static let name = "ftw"
    /// Room that the library wants in front of what it writes (LWS_PRE).
    private static let pre = 16

    private let protocolName: UnsafeMutablePointer<CChar>
    private let protocols: UnsafeMutablePointer<lws_protocols>
    private var context: OpaquePointer?
    /// Words of hosts. The library keeps the pointers of a host's name, interface and ALPN and not the
    /// bytes, and reads them as long as the host is there: with each socket that comes, for one.
    private var words: [UnsafeMutablePointer<CChar>] = []

    /// - Parameter owner: The engine, which gets every notice and outlives this.
    init?(owner: UnsafeMutableRawPointer) {
        guard let protocolName = strdup(Self.name) else { return nil }
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
        info.user = owner
        guard let context = lws_create_context(&info) else {
            release()
            return nil
        }
        self.context = context
    }

    var waker: Waker? { context.map { Waker(context: $0) } }

    /// Waits for the network or the waker, and reports what happened.
    func service() {
        if let context { lws_service(context, 0) }
    }

    /// Closes whatever is open, with its notices.
    func destroy() {
        if let context { lws_context_destroy(context) }
        context = nil
        release()
    }

    private func release() {
        protocols.deallocate()
        free(protocolName)
        for word in words { free(word) }
        words = []
    }

    /// The text for as long as the library lives; `nil` when there is no memory.
    private func kept(_ text: String) -> UnsafePointer<CChar>? {
        guard let word = strdup(text) else { return nil }
        words.append(word)
        return UnsafePointer(word)
    }

    private static func options(_ all: Int64...) -> UInt64 { all.reduce(0) { $0 | UInt64(bitPattern: $1) } }
    private static func options(_ all: Int...) -> UInt64 {
        all.reduce(0) { $0 | UInt64(bitPattern: Int64($1)) }
    }

    // MARK: hosts

    /// A host to dial from; each set of trusted authorities has its own.
    func clientHost(number: Int, caFile: String?) -> OpaquePointer? {
        var info = clientHostInfo()
        info.vhost_name = kept("client \(number)")
        info.http_proxy_address = kept("")  // none, whatever the environment says
        if let caFile {
            info.options |= Self.options(LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS)
            info.client_ssl_ca_filepath = kept(caFile)
        }
        return lws_create_vhost(context, &info)
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

    /// A host that listens; `nil` when it cannot.
    func serverHost(number: Int, settings: WebSocketServerSettings) -> OpaquePointer? {
        var info = lws_context_creation_info()
        info.port = Int32(clamping: settings.port)
        info.protocols = UnsafePointer(protocols)
        info.options = Self.options(LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND)
        if !settings.address.contains(":") { info.options |= Self.options(LWS_SERVER_OPTION_DISABLE_IPV6) }
        info.timeout_secs = 15
        let isSecure = settings.certificateFile != nil
        if isSecure { info.options |= Self.options(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT) }
        info.vhost_name = kept("server \(number)")
        info.iface = kept(settings.address)
        info.alpn = kept("http/1.1")
        if isSecure {
            info.ssl_cert_filepath = kept(settings.certificateFile ?? "")
            info.ssl_private_key_filepath = kept(settings.keyFile ?? "")
        }
        return lws_create_vhost(context, &info)
    }

    static func port(of host: OpaquePointer) -> Int { Int(lws_get_vhost_listen_port(host)) }

    // MARK: sockets

    /// Dials. When that fails at once, the notice has already come.
    func connect(_ dial: WebSocketLoop.Core.Dial, address: String, from host: OpaquePointer) -> OpaquePointer?
    {
        var wsi: OpaquePointer?
        address.withCString { address in
            dial.url.authority.withCString { authority in
                dial.connection.path.withCString { path in
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
                        info.opaque_user_data = UnsafeMutableRawPointer(bitPattern: dial.connection.id)
                        wsi = lws_client_connect_via_info(&info)
                    }
                }
            }
        }
        return wsi
    }

    static func host(of wsi: OpaquePointer) -> OpaquePointer? { lws_get_vhost(wsi) }
    static func id(of wsi: OpaquePointer) -> Int { Int(bitPattern: lws_get_opaque_user_data(wsi)) }
    static func setID(_ id: Int, of wsi: OpaquePointer) {
        lws_set_opaque_user_data(wsi, UnsafeMutableRawPointer(bitPattern: id))
    }
    /// The path of an upgrade, or nothing when it is longer than any of ours.
    static func path(of wsi: OpaquePointer) -> String { header(WSI_TOKEN_GET_URI, of: wsi) ?? "" }
    static func peer(of wsi: OpaquePointer) -> String {
        var peer = [CChar](repeating: 0, count: 64)
        lws_get_peer_simple(wsi, &peer, peer.count)
        return text(peer)
    }
    static func askForWritable(_ wsi: OpaquePointer) { lws_callback_on_writable(wsi) }
    /// A peer that reads nothing does not get to keep the socket.
    static func killSoon(_ wsi: OpaquePointer) { lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, 2) }
    static func kill(_ wsi: OpaquePointer) {
        lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC)
    }
    static func isMessageComplete(_ wsi: OpaquePointer) -> Bool {
        lws_is_final_fragment(wsi) != 0 && lws_remaining_packet_payload(wsi) == 0
    }
    static func isBinary(_ wsi: OpaquePointer) -> Bool { lws_frame_is_binary(wsi) != 0 }
    /// Sets the close frame that goes out when the writable notice is answered with −1.
    static func setCloseFrame(_ wsi: OpaquePointer, code: UInt16, reason: String) {
        var text = Array(reason.utf8.prefix(123))
        lws_close_reason(wsi, lws_close_status(UInt32(code)), &text, text.count)
    }

    static func write(_ item: WebSocketConnection.Item, to wsi: OpaquePointer) -> Bool {
        let (bytes, kind) =
            switch item {
            case .binary(let bytes): (bytes, LWS_WRITE_BINARY)
            case .text(let bytes): (bytes, LWS_WRITE_TEXT)
            // A ping without bytes would not be sent.
            case .ping: (Array(name.utf8), LWS_WRITE_PING)
            }
        var buffer = [UInt8](repeating: 0, count: pre)
        buffer.append(contentsOf: bytes)
        return buffer.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return false }
            return lws_write(wsi, base + pre, bytes.count, kind) >= 0
        }
    }

    static func answer(_ wsi: OpaquePointer, with answer: WebSocketServer.Answer) -> Int32 {
        let body = Array(answer.body.utf8)
        let room = 1_024
        var buffer = [UInt8](repeating: 0, count: pre + room + body.count)
        return buffer.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let base = buffer.baseAddress else { return -1 }
            let start = base + pre
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
    static func failure(_ text: String, verifyError: Int32) -> WebSocketFailure {
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
    let bytes = { UnsafeRawBufferPointer(start: input, count: input == nil ? 0 : length) }
    let notice: WebSocketLibrary.Notice
    switch reason {
    case LWS_CALLBACK_FILTER_NETWORK_CONNECTION: notice = .knocked
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: notice = .upgradeAsked
    case LWS_CALLBACK_HTTP: notice = .requested(path: String(decoding: bytes(), as: UTF8.self))
    case LWS_CALLBACK_CLIENT_HTTP_REDIRECT: notice = .redirected
    case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
        // Here the length says whether the certificate is good, and the user data is the check.
        guard length == 0, let user else { return 0 }
        notice = .certificateRefused(error: X509_STORE_CTX_get_error(OpaquePointer(user)))
    case LWS_CALLBACK_CLIENT_ESTABLISHED, LWS_CALLBACK_ESTABLISHED: notice = .opened
    case LWS_CALLBACK_CLIENT_RECEIVE, LWS_CALLBACK_RECEIVE: notice = .received(bytes())
    case LWS_CALLBACK_CLIENT_RECEIVE_PONG, LWS_CALLBACK_RECEIVE_PONG: notice = .pong
    case LWS_CALLBACK_CLIENT_WRITEABLE, LWS_CALLBACK_SERVER_WRITEABLE: notice = .writable
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE: notice = .closeFrame(bytes())
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        notice = .connectFailed(String(decoding: bytes(), as: UTF8.self))
    case LWS_CALLBACK_CLIENT_CLOSED, LWS_CALLBACK_CLOSED: notice = .closed
    case LWS_CALLBACK_WSI_DESTROY: notice = .destroyed
    default: return 0
    }
    return Unmanaged<WebSocketEngine>.fromOpaque(owner).takeUnretainedValue().noticed(wsi, notice)
}
