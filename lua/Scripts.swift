/// The embedded Lua scripts, by name.
///
/// `lua/README.md` tells how a script is written and what is put around it when it is loaded; `Tests/LuaTests` checks
/// that every `.lua` file of the folder is listed here.
public enum Scripts {
    /// The text put in front of every script.
    public static let prelude: [UInt8] = PackageResources.prelude_lua

    /// The texts put after ``prelude`` in front of every command and refresh script, in their order.
    public static let commandPreludes: [(name: String, source: [UInt8])] = [
        ("writes", PackageResources.writes_lua),
        ("command", PackageResources.command_lua),
    ]

    /// Every script but the preludes: the file's name without `.lua`, and its bytes.
    public static let files: [(name: String, source: [UInt8])] = [
        ("add_points", PackageResources.add_points_lua),
        ("add_track", PackageResources.add_track_lua),
        ("around", PackageResources.around_lua),
        ("beat_shop", PackageResources.beat_shop_lua),
        ("beat_user", PackageResources.beat_user_lua),
        ("booking", PackageResources.booking_lua),
        ("booking_changed", PackageResources.booking_changed_lua),
        ("check_in", PackageResources.check_in_lua),
        ("check_in_code", PackageResources.check_in_code_lua),
        ("check_out", PackageResources.check_out_lua),
        ("create_booking", PackageResources.create_booking_lua),
        ("dj", PackageResources.dj_lua),
        ("end_booking", PackageResources.end_booking_lua),
        ("feed", PackageResources.feed_lua),
        ("follow", PackageResources.follow_lua),
        ("following", PackageResources.following_lua),
        ("history", PackageResources.history_lua),
        ("leaderboard_refresh", PackageResources.leaderboard_refresh_lua),
        ("lease", PackageResources.lease_lua),
        ("mark_all_read", PackageResources.mark_all_read_lua),
        ("mark_read", PackageResources.mark_read_lua),
        ("move_booking", PackageResources.move_booking_lua),
        ("my_votes", PackageResources.my_votes_lua),
        ("next_track", PackageResources.next_track_lua),
        ("notifications", PackageResources.notifications_lua),
        ("notify", PackageResources.notify_lua),
        ("online", PackageResources.online_lua),
        ("part_booking", PackageResources.part_booking_lua),
        ("part_code", PackageResources.part_code_lua),
        ("part_dj", PackageResources.part_dj_lua),
        ("part_dj_page", PackageResources.part_dj_page_lua),
        ("part_json", PackageResources.part_json_lua),
        ("part_pending", PackageResources.part_pending_lua),
        ("part_queue", PackageResources.part_queue_lua),
        ("part_rank", PackageResources.part_rank_lua),
        ("part_utc", PackageResources.part_utc_lua),
        ("position", PackageResources.position_lua),
        ("presence_count", PackageResources.presence_count_lua),
        ("presence_refresh", PackageResources.presence_refresh_lua),
        ("publish", PackageResources.publish_lua),
        ("publish_post", PackageResources.publish_post_lua),
        ("queue", PackageResources.queue_lua),
        ("queue_refresh", PackageResources.queue_refresh_lua),
        ("rank", PackageResources.rank_lua),
        ("remove_track", PackageResources.remove_track_lua),
        ("reset_epoch", PackageResources.reset_epoch_lua),
        ("renew", PackageResources.renew_lua),
        ("revoke", PackageResources.revoke_lua),
        ("rights_changes", PackageResources.rights_changes_lua),
        ("roster", PackageResources.roster_lua),
        ("set_barber", PackageResources.set_barber_lua),
        ("set_member", PackageResources.set_member_lua),
        ("set_shop", PackageResources.set_shop_lua),
        ("start_session", PackageResources.start_session_lua),
        ("state_booking", PackageResources.state_booking_lua),
        ("state_challenge", PackageResources.state_challenge_lua),
        ("state_dj", PackageResources.state_dj_lua),
        ("state_shop", PackageResources.state_shop_lua),
        ("stop_session", PackageResources.stop_session_lua),
        ("subscribe", PackageResources.subscribe_lua),
        ("top", PackageResources.top_lua),
        ("unfollow", PackageResources.unfollow_lua),
        ("user_pending", PackageResources.user_pending_lua),
        ("user_place", PackageResources.user_place_lua),
        ("vote", PackageResources.vote_lua),
    ]
}
