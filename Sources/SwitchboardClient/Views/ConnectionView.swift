// Linux checks the types against a stand-in for SwiftUI (scripts/client-package.sh).
#if canImport(SwiftUI)
    public import SwiftUI

    /// A line that tells how a client's connection stands; empty while all is well.
    public struct ConnectionView: View {
        private let client: SwitchboardClient
        @State private var phase = Status.Phase.stopped

        /// The line of a client.
        public init(_ client: SwitchboardClient) { self.client = client }

        /// The view.
        public var body: some View {
            Text(phase == .open ? "" : phase.rawValue)
                .task { for await status in client.status { phase = status.phase } }
        }
    }
#endif
