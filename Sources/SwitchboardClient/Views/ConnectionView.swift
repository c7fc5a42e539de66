// Linux checks the types against a stand-in for SwiftUI (scripts/client-package.sh).
#if canImport(SwiftUI)
    public import SwiftUI

    /// A text that shows the phase of a client's connection; empty while it is open.
    public struct ConnectionView: View {
        private let client: SwitchboardClient
        @State private var phase = ConnectionStatus.Phase.stopped

        /// The view of a client.
        public init(_ client: SwitchboardClient) { self.client = client }

        /// The view.
        public var body: some View {
            Text(phase == .open ? "" : phase.rawValue)
                .task { for await status in client.status { phase = status.phase } }
        }
    }
#endif
