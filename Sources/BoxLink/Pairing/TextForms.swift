extension Collection<UInt8> {
    /// Two lower-case hex characters for each byte.
    public var hexText: String {
        var text = ""
        text.reserveCapacity(count * 2)
        for byte in self {
            text += byte < 16 ? "0" : ""
            text += String(byte, radix: 16)
        }
        return text
    }
}

extension StringProtocol {
    /// Without white space at both ends.
    var trimmingEdges: SubSequence {
        var rest = self[...]
        while rest.first?.isWhitespace == true { rest = rest.dropFirst() }
        while rest.last?.isWhitespace == true { rest = rest.dropLast() }
        return rest
    }
}
