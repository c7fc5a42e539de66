/// The embedded parts of the HTML report; `bench/Sources/Results/HTMLReport.swift` puts them together.
public enum ReportPage {
    /// The page, with the places `{{style}}`, `{{results}}` and `{{script}}`.
    public static let html = text(of: "report.html")
    /// The page's style sheet.
    public static let style = text(of: "report.css")
    /// One script: the drawing of plots, the top of the page, then the page itself, which uses both.
    public static let script = text(of: "plots.js") + text(of: "summary.js") + text(of: "report.js")

    private static func text(of path: String) -> String {
        guard let file = EmbeddedFiles.all.first(where: { $0.path == path }) else {
            preconditionFailure("bench/report/\(path) is not embedded")
        }
        return file.text
    }
}
