// Linux checks the types against a stand-in for SwiftUI (scripts/client-package.sh).
#if canImport(SwiftUI)
    public import SwiftUI

    /// A line that says why there is no connection; empty while there is one.
    public struct ConnectionView: View {
        private let client: SwitchboardClient
        @State private var status = ConnectionStatus()

        /// The view of a client.
        public init(_ client: SwitchboardClient) { self.client = client }

        /// The view.
        public var body: some View {
            Text(status.isReady ? "" : status.reason?.errorDescription ?? status.phase.title)
                .task { for await status in client.status { self.status = status } }
        }
    }
#endif
