/// The embedded pages: the whole list of files the gateway serves, and nothing else can be asked for.
public enum WebPages {
    /// The files by URL path, each with its `Content-Type` and its bytes.
    public static let files: [String: (contentType: String, bytes: [UInt8])] = [
        "/": ("text/html; charset=utf-8", PackageResources.index_html),
        "/app.js": ("text/javascript; charset=utf-8", PackageResources.app_js),
        "/activity.js": ("text/javascript; charset=utf-8", PackageResources.activity_js),
        "/channel.js": ("text/javascript; charset=utf-8", PackageResources.channel_js),
        "/chat.js": ("text/javascript; charset=utf-8", PackageResources.chat_js),
        "/chat_thread.js": ("text/javascript; charset=utf-8", PackageResources.chat_thread_js),
        "/circle.js": ("text/javascript; charset=utf-8", PackageResources.circle_js),
        "/client.js": ("text/javascript; charset=utf-8", PackageResources.client_js),
        "/dj.js": ("text/javascript; charset=utf-8", PackageResources.dj_js),
        "/dom.js": ("text/javascript; charset=utf-8", PackageResources.dom_js),
        "/guest.js": ("text/javascript; charset=utf-8", PackageResources.guest_js),
        "/http.js": ("text/javascript; charset=utf-8", PackageResources.http_js),
        "/leaderboard.js": ("text/javascript; charset=utf-8", PackageResources.leaderboard_js),
        "/listening.js": ("text/javascript; charset=utf-8", PackageResources.listening_js),
        "/map.js": ("text/javascript; charset=utf-8", PackageResources.map_js),
        "/messages.js": ("text/javascript; charset=utf-8", PackageResources.messages_js),
        "/nearby.js": ("text/javascript; charset=utf-8", PackageResources.nearby_js),
        "/notices.js": ("text/javascript; charset=utf-8", PackageResources.notices_js),
        "/order.js": ("text/javascript; charset=utf-8", PackageResources.order_js),
        "/orders.js": ("text/javascript; charset=utf-8", PackageResources.orders_js),
        "/own_topic.js": ("text/javascript; charset=utf-8", PackageResources.own_topic_js),
        "/presence.js": ("text/javascript; charset=utf-8", PackageResources.presence_js),
        "/queue.js": ("text/javascript; charset=utf-8", PackageResources.queue_js),
        "/session.js": ("text/javascript; charset=utf-8", PackageResources.session_js),
        "/shop.js": ("text/javascript; charset=utf-8", PackageResources.shop_js),
        "/tabs.js": ("text/javascript; charset=utf-8", PackageResources.tabs_js),
        "/tracks.js": ("text/javascript; charset=utf-8", PackageResources.tracks_js),
        "/style.css": ("text/css; charset=utf-8", PackageResources.style_css),
        "/chat.css": ("text/css; charset=utf-8", PackageResources.chat_css),
        "/nearby.css": ("text/css; charset=utf-8", PackageResources.nearby_css),
        "/orders.css": ("text/css; charset=utf-8", PackageResources.orders_css),
        "/session.css": ("text/css; charset=utf-8", PackageResources.session_css),
        "/tabs.css": ("text/css; charset=utf-8", PackageResources.tabs_css),
        "/icon.svg": ("image/svg+xml", PackageResources.icon_svg),
        "/preview.svg": ("image/svg+xml", PackageResources.preview_svg),
    ]

    /// The `Content-Security-Policy` the pages are written for: own files, own WebSocket, nothing inline.
    public static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
