"""What an app of QueueUp shows of a listening session, kept up to date by the events of its socket."""

SHARED = ("current_song", "queue", "skip_request_count", "participant_count", "last_skip_was_crowdsourced")


class Picture:
    """Begins with the answer of `sessions/current` and takes each event once, as they come."""

    def __init__(self, answer: dict):
        self.shown = {name: answer.get(name) for name in SHARED} | {"host": answer["session"]["host"]}

    def take(self, event: str, data: dict) -> None:
        """Takes an event; those of the chat and the like change nothing that is looked at here."""
        if event == "queue.updated":
            self.shown["queue"] = data["queue"]
        elif event == "now_playing.updated":
            self.shown["current_song"] = data.get("current_song")
        elif event == "session.updated":
            self.shown |= {name: data[name] for name in (*SHARED[2:], "host")}
        elif event == "votes.updated":
            self._vote(data["queued_song_id"], data["total_votes"])

    def _vote(self, song: str, votes: int) -> None:
        current = self.shown["current_song"]
        if current and current["id"] == song:
            self.shown["current_song"] = current | {"votes": votes}
        queue = [one | {"votes": votes} if one["id"] == song else one for one in self.shown["queue"]]
        self.shown["queue"] = sorted(queue, key=lambda one: (-one["votes"], one["added_at"]))

    def differs_from(self, answer: dict) -> dict:
        """What is shown otherwise than `sessions/current` answers; empty when nothing is."""
        told = Picture(answer).shown
        return {name: (self.shown[name], told[name]) for name in told if self.shown[name] != told[name]}
