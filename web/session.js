// A listening session: its queue, its votes, and the wish to skip; over the app's routes and its socket by path.
import { arrange, colour, element, make, say } from '/dom.js';
import { asking } from '/http.js';
import { Listening } from '/listening.js';
import { PathSocket } from '/path_socket.js';
import { away } from '/people.js';
import { operationId } from '/switchboard.js';
import { askedFor } from '/tabs.js';
import { tapped } from '/wire.js';

const root = '/api/v1';

export class SessionPanel {
  #origin;
  #guest;
  #ask;
  #Socket;
  #ownId = null;
  /** Null while the guest takes part in none. */
  #session = null;
  #socket = null;
  #rows = new Map();
  /** The code of the people's session, '' without one, and whether the guest is known to be in none. */
  #openCode = '';
  #isOutside = false;
  /** Whether an event came while the whole was being asked for. */
  #isStale = false;
  #isAsking = false;

  constructor(origin, guest, people, wire) {
    this.#origin = origin;
    this.#guest = guest;
    this.#ask = asking(guest, wire);
    this.#Socket = tapped(wire);
    const code = askedFor('session');
    element('session-code').value = code;
    const on = (id, type, act) => element(id).addEventListener(type, (event) => {
      event.preventDefault();
      act();
    });
    on('session-door', 'submit', () => this.#enter('join'));
    on('session-create', 'click', () => this.#enter('create'));
    on('session-leave', 'click', () => this.#leave());
    on('session-skip', 'click', () => this.#skip());
    on('session-next', 'click', () => this.#do('POST', '/sessions/song_finished', {
      queued_song_id: this.#session.current?.id,
    }));
    on('session-lock', 'click', () => this.#do('PATCH', '/sessions/control_session', {
      is_locked: this.#session.isLocked !== true,
    }));
    on('song-form', 'submit', () => this.#add());
    guest.follow((userId) => this.#identify(userId, code));
    people.follow(({ session }) => {
      this.#openCode = session;
      this.#joinPeople();
    });
  }

  async #identify(userId, code) {
    if (userId === this.#ownId) return;
    this.#ownId = userId;
    this.#close();
    try {
      this.#open(await this.#ask('GET', `${root}/sessions/current`));
    } catch (error) {
      // Who comes by a link joins at once; who is in no session sees the door.
      if (error.code !== 404) return this.#complain(error);
      if (code !== '') return this.#enter('join');
      this.#isOutside = true;
      this.#joinPeople();
    }
  }

  /** Joins the people's session at the first look; whoever left it finds its code at the door. */
  #joinPeople() {
    if (!this.#isOutside || this.#openCode === '') return;
    this.#isOutside = false;
    element('session-code').value = this.#openCode;
    if (!away.is('session')) this.#enter('join', false);
  }

  // Coming and going.

  async #enter(way, isAsked = true) {
    const field = element('session-code');
    this.#complain(null);
    try {
      this.#open(await this.#ask('POST', `${root}/sessions/${way}`, { join_code: field.value.trim() }));
      away.set('session', false);
      if (isAsked) element('session-name').focus();
    } catch (error) {
      this.#complain(error);
      if (isAsked) field.focus();
    }
  }

  async #leave() {
    if (await this.#do('POST', '/sessions/leave') === null) return;
    away.set('session', true);
    this.#close();
  }

  #open(told) {
    this.#close();
    this.#session = new Listening(told);
    const { id, code } = this.#session;
    history.replaceState(null, '', `#session/${encodeURIComponent(code)}`);
    const path = `${root}/sessions/${encodeURIComponent(id)}/realtime`;
    this.#socket = new PathSocket(this.#origin + path, this.#guest.token, `session:${id}`, {
      state: ({ state, reason }) => {
        element('session-line').dataset.state = state;
        say('session-line-text', { connecting: 'Connecting', waiting: `Reconnecting: ${reason}` }[state] ?? 'Live');
      },
      live: () => this.#refresh(),
      gap: () => this.#refresh(),
      event: (name, data) => this.#event(name, data),
      refused: (error) => this.#complain(error),
    }, this.#Socket);
    this.#draw();
  }

  #close() {
    this.#socket?.close();
    this.#socket = null;
    this.#session = null;
    this.#draw();
  }

  /** Asks for the whole; again, when an event came meanwhile, since nobody knows which of them is newer. */
  async #refresh() {
    this.#isStale = true;
    if (this.#isAsking) return;
    this.#isAsking = true;
    while (this.#isStale && this.#session !== null) {
      this.#isStale = false;
      try {
        const told = new Listening(await this.#ask('GET', `${root}/sessions/current`));
        if (told.id === this.#session?.id) this.#session = Object.assign(told, { isLocked: this.#session.isLocked });
      } catch (error) {
        if (error.code === 404) this.#close();
        this.#complain(error);
      }
      this.#draw();
    }
    this.#isAsking = false;
  }

  #event(name, data) {
    if (this.#session?.take(name, data) !== true) return;
    if (this.#isAsking) this.#isStale = true;
    this.#draw();
  }

  // What a guest does.

  /** Asks the gateway; a refusal is shown. Whether it was done. */
  async #do(method, path, body) {
    this.#complain(null);
    try {
      return await this.#ask(method, root + path, body);
    } catch (error) {
      this.#complain(error);
      return null;
    }
  }

  async #skip() {
    if (element('session-skip').getAttribute('aria-disabled') === 'true') return;
    const told = await this.#do('POST', '/sessions/request_skip');
    if (told === null || this.#session === null) return;
    // When this request was the one that skipped, the next song plays, which nobody has asked to skip.
    this.#session.hasAskedToSkip = told.skipped !== true;
    if (told.skipped !== true) this.#session.take('session.updated', { ...told, is_locked: this.#session.isLocked });
    this.#draw();
  }

  async #vote(id, button) {
    const before = this.#session.voteOn(id);
    const value = before === button ? 0 : button;
    this.#session.vote(id, value);
    this.#draw();
    const path = `/songs/${encodeURIComponent(id)}/vote`;
    const told = value === 0 ? await this.#do('DELETE', path) : await this.#do('POST', path, { vote_value: value });
    if (told === null) this.#session?.vote(id, before);
    else this.#session?.voted(id, told.total_votes);
    this.#draw();
  }

  async #add() {
    const [name, artists] = [element('song-name'), element('song-artists')];
    if (name.value.trim() === '') {
      say('song-problem', 'A song needs a name.');
      return name.focus();
    }
    say('song-problem', '');
    try {
      const found = artists.value.trim() === '' ? await this.#find(name.value.trim()) : null;
      await this.#ask('POST', `${root}/songs/add`, {
        id: operationId(), name: found?.name ?? name.value.trim(), artists: found?.artists ?? artists.value.trim(),
        album: found?.album ?? '', duration_ms: found?.duration_ms ?? 180_000, source: 'spotify',
      });
      [name.value, artists.value] = ['', ''];
    } catch (error) {
      say('song-problem', error.message);
    }
    name.focus();
  }

  /** The song of the catalogue that is called so; null without one, or where nothing can be searched. */
  async #find(name) {
    const path = `${root}/spotify/search?limit=10&q=${encodeURIComponent(name)}`;
    const isMeant = (track) => track.name.toLowerCase() === name.toLowerCase();
    return this.#ask('GET', path).then(({ tracks }) => tracks?.find(isMeant) ?? null, () => null);
  }

  #complain(error) {
    say('session-problem', error?.message ?? '');
  }

  // Drawing.

  #draw() {
    const session = this.#session;
    element('session-door').hidden = session !== null;
    element('session-inside').hidden = session === null;
    if (session === null) return;
    say('session-name', `Session ${session.code}`);
    element('session-invite').setAttribute('href', `/#session/${encodeURIComponent(session.code)}`);
    const isHost = session.host.id === this.#ownId;
    say('session-people', `${session.people === 1 ? 'Only you' : `${session.people} people`}, hosted by ${
      isHost ? 'you' : session.host.name}${session.isLocked ? ', locked' : ''}`);
    for (const id of ['session-next', 'session-lock']) element(id).hidden = !isHost;
    say('session-lock', session.isLocked ? 'Unlock' : 'Lock');
    this.#drawPlaying(session);
    arrange(element('session-queue'), session.queue.map((song) => this.#row(song)));
    const ids = new Set(session.queue.map(({ id }) => id));
    for (const id of [...this.#rows.keys()]) if (!ids.has(id)) this.#rows.delete(id);
    say('session-count', session.queue.length);
    element('session-empty').hidden = session.queue.length > 0;
  }

  #drawPlaying({ current, skips, skipsWanted, people, hasAskedToSkip, wasSkippedByCrowd }) {
    element('session-playing').classList.toggle('silent', current === null);
    say('session-song', current?.name ?? 'Nothing plays');
    say('session-by', current === null ? 'Add a song: it plays at once.' : this.#credits(current));
    colour(element('session-art'), current?.id ?? '');
    element('session-skips').hidden = current === null;
    const bar = element('session-skip-bar');
    [bar.max, bar.value] = [skipsWanted, Math.min(skips, skipsWanted)];
    say('session-skip-text', `${skips} of ${people} ${skips === 1 ? 'asks' : 'ask'} to skip; it takes ${skipsWanted}`);
    element('session-skip').setAttribute('aria-disabled', String(hasAskedToSkip));
    say('session-skip', hasAskedToSkip ? 'You asked to skip' : 'Ask to skip');
    say('session-last', wasSkippedByCrowd ? 'The last song was skipped, since more than half asked for it.' : '');
  }

  #credits({ artists, addedBy }) {
    return [artists, `added by ${addedBy.id === this.#ownId ? 'you' : addedBy.name}`].filter(Boolean).join(' · ');
  }

  #row(song) {
    let row = this.#rows.get(song.id);
    if (row === undefined) {
      row = this.#makeRow(song);
      this.#rows.set(song.id, row);
    }
    const { votes } = song;
    say(row.score, votes > 0 ? `+${votes}` : votes < 0 ? `−${-votes}` : '0');
    for (const [value, button] of row.buttons) {
      button.setAttribute('aria-pressed', String(this.#session.voteOn(song.id) === value));
    }
    return row.item;
  }

  #makeRow(song) {
    const art = make('span', { class: 'art', 'aria-hidden': 'true' }, song.name.charAt(0).toUpperCase());
    colour(art, song.id);
    const score = make('span', { class: 'score' });
    const button = (value, kind, label, sign) => {
      const attributes = { type: 'button', class: `vote ${kind}`, 'aria-label': `${label}: ${song.name}` };
      const made = make('button', attributes, sign);
      made.addEventListener('click', () => this.#vote(song.id, value));
      return [value, made];
    };
    const buttons = [button(1, 'up', 'Vote up', '▲'), button(-1, 'down', 'Vote down', '▼')];
    const item = make('li', {}, art,
      make('span', { class: 'title' }, make('span', { class: 'name' }, song.name),
        make('span', { class: 'by' }, this.#credits(song))),
      buttons[0][1], make('span', { class: 'tally' }, make('span', { class: 'visually-hidden' }, 'Votes '), score),
      buttons[1][1]);
    return { item, score, buttons };
  }
}
