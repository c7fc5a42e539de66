// The music queue as the server told it, and as this guest sees it with the own votes that are still on their way.
//
// Pure: no page, no connection, no clock.

const weight = { up: 1, down: -1, none: 0 };

export class Tracks {
  /** As the server told it, in its order. */
  #queue = [];
  /** The guest's votes as the server knows them: trackId -> up | down. */
  #votes = new Map();
  /**
   * Votes on their way: trackId -> {vote, from, isCounted}. `from` is what the scores hold already; `isCounted` once
   * an update came that may hold the vote.
   */
  #pending = new Map();

  playing = null;
  isActive = false;

  /** Takes the state of a session. */
  replace(state) {
    this.isActive = state?.isActive === true;
    this.playing = checked(state?.currentTrack);
    this.#queue = (Array.isArray(state?.queue) ? state.queue : []).map(checked).filter((track) => track !== null);
    for (const pending of this.#pending.values()) pending.isCounted = true;
  }

  /** Takes all of the guest's votes. */
  replaceVotes(votes) {
    this.#votes = new Map(Object.entries(votes ?? {}).filter(([, vote]) => vote === 'up' || vote === 'down'));
  }

  /** A track was queued. */
  add(track) {
    const added = checked(track);
    if (added === null) return;
    this.#take(added.trackId);
    this.#insert(added, track.position);
  }

  /** A track has other votes, and perhaps another place. */
  update(standing) {
    const track = this.#queue.find(({ trackId }) => trackId === standing.trackId);
    const pending = this.#pending.get(standing.trackId);
    if (pending !== undefined) pending.isCounted = true;
    if (track === undefined || !hasVotes(standing)) return;
    this.#take(track.trackId);
    const { upvotes, downvotes, score } = standing;
    this.#insert({ ...track, upvotes, downvotes, score }, standing.position);
  }

  /** A track that is queued has other words than before. */
  describe(track) {
    const described = checked(track);
    const index = this.#queue.findIndex(({ trackId }) => trackId === described?.trackId);
    if (index < 0) return;
    const { trackName, artistName } = described;
    this.#queue[index] = { ...this.#queue[index], trackName, artistName };
  }

  /** A track was taken out. */
  remove(trackId) {
    this.#take(trackId);
    this.#votes.delete(trackId);
    this.#pending.delete(trackId);
  }

  /** A track left the queue and plays; without one nothing plays. */
  play(track) {
    this.playing = checked(track);
    if (this.playing !== null) this.remove(this.playing.trackId);
  }

  /** The guest votes; shown at once. */
  vote(trackId, vote) {
    const before = this.#pending.get(trackId);
    const isOpen = before !== undefined && !before.isCounted;
    const from = isOpen ? before.from : this.voteOn(trackId);
    this.#pending.set(trackId, { vote, from, isCounted: false });
  }

  /** The server took the vote; true when its update has not been seen yet. */
  accepted(trackId, vote, standing) {
    if (vote === 'none') this.#votes.delete(trackId);
    else this.#votes.set(trackId, vote);
    const pending = this.#pending.get(trackId);
    if (pending === undefined || pending.vote !== vote) return false;
    const track = this.#queue.find((other) => other.trackId === trackId);
    const isSeen = track === undefined
      || (track.upvotes === standing?.upvotes && track.downvotes === standing?.downvotes);
    if (pending.isCounted || isSeen) {
      this.#pending.delete(trackId);
      return false;
    }
    return true;
  }

  /** Forgets a vote on its way: refused, or its update never came. */
  settle(trackId) {
    this.#pending.delete(trackId);
  }

  /** The guest's vote on a track: up, down or none. */
  voteOn(trackId) {
    return this.#pending.get(trackId)?.vote ?? this.#votes.get(trackId) ?? 'none';
  }

  /** The queue as the guest sees it, in order, each with its position. */
  get shown() {
    const shown = [...this.#queue];
    for (const [trackId, { vote, from, isCounted }] of this.#pending) {
      const index = shown.findIndex((track) => track.trackId === trackId);
      if (index < 0 || isCounted) continue;
      const [track] = shown.splice(index, 1);
      const moved = {
        ...track,
        upvotes: track.upvotes + (vote === 'up') - (from === 'up'),
        downvotes: track.downvotes + (vote === 'down') - (from === 'down'),
        score: track.score + weight[vote] - weight[from],
      };
      const place = shown.findIndex((other) => isBefore(moved, other));
      shown.splice(place < 0 ? shown.length : place, 0, moved);
    }
    return shown.map((track, index) => ({ ...track, position: index + 1 }));
  }

  #take(trackId) {
    const index = this.#queue.findIndex((track) => track.trackId === trackId);
    if (index >= 0) this.#queue.splice(index, 1);
  }

  /** Puts a track where the server says it stands. */
  #insert(track, position) {
    const isPlaced = Number.isInteger(position) && position >= 1 && position <= this.#queue.length + 1;
    this.#queue.splice(isPlaced ? position - 1 : this.#queue.length, 0, track);
  }
}

/** The server's order: the higher score, then the earlier added. */
function isBefore(one, other) {
  return one.score === other.score ? one.addedAt < other.addedAt : one.score > other.score;
}

function hasVotes({ upvotes, downvotes, score }) {
  return [upvotes, downvotes, score].every(Number.isInteger);
}

/** A track with every member a view needs, or null. */
function checked(track) {
  if (typeof track?.trackId !== 'string') return null;
  // A session that names its voters tells lists, and the counts beside them.
  const whole = (value, count) => [count, value, Array.isArray(value) ? value.length : 0].find(Number.isInteger);
  const words = (value) => (typeof value === 'string' ? value.slice(0, 200) : '');
  return {
    trackId: track.trackId, trackName: words(track.trackName) || track.trackId, artistName: words(track.artistName),
    addedBy: words(track.addedBy), addedAt: words(track.addedAt),
    upvotes: whole(track.upvotes, track.upvoteCount), downvotes: whole(track.downvotes, track.downvoteCount),
    score: whole(track.score),
  };
}
