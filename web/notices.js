// What concerns this guest alone: notifications, posts of barbers, and the own booking.
import { element, make, say, text } from '/dom.js';
import { request } from '/follow.js';

/** The barber whose posts can be followed: the one who is there every day. */
const barberId = 'dario';
/** Notices kept in the list. */
const noticesMax = 6;

const statusTexts = new Map([
  ['pending', 'asked for'],
  ['confirmed', 'confirmed: you are in the queue'],
  ['in-progress', 'in progress: have a seat'],
  ['completed', 'completed: thank you'],
  ['cancelled', 'cancelled'],
  ['no-show', 'ended: you did not come'],
]);
const closed = new Set(['completed', 'cancelled', 'no-show']);

export class Notices {
  #client;
  #shopId;
  #activity;
  #leaderboard;
  #presence;
  #own;
  #isBegun = false;
  #bookingId = null;

  constructor(client, shopId, { activity, leaderboard, presence, own }) {
    this.#client = client;
    this.#shopId = shopId;
    this.#activity = activity;
    this.#leaderboard = leaderboard;
    this.#presence = presence;
    this.#own = own;
    element('book').addEventListener('click', () => this.#book());
    element('follow').addEventListener('click', () => this.#follow());
  }

  /** Begins to listen: there is a guest. */
  begin() {
    if (this.#isBegun) return;
    this.#isBegun = true;
    element('you').hidden = false;
    this.#own.listen({
      live: () => this.#askFollowing(),
      event: (name, data) => this.#event(name, data),
      gap: (gap) => this.#activity.gap('your notices', gap),
    });
  }

  #event(name, data) {
    switch (name) {
      case 'booking:status_change': return this.#status(data);
      case 'notification': return this.#notice(text(data.title), text(data.body));
      case 'feed:new_post': return this.#notice(`New from ${text(data.barberId)}`, text(data.text ?? data.body));
      case 'leaderboard:update': return this.#leaderboard.updateOwn(data);
      case 'follows:changed':
        if (data.topic === `feed:${barberId}`) this.#isFollowing = data.following === true;
        return;
      case 'presence:here':
        if (data.topic === `shop:${this.#shopId}`) this.#presence.isPresent = data.here === true;
    }
  }

  set #isFollowing(value) {
    element('follow').setAttribute('aria-pressed', String(value));
  }

  async #askFollowing() {
    try {
      const { barbers } = await request(this.#client, 'following', {});
      this.#isFollowing = Array.isArray(barbers) && barbers.includes(barberId);
    } catch {
      // The button then says what it said before.
    }
  }

  async #follow() {
    const isFollowing = element('follow').getAttribute('aria-pressed') === 'true';
    say('booking-problem', '');
    try {
      const { following } = await request(this.#client, isFollowing ? 'unfollow' : 'follow', { barberId });
      this.#isFollowing = following === true;
    } catch (error) {
      say('booking-problem', error.message);
    }
  }

  async #book() {
    const button = element('book');
    if (button.getAttribute('aria-disabled') === 'true') return;
    button.setAttribute('aria-disabled', 'true');
    say('booking-problem', '');
    try {
      // The gateway makes the booking's id.
      const { bookingId, status } = await request(this.#client, 'create_booking', { shopId: this.#shopId });
      // The first change of status may have come before this answer.
      if (element('booking').dataset.booking !== bookingId) this.#status({ bookingId, status: status ?? 'pending' });
    } catch (error) {
      say('booking-problem', error.message);
      button.removeAttribute('aria-disabled');
    }
  }

  #status({ bookingId, status }) {
    if (bookingId !== this.#bookingId && this.#bookingId !== null) return;
    this.#bookingId = bookingId;
    const booking = element('booking');
    booking.hidden = false;
    booking.dataset.booking = bookingId;
    booking.dataset.status = status;
    const sentence = `Your booking is ${statusTexts.get(status) ?? text(status, 40)}`;
    say('booking-status', sentence);
    this.#activity.add('booking', sentence);
    if (!closed.has(status)) return element('book').setAttribute('aria-disabled', 'true');
    this.#bookingId = null;
    element('book').removeAttribute('aria-disabled');
  }

  #notice(title, body) {
    const list = element('notices');
    const now = new Date();
    list.prepend(make('li', {}, make('strong', {}, title), ' ', make('span', {}, body),
      make('time', { datetime: now.toISOString() }, now.toLocaleTimeString([], { hour12: false }))));
    while (list.childElementCount > noticesMax) list.lastElementChild.remove();
  }
}
