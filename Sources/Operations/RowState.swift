/// The state of one row of readiness, as a watch reports it.
public struct RowState: Equatable, Sendable {
    /// The severity of a broken promise.
    public enum Severity: String, Sendable {
        /// The promise holds.
        case fine
        /// The promise is broken on all nodes alike; `/readyz` stays 200 and lists a warning.
        case warned
        /// This node cannot deliver or cannot check rights; `/readyz` answers 503.
        case red

        /// The name in `/v1/health`.
        public var label: String { rawValue }
    }

    /// A name and a value: a field of the log line and of `/v1/health`.
    public struct Figure: Equatable, Sendable {
        /// The field's name in the log line and in JSON.
        public let name: String
        /// The value as text; numbers are decimal.
        public let value: String
    }

    /// The effect on readiness.
    public let severity: Severity
    /// One word for the cause; empty where a row has only one.
    ///
    /// A new cause is logged again.
    public var cause = ""
    /// The log line; `nil`: that of the row.
    var line: String?
    /// The operator's mend; `nil`: that of the row.
    var mend: String?
    /// When the state began, milliseconds since 1970; `nil`: when the table received it.
    var sinceMs: Int?
    /// The figures behind the state, which may change while the state stays.
    public var figures: [Figure] = []

    /// The promise holds.
    public static func fine(figures: [(String, String)] = []) -> RowState { RowState(.fine, figures) }

    /// The promise is broken on all nodes alike.
    public static func warned(
        _ cause: String = "", mend: String? = nil, line: String? = nil, figures: [(String, String)] = []
    )
        -> RowState
    {
        RowState(.warned, cause: cause, mend: mend, line: line, figures)
    }

    /// This node cannot deliver or cannot check rights.
    public static func red(
        _ cause: String = "", mend: String? = nil, line: String? = nil, figures: [(String, String)] = []
    )
        -> RowState
    {
        RowState(.red, cause: cause, mend: mend, line: line, figures)
    }

    private init(
        _ severity: Severity, cause: String = "", mend: String? = nil, line: String? = nil,
        _ figures: [(String, String)]
    ) {
        self.severity = severity
        self.cause = cause
        self.mend = mend
        self.line = line
        self.figures = figures.map { Figure(name: $0.0, value: $0.1) }
    }

    /// Whether a change from another state to this one is logged: a change of figures alone is not.
    func isNews(after before: RowState) -> Bool { severity != before.severity || cause != before.cause }
}
