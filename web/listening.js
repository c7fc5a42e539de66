// A listening session as one of its users knows it. Pure: no page, no connection, no clock.
import { count, text } from '/dom.js';

export class Listening {
  id;
  code;
  host;
  current = null;
  queue = [];
  /** The user's own votes: song's id -> 1 or -1. */
  votes;
  people;
  skips;
  hasAskedToSkip;
  wasSkippedByCrowd;
  /** Known from the first `session.updated` on. */
  isLocked = null;

  /** Takes the answer of `sessions/current`. */
  constructor(told) {
    this.id = text(told?.session?.id, 128);
    this.code = text(told?.session?.join_code, 20);
    this.host = person(told?.session?.host);
    this.current = song(told?.current_song);
    this.votes = new Map(Object.entries(told?.my_votes ?? {}).filter(([, value]) => value === 1 || value === -1));
    this.people = count(told?.participant_count) ?? 1;
    this.skips = count(told?.skip_request_count) ?? 0;
    this.hasAskedToSkip = told?.user_requested_skip === true;
    this.wasSkippedByCrowd = told?.last_skip_was_crowdsourced === true;
    this.#replace(told?.queue);
  }

  /** Takes an event of the session; false for one that is none of these. */
  take(event, told) {
    switch (event) {
      case 'queue.updated':
        this.#replace(told.queue);
        return true;
      case 'votes.updated':
        this.voted(told.queued_song_id, told.total_votes);
        return true;
      case 'now_playing.updated':
        this.current = song(told.current_song);
        // Requests to skip end with the song.
        this.hasAskedToSkip = false;
        return true;
      case 'session.updated':
        this.people = count(told.participant_count) ?? this.people;
        this.skips = count(told.skip_request_count) ?? this.skips;
        this.isLocked = told.is_locked === true;
        this.wasSkippedByCrowd = told.last_skip_was_crowdsourced === true;
        if (told.host !== undefined) this.host = person(told.host);
        return true;
    }
    return false;
  }

  /** A song has other votes; the order is by votes, then by when it was added. */
  voted(id, total) {
    const votes = count(total);
    if (votes === null) return;
    for (const one of [this.current, ...this.queue]) if (one?.id === id) one.votes = votes;
    this.queue.sort((one, other) => other.votes - one.votes || (one.addedAt < other.addedAt ? -1 : 1));
  }

  /** The user's own vote on a song: 1, -1 or 0. */
  voteOn(id) {
    return this.votes.get(id) ?? 0;
  }

  /** Notes the user's own vote. */
  vote(id, value) {
    if (value === 0) this.votes.delete(id);
    else this.votes.set(id, value);
  }

  /** How many must ask, so that more than half have. */
  get skipsWanted() {
    return Math.floor(this.people / 2) + 1;
  }

  #replace(queue) {
    this.queue = (Array.isArray(queue) ? queue : []).map(song).filter((one) => one !== null);
  }
}

function person(told) {
  return { id: text(told?.id, 128), name: text(told?.username, 60) || text(told?.id, 128) };
}

function song(told) {
  if (typeof told?.id !== 'string') return null;
  const artists = Array.isArray(told.song?.artists) ? told.song.artists.join(', ') : told.song?.artists;
  return {
    id: told.id, name: text(told.song?.name) || told.id, artists: text(artists), votes: count(told.votes) ?? 0,
    addedAt: text(told.added_at, 40), addedBy: person(told.added_by),
  };
}
