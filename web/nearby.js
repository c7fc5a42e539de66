// Listeners nearby: the guest's place, its privacy and its track go out; who is near comes in on `user:ID`.
import { Circle, distanceText, metresOf, placeOf } from '/circle.js';
import { element, make, say } from '/dom.js';
import { asking } from '/http.js';
import { CityMap } from '/map.js';
import { away } from '/people.js';
import { operationId } from '/switchboard.js';

const storedAs = 'switchboard.place';
/** A place is sent when it is so far from the one before. */
const movedMetres = 25;
/** Least time between two places: the gateway takes 12 a minute. */
const sendEveryMs = 5_000;
/** A place expires without a sign. */
const signEveryMs = 240_000;

export class NearbyPanel {
  #ask;
  #circle = new Circle();
  #map = new CityMap((place, isOver) => this.#moved(place, isOver));
  #place = null;
  #sent = null;
  #sentAt = -sendEveryMs;
  #sendTimer = null;
  #signTimer = null;
  #rounding = 100;
  #ownId = null;
  /** Counts what was heard, so that an answer that is older than an event is not believed. */
  #heard = 0;

  constructor(guest, own, people, wire) {
    this.#ask = asking(guest, wire);
    element('nearby-privacy').addEventListener('change', () => this.#setPrivacy({
      visible: element('nearby-visible').value, rounding: Number(element('nearby-rounding').value),
    }));
    element('nearby-enter').addEventListener('click', () => this.#enter());
    element('nearby-leave').addEventListener('click', () => this.#leave());
    element('nearby-track').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#setTrack(true);
    });
    element('nearby-silence').addEventListener('click', () => this.#setTrack(false));
    guest.follow((userId) => this.#identify(userId));
    people.follow(({ people: some }) => some.length > 0 && this.#meet());
    own.listen({
      live: ({ recovered }) => !recovered && this.#refresh(),
      event: (name, data) => this.#event(name, data),
      gap: () => this.#refresh(),
    });
    this.#draw();
  }

  #identify(userId) {
    if (userId === this.#ownId) return;
    this.#ownId = userId;
    this.#circle.clear();
    this.#place = stored(userId);
    this.#sent = this.#place;
    this.#setPrivacy({});
    this.#draw();
  }

  // What is heard.

  #event(name, data) {
    const sentence = this.#circle.take(name, data);
    if (sentence === null) return;
    this.#heard += 1;
    if (sentence !== '') say('nearby-news', sentence);
    this.#draw();
  }

  async #refresh() {
    let before;
    do {
      // The answer to a place that is on its way tells the same.
      if (this.#place === null || this.#sent === null) return;
      before = this.#heard;
      try {
        const told = await this.#ask('GET', '/v1/nearby');
        if (before === this.#heard) this.#circle.replace(told);
      } catch (error) {
        // The place has expired, or the store behind the gateway is another: it is sent again.
        if (error.code === 'no_place') return this.#send();
        return this.#complain(error);
      }
      this.#draw();
    } while (before !== this.#heard);
  }

  // The own place.

  #enter() {
    away.set('nearby', false);
    this.#moved(somewhere(), true);
    element('nearby-map').focus();
  }

  /** Where people are, the guest is on the map at the first look, unless the guest has left it. */
  #meet() {
    if (this.#place === null && this.#ownId !== null && !away.is('nearby')) this.#moved(somewhere(), true);
  }

  #moved(place, isOver) {
    this.#place = place;
    this.#draw();
    const far = this.#sent === null
      || Math.hypot(place.east - this.#sent.east, place.north - this.#sent.north) >= movedMetres;
    if (!far || (!isOver && this.#sendTimer !== null)) return;
    this.#sendSoon();
  }

  #sendSoon() {
    if (this.#sendTimer !== null) return;
    const waitMs = Math.max(0, this.#sentAt + sendEveryMs - performance.now());
    say('nearby-sending', waitMs > 0 ? 'The next place is sent in a few seconds' : '');
    this.#sendTimer = setTimeout(() => this.#send(), waitMs);
  }

  async #send() {
    this.#sendTimer = null;
    const place = this.#place;
    if (place === null) return;
    [this.#sent, this.#sentAt] = [place, performance.now()];
    this.#complain(null);
    say('nearby-sending', '');
    clearInterval(this.#signTimer);
    this.#signTimer = setInterval(() => this.#sendSoon(), signEveryMs);
    keep(this.#ownId, place);
    const before = this.#heard;
    try {
      const told = await this.#ask('PUT', '/v1/location', { ...placeOf(place), city: 'Demo' });
      if (this.#place === null) return;
      if (before === this.#heard) this.#circle.replace(told);
      else this.#refresh();
    } catch (error) {
      this.#complain(error);
    }
    this.#draw();
  }

  async #leave() {
    for (const timer of [this.#sendTimer, this.#signTimer]) clearTimeout(timer);
    [this.#sendTimer, this.#place, this.#sent] = [null, null, null];
    keep(this.#ownId, null);
    away.set('nearby', true);
    this.#circle.clear();
    this.#draw();
    await this.#do('DELETE', '/v1/location');
    say('nearby-news', 'You are off the map');
    element('nearby-enter').focus();
  }

  // Privacy and track.

  async #setPrivacy(wanted) {
    const told = await this.#do('PUT', '/v1/privacy', wanted);
    if (told === null) return;
    this.#rounding = Number(told.rounding) || 0;
    element('nearby-visible').value = String(told.visible);
    element('nearby-rounding').value = String(this.#rounding);
    this.#draw();
  }

  async #setTrack(isPlaying) {
    const [name, artist] = [element('nearby-song').value.trim(), element('nearby-artist').value.trim()];
    say('nearby-track-problem', name === '' ? 'A song needs a name.' : '');
    if (name === '') return element('nearby-song').focus();
    try {
      const track = { id: `demo-${operationId()}`, name, artist, duration: 180, isPlaying };
      await this.#ask('PUT', '/v1/track', track);
      say('nearby-own-track', isPlaying ? `You listen to ${name}` : '');
    } catch (error) {
      say('nearby-track-problem', error.message);
    }
  }

  async #do(method, path, body) {
    this.#complain(null);
    try {
      return await this.#ask(method, path, body) ?? {};
    } catch (error) {
      this.#complain(error);
      return null;
    }
  }

  #complain(error) {
    say('nearby-problem', error?.message ?? '');
  }

  // Drawing.

  #draw() {
    this.#map.own(this.#place, this.#rounding);
    const shown = this.#circle.shown;
    this.#map.others(shown.filter(({ place }) => place !== null)
      .map(({ id, name, place }) => ({ id, name, at: metresOf(place) })));
    element('nearby-list').replaceChildren(...shown.map(({ name, track, distance }) => make('li', {},
      make('span', { class: 'name' }, name), make('span', { class: 'distance' }, distanceText(distance)),
      make('span', { class: 'by' }, track === '' ? 'Listens to nothing now' : track))));
    element('nearby-empty').hidden = shown.length > 0;
    say('nearby-empty', this.#place === null ? 'Go on the map to see who is near.' : 'Nobody is near now.');
    for (const [id, isShown] of [['nearby-enter', this.#place === null], ['nearby-leave', this.#place !== null]]) {
      element(id).hidden = !isShown;
    }
  }
}

/** A place in the middle, so that two windows see each other. */
function somewhere() {
  const some = () => Math.round((Math.random() - 0.5) * 1_000);
  return { east: some(), north: some() };
}

/** Where this window's guest was, for a reload; the gateway tells it to nobody. */
function stored(userId) {
  try {
    const place = JSON.parse(sessionStorage.getItem(storedAs));
    const isPlace = place?.userId === userId && Number.isFinite(place.east) && Number.isFinite(place.north);
    return isPlace ? { east: place.east, north: place.north } : null;
  } catch {
    return null;
  }
}

function keep(userId, place) {
  try {
    if (place === null) sessionStorage.removeItem(storedAs);
    else sessionStorage.setItem(storedAs, JSON.stringify({ userId, ...place }));
  } catch {
    // Without storage a reload begins off the map.
  }
}
