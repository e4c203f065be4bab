import CMosquitto
import Glibc
import MQTTTypes

/// One libmosquitto client for one connection. The only file that knows the library.
///
/// Made, used and destroyed on the network thread, so nothing here is locked and
/// the library runs in its single-threaded mode. A new one for each connection:
/// the library keeps QoS 1 messages it could not deliver and would send them,
/// old as they are, in front of everything published after a reconnect.
final class MosquittoHandle {
    /// What the library reported; collected by the callbacks, taken by the loop.
    enum Report {
        case accepted(maximumPacketBytes: Int?)
        case refused(reason: UInt8)
        /// DISCONNECT with a reason from MQTT 5.0 §3.14.2.1.
        case dismissed(reason: UInt8)
        /// QoS 0: written. QoS 1: acknowledged, with the broker's reason.
        case published(id: Int32, reason: UInt8)
        case subscribed(id: Int32, granted: [Bool])
        case message(Message)
        /// Larger than we read, or without a readable topic.
        case unreadableMessage
    }

    enum Status: Equatable {
        case ok
        case lost
        case tls
        case keepAlive
        case nameUnknown
        case system(errno: Int32)
        case other(String)
    }

    enum Handing {
        case taken(id: Int32)
        case oversize
        /// This message cannot be sent; others can.
        case impossible(String)
        case lost(Status)
    }

    private let handle: OpaquePointer
    private let settings: MQTTSettings
    private let version: BrokerSession.Version
    fileprivate var reports: [Report] = []
    /// What the library complained about, for telling TLS failures apart.
    fileprivate(set) var complaints: [String] = []
    fileprivate let payloadLimit: Int

    /// libmosquitto counts its users; it is initialised once and stays.
    private static let library: Int32 = mosquitto_lib_init()

