/// The short id of a household, which its topics, its files and the command line share.
public enum SiteID {
    /// For people, after "an id is".
    public static let rule = "1 to 32 of a-z, 0-9 and -, without - at either end"

    /// Whether that may be one: a plain topic level and a plain part of a file's name.
    public static func isValid(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count) && !text.hasPrefix("-") && !text.hasSuffix("-")
            && text.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
            }
    }
}
