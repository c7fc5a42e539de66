/// The embedded pages: the whole list of files that a gateway serves, and nothing else can be asked for.
///
/// The inspector lies in `inspector`, the demo beside it.
///
/// The build embeds what lies beside this file, and the client of `clients/js`, so nothing is listed here.
public enum WebPages {
    /// The files by URL path, each with its `Content-Type` and its bytes; `index.html` is at the path of its folder.
    public static let files: [String: (contentType: String, bytes: [UInt8])] = {
        var files: [String: (contentType: String, bytes: [UInt8])] = [:]
        for (path, text) in EmbeddedFiles.all {
            guard let ending = path.split(separator: ".").last, let type = contentTypes[String(ending)] else {
                preconditionFailure("web/\(path) is of no kind that pages are made of")
            }
            files[address(of: path)] = (type, Array(text.utf8))
        }
        return files
    }()

    /// The URL path of a file.
    private static func address(of path: String) -> String {
        let parts = path.split(separator: "/")
        return "/" + (parts.last == "index.html" ? parts.dropLast() : parts[...]).joined(separator: "/")
    }

    private static let contentTypes = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8", "svg": "image/svg+xml",
    ]

    /// The rights of a page with frames.
    ///
    /// A page of another origin may never show one of these.
    public enum Frames: String, Sendable {
        /// Nothing.
        case none = "frame-ancestors 'none'"
        /// It shows pages of its own origin.
        case framesOwn = "frame-src 'self'; frame-ancestors 'none'"
        /// It is shown by pages of its own origin.
        case framedByOwn = "frame-ancestors 'self'"
    }

    /// The `Content-Security-Policy` the pages are written for: own files, own WebSocket, nothing inline.
    public static func contentSecurityPolicy(_ frames: Frames) -> String {
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
            + "base-uri 'none'; form-action 'none'; " + frames.rawValue
    }
}
