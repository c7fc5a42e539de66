"""What the topics of a small shop answer to who joins them."""

STATUS = {
    "shopId": "demo", "queueLength": 4, "avgWaitTime": 34, "currentlyServing": 3,
    "estimatedWaitTimes": {"standard": 34, "blackCard": 13.6}, "updatedAt": "2026-11-21T10:20:05.123Z",
    "estimate": {"minutes": 30, "p50": 26, "p90": 48, "blackCard": {"p50": 10, "p90": 19}},
}
BOARD = {"challengeId": "demo", "top": [{"rank": 1, "userId": "maya", "score": 80},
                                        {"rank": 2, "userId": "omar", "score": 75}]}


def track(track_id, name, score, position=1, **more):
    """A queued track; `score` are up-votes alone when it is positive."""
    return {"trackId": track_id, "trackName": name, "artistName": "Band", "albumArt": "", "addedBy": "maya",
            "upvotes": max(score, 1), "downvotes": max(1 - score, 0) if score < 1 else 0, "score": score,
            "position": position, "addedAt": f"2026-11-21T10:00:0{position}.000Z", **more}


MUSIC = {
    "shopId": "demo", "isActive": True, "currentTrack": track("t0", "Opener", 5),
    "startedAt": "2026-11-21T10:00:00.000Z",
    "queue": [track("t1", "One", 3, 1), track("t2", "Two", 2, 2), track("t3", "Three", 0, 3)],
}
