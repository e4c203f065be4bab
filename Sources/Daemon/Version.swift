/// What this program calls itself.
public enum Version {
    /// Semantic version of the bridge.
    public static let text = "0.1.0"
}
