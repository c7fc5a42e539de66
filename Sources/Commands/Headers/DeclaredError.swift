public import Core

/// A code that a script may fail with, and its HTTP status.
public struct DeclaredError: Equatable, Sendable {
    /// A code of ``ErrorCode``, or the script's own: `[a-z][a-z0-9_]{0,31}`.
    public let code: String
    /// The HTTP status: that of ``ErrorCode``, or 400...499 for a code of the script's own (default 409).
    public let status: Int

    /// The error of a code of ``ErrorCode``.
    public init(_ code: ErrorCode) {
        self.code = code.rawValue
        status = code.httpStatus
    }

    /// Reads `code` or `code STATUS`.
    init(header text: String) throws(HeaderFault) {
        let words = HeaderText.words(text)
        guard let code = words.first, words.count <= 2, HeaderText.isName(code, bytesMax: 32) else {
            throw HeaderFault("expected codes such as not_present 403, separated by commas")
        }
        self.code = code
        guard let known = ErrorCode(rawValue: code) else {
            let status = words.count == 2 ? ASCII.decimal(Array(words[1].utf8)) : 409
            guard let status, (400...499).contains(status) else {
                throw HeaderFault("the status of \(code) must be 400 to 499")
            }
            self.status = status
            return
        }
        guard words.count == 1 || words[1] == "\(known.httpStatus)" else {
            throw HeaderFault("\(code) is a code of the gateway and has the status \(known.httpStatus)")
        }
        status = known.httpStatus
    }
}
