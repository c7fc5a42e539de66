/// The embedded parts of the HTML report; `bench/Sources/Results/HTMLReport.swift` puts them together.
public enum ReportPage {
    /// The page, with the places `{{style}}`, `{{results}}` and `{{script}}`.
    public static let html = PackageResources.report_html
    public static let style = PackageResources.report_css
    /// The drawing of plots, then the page that uses it; one script.
    public static let script = PackageResources.plots_js + PackageResources.report_js
}
