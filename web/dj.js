// The shop's music: what plays, what is queued, and the guest's votes.
import { arrange, colour, element, make, nameOf, say } from '/dom.js';
import { follow, request } from '/follow.js';
import { operationId } from '/switchboard.js';
import { Tracks } from '/tracks.js';

/** Rows shown; a queue is rarely longer. */
const shownMax = 50;
/** How long an accepted vote may wait for the update that counts it. */
const settleMs = 2_000;

export class DJPanel {
  #client;
  #shopId;
  #activity;
  #tracks = new Tracks();
  #rows = new Map();
  #ownId = null;
  #isDrawScheduled = false;

  constructor(client, shopId, activity) {
    this.#client = client;
    this.#shopId = shopId;
    this.#activity = activity;
    follow(client, `dj:${shopId}`, {
      live: ({ recovered, state }) => {
        element('dj').setAttribute('aria-busy', 'false');
        if (!recovered) this.#tracks.replace(state);
        this.#askVotes();
        this.#draw();
      },
      event: (name, data) => {
        this.#event(name, data);
        this.#drawSoon();
      },
      gap: (gap) => activity.gap('the music', gap),
      refused: ({ message }) => say('tracks-empty', message),
    });
    element('add-track').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#add();
    });
  }

  /** Whose votes are shown; before, the page can only be read. */
  identify(userId) {
    if (userId !== this.#ownId) {
      this.#ownId = userId;
      this.#askVotes();
    }
    element('add-track').hidden = false;
    this.#draw();
  }

  async #askVotes() {
    if (this.#ownId === null) return;
    try {
      const { votes } = await request(this.#client, 'my_votes', { shopId: this.#shopId });
      this.#tracks.replaceVotes(votes);
      this.#draw();
    } catch (error) {
      this.#activity.add('other', `Your votes cannot be shown: ${error.message}`);
    }
  }

  #event(name, data) {
    switch (name) {
      case 'queue:update': return this.#tracks.update(data);
      case 'track:described': return this.#tracks.describe(data);
      case 'track:removed': return this.#tracks.remove(data.trackId);
      case 'queue:empty': return this.#tracks.play(null);
      case 'session:started':
      case 'session:stopped':
        this.#tracks.replaceVotes({});
        return this.#tracks.replace(data);
      case 'track:added':
        this.#tracks.add(data);
        // Who adds a track votes for it.
        if (data.addedBy === this.#ownId) this.#tracks.accepted(data.trackId, 'up', data);
        return this.#activity.add('music', `${nameOf(data.addedBy, this.#ownId)} added ${titleOf(data)}`);
      case 'track:playing':
        this.#tracks.play(data);
        return this.#activity.add('music', `Now playing: ${titleOf(data)}`);
      default: return this.#activity.other(`dj:${this.#shopId}`, name);
    }
  }

  async #vote(trackId, button) {
    const vote = this.#tracks.voteOn(trackId) === button ? 'none' : button;
    this.#tracks.vote(trackId, vote);
    this.#complain(trackId, '');
    this.#draw();
    try {
      const standing = await request(this.#client, 'vote', { shopId: this.#shopId, trackId, vote });
      if (this.#tracks.accepted(trackId, vote, standing)) {
        setTimeout(() => {
          this.#tracks.settle(trackId);
          this.#draw();
        }, settleMs);
      }
    } catch (error) {
      this.#tracks.settle(trackId);
      this.#complain(trackId, error.message);
    }
    this.#draw();
  }

  #complain(trackId, message) {
    const row = this.#rows.get(trackId);
    if (row !== undefined) say(row.problem, message);
  }

  async #add() {
    const [name, artist] = [element('track-name'), element('track-artist')];
    const trackName = name.value.trim();
    say('track-problem', trackName === '' ? 'A track needs a name.' : '');
    name.setAttribute('aria-invalid', String(trackName === ''));
    if (trackName === '') return name.focus();
    const button = element('track-submit');
    button.setAttribute('aria-disabled', 'true');
    try {
      await request(this.#client, 'add_track', {
        shopId: this.#shopId, trackId: `t-${operationId()}`, trackName, artistName: artist.value.trim(),
      });
      name.value = '';
      artist.value = '';
      name.focus();
    } catch (error) {
      say('track-problem', error.message);
    }
    button.removeAttribute('aria-disabled');
  }

  // Drawing.

  #drawSoon() {
    if (this.#isDrawScheduled) return;
    this.#isDrawScheduled = true;
    requestAnimationFrame(() => {
      this.#isDrawScheduled = false;
      this.#draw();
    });
  }

  #draw() {
    const { playing, isActive, shown } = this.#tracks;
    element('playing').classList.toggle('silent', playing === null);
    say('playing-name', playing?.trackName ?? 'Nothing plays');
    say('playing-artist', playing === null ? '' : credits(playing, this.#ownId));
    colour(element('playing-art'), playing?.trackId ?? '');
    const rows = shown.slice(0, shownMax).map((track) => this.#row(track));
    arrange(element('tracks'), rows);
    const queued = new Set(shown.map(({ trackId }) => trackId));
    for (const trackId of [...this.#rows.keys()]) if (!queued.has(trackId)) this.#rows.delete(trackId);
    say('tracks-count', shown.length);
    element('tracks-empty').hidden = shown.length > 0;
    if (shown.length === 0) say('tracks-empty', isActive ? 'The queue is empty: add a track.' : 'No session runs now.');
  }

  #row(track) {
    let row = this.#rows.get(track.trackId);
    if (row === undefined) {
      row = this.#makeRow(track);
      this.#rows.set(track.trackId, row);
    }
    const vote = this.#tracks.voteOn(track.trackId);
    say(row.position, track.position);
    say(row.by, credits(track, this.#ownId));
    say(row.score, track.score > 0 ? `+${track.score}` : track.score < 0 ? `−${-track.score}` : '0');
    for (const [kind, button] of Object.entries(row.buttons)) {
      button.setAttribute('aria-pressed', String(vote === kind));
      button.hidden = this.#ownId === null;
    }
    return row.item;
  }

  #makeRow({ trackId, trackName }) {
    const art = make('span', { class: 'art', 'aria-hidden': 'true' }, trackName.charAt(0).toUpperCase());
    colour(art, trackId);
    const position = make('span', { class: 'position' });
    const by = make('span', { class: 'by' });
    const score = make('span', { class: 'score' });
    const problem = make('p', { class: 'error', role: 'alert' });
    const button = (kind, label, sign) => {
      const attributes = { type: 'button', class: `vote ${kind}`, 'aria-label': `${label}: ${trackName}` };
      const made = make('button', attributes, sign);
      made.addEventListener('click', () => this.#vote(trackId, kind));
      return made;
    };
    const buttons = { up: button('up', 'Vote up', '▲'), down: button('down', 'Vote down', '▼') };
    const item = make('li', { 'data-track': trackId },
      position, art,
      make('span', { class: 'title' }, make('span', { class: 'name' }, trackName), by),
      buttons.up, make('span', { class: 'tally' }, make('span', { class: 'visually-hidden' }, 'Score '), score),
      buttons.down, problem);
    return { item, position, by, score, problem, buttons };
  }
}

const titleOf = ({ trackName, artistName, trackId }) =>
  (artistName ? `${trackName || trackId} by ${artistName}` : String(trackName || trackId)).slice(0, 200);

const credits = ({ artistName, addedBy }, ownId) =>
  [artistName, addedBy && `added by ${addedBy === ownId ? 'you' : nameOf(addedBy, null)}`].filter(Boolean).join(' · ');
