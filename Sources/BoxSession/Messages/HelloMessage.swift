import BoxLink

/// `hello`: the first frame of every session (FTW wire §6.1).
struct HelloMessage: Equatable {
    static let type = Contract.MessageType.hello.rawValue
    var protoMin = Contract.Session.protoMin
    var protoMax = Contract.Session.protoMax
    var build: String
    var userAgent = "native"
    var locales: [String] = ["en"]
    /// The first subscription, folded in; boxes older than that ignore it.
    var sub: SubMessage?

    init(build: String, sub: SubMessage?) {
        self.build = build
        self.sub = sub
    }

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        let proto = try MessageBody(body.required("proto"))
        protoMin = try proto.int("min")
        protoMax = try proto.int("max")
        let app = try MessageBody(body.required("app"))
        build = try app.text("build")
        userAgent = try app.text("ua")
        locales = try body.optionalTexts("locales") ?? []
        if let folded = body.optional("sub") { sub = try SubMessage(body: folded) }
    }

    var body: CBORValue {
        var builder = BodyBuilder()
        builder.add("proto", ["min": .int(protoMin), "max": .int(protoMax)])
        builder.add("app", ["build": .text(build), "ua": .text(userAgent)])
        builder.add("locales", CBORValue(texts: locales))
        builder.add("sub", sub?.body)
        return builder.value
    }
}
