/// The embedded parts of the HTML report; `bench/Sources/Results/HTMLReport.swift` puts them together.
public enum ReportPage {
    /// The page, with the places `{{style}}`, `{{results}}` and `{{script}}`.
    public static let html = PackageResources.report_html
    /// The page's style sheet.
    public static let style = PackageResources.report_css
    /// One script: the drawing of plots, the top of the page, then the page itself, which uses both.
    public static let script = PackageResources.plots_js + PackageResources.summary_js + PackageResources.report_js
}
