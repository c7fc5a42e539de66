/// Makes requests to outside services, and reports how each of them ended.
///
/// Thread: the courier's.
protocol WebClient: AnyObject {
    /// Makes a request; `completion` is called once, and never before this has returned.
    func send(_ request: WebRequest, _ completion: @escaping WebEngine.Completion)
    /// Ends everything; requests in flight or waiting fail as `stopped`.
    func stop()
}

extension WebEngine: WebClient {}
