import Foundation
import SwiftUI
import SwitchboardClient

/// The queue of a shop's music, with votes: state, events, calls, errors and the app's life in three views.
///
/// It needs the gateway of `switchboard dev`, or your own at `address`, and a user's token.
@main struct ShopApp: App {
    private let client: SwitchboardClient

    init() {
        let environment = ProcessInfo.processInfo.environment
        let address = environment["SWITCHBOARD_URL"] ?? "wss://127.0.0.1:8443/ws"
        guard let url = URL(string: address) else { preconditionFailure("SWITCHBOARD_URL is no address.") }
        var options = SwitchboardClient.Options()
        let folders = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask)
        options.storage = folders.first.map { OutboxFile($0.appending(path: "votes")) }
        // An app asks its backend here, since a token ends: `.refreshing { _ in try await backend.token() }`.
        let token = environment["SWITCHBOARD_TOKEN"].map { TokenSource.fixed($0) } ?? .none
        client = SwitchboardClient(url: url, token: token, options: options)
    }

    var body: some Scene {
        WindowGroup {
            NavigationStack {
                VStack {
                    ConnectionView(client)
                    RoomView(client, shop: "demo")
                }
            }
            .pausesInBackground(client)
        }
    }
}

/// The queue of one shop.
struct RoomView: View {
    private let client: SwitchboardClient
    private let shop: String
    @State private var room: TopicModel<Room>
    @State private var failure: SwitchboardError?

    init(_ client: SwitchboardClient, shop: String) {
        self.client = client
        self.shop = shop
        _room = State(initialValue: TopicModel(client, "dj:\(shop)"))
    }

    var body: some View {
        List {
            ForEach(room.content.queue) { track in
                TrackRow(track: track) { vote(for: track) }
            }
        }
        .overlay {
            if let error = room.error {
                Text(error.localizedDescription)
            } else if room.isLive, !room.content.isActive {
                Text("No music is played now.")
            }
        }
        .disabled(!room.content.isActive)
        .navigationTitle("Queue")
        .refreshable { await room.refresh() }
        .alert(isPresented: isFailing, error: failure) { Button("OK") { failure = nil } }
        .task { await room.run() }
    }

    private var isFailing: Binding<Bool> { Binding(get: { failure != nil }, set: { if !$0 { failure = nil } }) }

    /// Votes by a call that waits in the outbox while there is no connection; its event changes the list.
    private func vote(for track: Track) {
        Task {
            do throws(SwitchboardError) {
                _ = try await client.call(Vote(shopId: shop, trackId: track.id), options: .kept())
            } catch {
                failure = error
            }
        }
    }
}

/// One track, and the button that votes for it.
struct TrackRow: View {
    let track: Track
    let vote: @MainActor () -> Void

    var body: some View {
        HStack {
            Text(track.trackName ?? track.trackId)
            Spacer()
            Button("\(track.score)", action: vote)
        }
    }
}