    /// - Returns: `nil` when the machine has no memory or the client id is not valid.
    init?(settings: MQTTSettings, version: BrokerSession.Version) {
        guard Self.library == MOSQ_ERR_SUCCESS.rawValue,
            let handle = mosquitto_new(settings.clientID, true, nil)
        else { return nil }
        self.handle = handle
        self.settings = settings
        self.version = version
        payloadLimit = settings.bounds.inboundPacketBytes
        mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
        let number = version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
        mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, number)
        mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1)
        mosquitto_int_option(handle, MOSQ_OPT_SEND_MAXIMUM, Int32(clamping: settings.bounds.inFlight))
        mosquitto_connect_v5_callback_set(handle, onConnect)
        mosquitto_disconnect_v5_callback_set(handle, onDisconnect)
        mosquitto_publish_v5_callback_set(handle, onPublish)
        mosquitto_subscribe_v5_callback_set(handle, onSubscribe)
        mosquitto_message_v5_callback_set(handle, onMessage)
        mosquitto_log_callback_set(handle, onLog)
    }

    deinit { mosquitto_destroy(handle) }

    /// The library's socket; -1 when there is none.
    var socket: Int32 { mosquitto_socket(handle) }

    /// Whether bytes wait in the library for the socket to take them.
    var wantsToWrite: Bool { mosquitto_want_write(handle) }

    func takeReports() -> [Report] {
        defer { reports.removeAll(keepingCapacity: true) }
        return reports
    }

    /// Starts connecting and returns before the broker has answered.
    ///
    /// Not with `mosquitto_connect`, which waits for the network's own timeout,
    /// two minutes and more for an address that swallows everything. The
    /// function that does not wait takes no CONNECT properties; a call that
    /// fails at once, with a path that is no socket, leaves them with the library.
    ///
    /// - Parameter bind: An address of the family to use, or `nil` for any.
    func connect(bind: String?) -> Status {
        if let failure = prepare() { return failure }
        if version == .v5 {
            var properties: OpaquePointer?
            defer { mosquitto_property_free_all(&properties) }
            mosquitto_property_add_int32(
                &properties, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue),
                UInt32(clamping: settings.bounds.inboundPacketBytes))
            _ = mosquitto_connect_bind_v5(handle, "/dev/null", 0, keepAlive, nil, properties)
        }
        return status(
            mosquitto_connect_bind_async(handle, settings.host, Int32(settings.port), keepAlive, bind))
    }

    func read() -> Status { status(mosquitto_loop_read(handle, 1)) }
    func write() -> Status { status(mosquitto_loop_write(handle, 1)) }
    /// Pings and notices a ping without answer; to be called each second.
    func tick() -> Status { status(mosquitto_loop_misc(handle)) }

    func publish(_ message: Message) -> Handing {
        var properties: OpaquePointer?
        defer { mosquitto_property_free_all(&properties) }
        if version == .v5, let failure = addProperties(of: message, to: &properties) {
            return .impossible(failure)
        }
        var id: Int32 = 0
        let rc = mosquitto_publish_v5(
            handle, &id, message.topic, Int32(clamping: message.payload.count), message.payload,
            Int32(message.qos.rawValue), message.retained, properties)
        switch rc {
        case MOSQ_ERR_SUCCESS.rawValue: return .taken(id: id)
        case MOSQ_ERR_OVERSIZE_PACKET.rawValue, MOSQ_ERR_PAYLOAD_SIZE.rawValue: return .oversize
        case MOSQ_ERR_INVAL.rawValue, MOSQ_ERR_MALFORMED_UTF8.rawValue, MOSQ_ERR_NOT_SUPPORTED.rawValue,
            MOSQ_ERR_QOS_NOT_SUPPORTED.rawValue, MOSQ_ERR_RETAIN_NOT_SUPPORTED.rawValue:
            return .impossible(words(rc))
        default: return .lost(status(rc))
        }
    }

    /// One SUBSCRIBE packet for all filters.
    ///
    /// - Returns: Its packet id, or `nil` when it could not be sent.
    func subscribe(_ filters: [String], withOwnMessages: Bool = false) -> Int32? {
        var pointers: [UnsafeMutablePointer<CChar>?] = filters.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        guard !pointers.contains(where: { $0 == nil }) else { return nil }
        var id: Int32 = 0
        let noLocal = version == .v5 && settings.ignoresOwnMessages && !withOwnMessages
        var options = noLocal ? MQTT_SUB_OPT_NO_LOCAL.rawValue : 0
        if version == .v5, settings.seesRetainFlag { options |= MQTT_SUB_OPT_RETAIN_AS_PUBLISHED.rawValue }
        let rc = mosquitto_subscribe_multiple(
            handle, &id, Int32(clamping: filters.count), &pointers, 1, Int32(options), nil)
        return rc == MOSQ_ERR_SUCCESS.rawValue ? id : nil
    }

    /// Says goodbye, so that the broker does not publish our will.
    func disconnect() { _ = mosquitto_disconnect_v5(handle, 0, nil) }

    private var keepAlive: Int32 { Int32(min(max(settings.keepAliveSeconds, 5), 65_535)) }

    private func prepare() -> Status? {
        if let credentials = settings.credentials {
            let rc = mosquitto_username_pw_set(handle, credentials.user, credentials.password)
            if rc != MOSQ_ERR_SUCCESS.rawValue { return .other("the user name is not usable") }
        }
        if let tls = settings.tls, let failure = prepare(tls) { return failure }
        guard let will = settings.will?.message else { return nil }
        var properties: OpaquePointer?
        if version == .v5, let failure = addProperties(of: will, to: &properties) { return .other(failure) }
        let rc = mosquitto_will_set_v5(
            handle, will.topic, Int32(clamping: will.payload.count), will.payload, Int32(will.qos.rawValue),
            will.retained, properties)
        guard rc != MOSQ_ERR_SUCCESS.rawValue else { return nil }  // the library owns the list now
        mosquitto_property_free_all(&properties)
        return .other("the will is not usable: \(words(rc))")
    }

    private func prepare(_ tls: MQTTEncryption) -> Status? {
        let certificate = tls.certificate
        if tls.caFile == nil { mosquitto_int_option(handle, Int32Option.systemAuthorities, 1) }
        if tls.caFile != nil || certificate != nil {
            // With a certificate of our own the library wants a place for authorities
            // named; an empty folder adds none to the system's.
            let folder: String? = tls.caFile == nil ? "/var/empty" : nil
            let rc = mosquitto_tls_set(
                handle, tls.caFile, folder, certificate?.certificateFile, certificate?.keyFile, noPassphrase)
            if rc != MOSQ_ERR_SUCCESS.rawValue { return .other("TLS settings: \(words(rc))") }
        }
        mosquitto_tls_insecure_set(handle, false)
        let rc = mosquitto_tls_opts_set(handle, 1, nil, nil)
        return rc == MOSQ_ERR_SUCCESS.rawValue ? nil : .other("TLS settings: \(words(rc))")
    }

    private enum Int32Option {
        static let systemAuthorities = MOSQ_OPT_TLS_USE_OS_CERTS
    }

    /// - Returns: Why a property cannot be sent, or `nil`.
    private func addProperties(of message: Message, to list: inout OpaquePointer?) -> String? {
        if let seconds = message.expirySeconds {
            let rc = mosquitto_property_add_int32(
                &list, Int32(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL.rawValue), seconds)
            if rc != MOSQ_ERR_SUCCESS.rawValue { return "expiry: \(words(rc))" }
        }
        if let topic = message.responseTopic {
            let rc = mosquitto_property_add_string(&list, Int32(MQTT_PROP_RESPONSE_TOPIC.rawValue), topic)
            if rc != MOSQ_ERR_SUCCESS.rawValue { return "response topic: \(words(rc))" }
        }
        if let bytes = message.correlationData {
            guard let count = UInt16(exactly: bytes.count) else { return "correlation data is too long" }
            let rc = mosquitto_property_add_binary(
                &list, Int32(MQTT_PROP_CORRELATION_DATA.rawValue), bytes, count)
            if rc != MOSQ_ERR_SUCCESS.rawValue { return "correlation data: \(words(rc))" }
        }
        return nil
    }

    private func status(_ rc: Int32) -> Status {
        let number = errno
        return switch rc {
        case MOSQ_ERR_SUCCESS.rawValue, MOSQ_ERR_CONN_PENDING.rawValue: .ok
        case MOSQ_ERR_NO_CONN.rawValue, MOSQ_ERR_CONN_LOST.rawValue, MOSQ_ERR_CONN_REFUSED.rawValue: .lost
        case MOSQ_ERR_TLS.rawValue, MOSQ_ERR_TLS_HANDSHAKE.rawValue: .tls
        case MOSQ_ERR_KEEPALIVE.rawValue: .keepAlive
        case MOSQ_ERR_EAI.rawValue: .nameUnknown
        case MOSQ_ERR_ERRNO.rawValue: .system(errno: number)
        default: .other(words(rc))
        }
    }

    private func words(_ rc: Int32) -> String {
        mosquitto_strerror(rc).map { String(cString: $0) } ?? "error \(rc)"
    }

    fileprivate var is5: Bool { version == .v5 }
}

