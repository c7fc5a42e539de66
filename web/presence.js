// Whether this guest is at the shop: only who is there may vote.
import { element, say } from '/dom.js';
import { request } from '/follow.js';
import { fetchGuest } from '/guest.js';

export class Presence {
  #client;
  #shopId;
  #isPresent = false;

  constructor(client, shopId) {
    this.#client = client;
    this.#shopId = shopId;
    element('presence').addEventListener('click', () => this.#toggle());
  }

  /** Who stands at the door; asked anew on each connection, since the store behind it may be another. */
  identify(userId) {
    element('guest').hidden = false;
    say('guest-name', userId);
    this.#ask();
  }

  /** The shop's word on whether this guest is there. */
  set isPresent(value) {
    this.#isPresent = value;
    say('presence-state', value ? 'You are at the shop' : 'You are not at the shop');
    say('presence', value ? 'Check out' : 'Check in');
    element('guest').classList.toggle('present', value);
  }

  /** Only who is present may see the roster, so asking for it tells whether we are. */
  async #ask() {
    try {
      await request(this.#client, 'roster', { shopId: this.#shopId });
      this.isPresent = true;
    } catch (error) {
      if (error.code === 'forbidden') this.isPresent = false;
    }
  }

  async #toggle() {
    const button = element('presence');
    if (button.getAttribute('aria-disabled') === 'true') return;
    button.setAttribute('aria-disabled', 'true');
    say('presence-problem', '');
    try {
      this.isPresent = this.#isPresent ? await this.#checkOut() : await this.#checkIn();
    } catch (error) {
      say('presence-problem', error.message);
    }
    button.removeAttribute('aria-disabled');
  }

  async #checkOut() {
    const { present } = await request(this.#client, 'check_out', { shopId: this.#shopId });
    return present === true;
  }

  /** The code hangs in the shop and changes each minute; the demo hands it out with a guest. */
  async #checkIn() {
    const { code } = (await fetchGuest()) ?? {};
    if (code === undefined) throw new Error('The code of the shop cannot be read now; try again.');
    const { present } = await request(this.#client, 'check_in', { shopId: this.#shopId, code });
    return present === true;
  }
}
