import Glibc

extension StateFolder {
    /// What to do where a folder is missing that this user may not make.
    ///
    /// - Returns: `nil` when the user may make it: then there is nothing to do.
    public static func remedy(toMake path: String) -> String? {
        var parent = path[...]
        while let slash = parent.lastIndex(of: "/") {
            parent = parent[..<slash]
            let above = parent.isEmpty ? "/" : String(parent)
            if access(above, F_OK) == 0 { return access(above, W_OK | X_OK) == 0 ? nil : remedy(path) }
            if SystemText.isDenial(errno) { return remedy(path) }
            if parent.isEmpty { return nil }
        }
        return nil
    }

    /// The folder made by the one who may, for the one who runs this.
    static func remedy(_ path: String) -> String {
        "make it once as root: install -d -o \(SystemText.user(geteuid())) -g \(SystemText.group(getegid())) "
            + "-m 700 \(path)"
    }
}