// Callbacks: file-scope functions, since a closure written in an isolated place
// would carry that isolation into the library's thread and stop the program there.

private func owner(_ context: UnsafeMutableRawPointer?) -> MosquittoHandle? {
    context.map { Unmanaged<MosquittoHandle>.fromOpaque($0).takeUnretainedValue() }
}

private func onConnect(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ reason: Int32, _: Int32,
    _ properties: OpaquePointer?
) {
    guard let handle = owner(context) else { return }
    guard reason == 0 else {
        let code = UInt8(truncatingIfNeeded: reason)
        handle.reports.append(.refused(reason: code < 0x80 ? Reason.from311(code) : code))
        return
    }
    var limit: UInt32 = 0
    let found = mosquitto_property_read_int32(
        properties, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue), &limit, false)
    handle.reports.append(.accepted(maximumPacketBytes: found != nil && limit > 0 ? Int(limit) : nil))
}

private func onDisconnect(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ reason: Int32, _: OpaquePointer?
) {
    // Below 0x80 are the library's own error numbers; those come back from the loop too.
    guard let handle = owner(context), handle.is5, (0x80...0xFF).contains(reason) else { return }
    handle.reports.append(.dismissed(reason: UInt8(truncatingIfNeeded: reason)))
}

private func onPublish(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ id: Int32, _ reason: Int32, _: OpaquePointer?
) {
    owner(context)?.reports.append(.published(id: id, reason: UInt8(truncatingIfNeeded: reason)))
}

private func onSubscribe(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ id: Int32, _ count: Int32,
    _ codes: UnsafePointer<Int32>?, _: OpaquePointer?
) {
    guard let handle = owner(context) else { return }
    let granted = UnsafeBufferPointer(start: codes, count: max(0, Int(count))).map { $0 <= 2 }
    handle.reports.append(.subscribed(id: id, granted: granted))
}

private func onMessage(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ incoming: UnsafePointer<mosquitto_message>?,
    _ properties: OpaquePointer?
) {
    guard let handle = owner(context), let incoming = incoming?.pointee else { return }
    guard let name = incoming.topic, let topic = String(validatingCString: name),
        Int(incoming.payloadlen) + topic.utf8.count <= handle.payloadLimit
    else {
        handle.reports.append(.unreadableMessage)
        return
    }
    var message = Message(
        topic,
        Array(UnsafeRawBufferPointer(start: incoming.payload, count: max(0, Int(incoming.payloadlen)))),
        qos: incoming.qos == 0 ? .atMostOnce : .atLeastOnce, retained: incoming.retain)
    readProperties(properties, into: &message)
    handle.reports.append(.message(message))
}

private func readProperties(_ list: OpaquePointer?, into message: inout Message) {
    guard let list else { return }
    var seconds: UInt32 = 0
    if mosquitto_property_read_int32(
        list, Int32(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL.rawValue), &seconds, false) != nil
    {
        message.expirySeconds = seconds
    }
    var text: UnsafeMutablePointer<CChar>?
    if mosquitto_property_read_string(list, Int32(MQTT_PROP_RESPONSE_TOPIC.rawValue), &text, false) != nil {
        message.responseTopic = text.flatMap { String(validatingCString: $0) }
        free(text)
    }
    var bytes: UnsafeMutableRawPointer?
    var count: UInt16 = 0
    if mosquitto_property_read_binary(
        list, Int32(MQTT_PROP_CORRELATION_DATA.rawValue), &bytes, &count, false) != nil
    {
        message.correlationData = Array(
            UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count)))
        free(bytes)
    }
}

private func onLog(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ level: Int32, _ line: UnsafePointer<CChar>?
) {
    guard let handle = owner(context), let line, level & (MOSQ_LOG_ERR | MOSQ_LOG_WARNING) != 0,
        handle.complaints.count < 16
    else { return }
    handle.complaints.append(String(cString: line))
}

/// A key with a passphrase cannot be used: without this OpenSSL would ask for
/// it on the terminal and wait.
private func noPassphrase(
    _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 { 0 }
