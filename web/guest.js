// The person at this window: a guest of the shop, by whose token the page acts.
//
// The demo makes guests (`GET /demo/guest`); each window keeps its own. Where there is no demo the page can be read.
import { backOffMs } from '/client.js';
import { element, say } from '/dom.js';

const storedAs = 'switchboard.guest';
const path = '/demo/guest';

export class Guest {
  #client;
  #shopId;
  #onIdentified;
  #guest = null;
  #isPresent = false;
  #attempt = 0;

  constructor(client, shopId, onIdentified) {
    this.#client = client;
    this.#shopId = shopId;
    this.#onIdentified = onIdentified;
    element('presence').addEventListener('click', () => this.#togglePresence());
    client.addEventListener('identified', ({ detail: { userId } }) => {
      element('guest').hidden = false;
      say('guest-name', userId);
      this.#onIdentified(userId);
      this.#askPresence();
    });
    client.addEventListener('refused', () => this.#begin(true));
  }

  /** Becomes the guest of this window, or a new one; the client connects when that is known. */
  async start() {
    await this.#begin(false);
    this.#client.start();
  }

  /** The shop's word on whether this guest is there. */
  set isPresent(value) {
    this.#isPresent = value;
    say('presence-state', value ? 'You are at the shop' : 'You are not at the shop');
    say('presence', value ? 'Check out' : 'Check in');
    element('guest').classList.toggle('present', value);
  }

  async #begin(isNew) {
    this.#guest = isNew ? null : stored();
    if (this.#guest === null) {
      const answer = await fetchGuest();
      if (answer === null) {
        element('anonymous').hidden = false;
        return;
      }
      if (answer.retryMs !== undefined) {
        setTimeout(() => this.#begin(true), answer.retryMs ?? backOffMs(this.#attempt));
        this.#attempt += 1;
        return;
      }
      this.#guest = answer;
      this.#attempt = 0;
      try {
        sessionStorage.setItem(storedAs, JSON.stringify(answer));
      } catch {
        // Without storage a reload makes another guest.
      }
    }
    this.#client.identify(this.#guest.token);
  }

  /** Only who is present may see the roster, so asking for it tells whether we are. */
  async #askPresence() {
    try {
      await this.#client.request('roster', { shopId: this.#shopId });
      this.isPresent = true;
    } catch (error) {
      if (error.code === 'forbidden') this.isPresent = false;
    }
  }

  async #togglePresence() {
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
    const { present } = await this.#client.request('check_out', { shopId: this.#shopId });
    return present === true;
  }

  /** The code hangs in the shop and changes each minute; the demo hands it out with a guest. */
  async #checkIn() {
    const { code } = (await fetchGuest()) ?? {};
    if (code === undefined) throw new Error('The code of the shop cannot be read now; try again.');
    const { present } = await this.#client.request('check_in', { shopId: this.#shopId, code });
    return present === true;
  }
}

/** A new guest; null where there is no demo; {retryMs} when it cannot be had now. */
async function fetchGuest() {
  try {
    const response = await fetch(path, { cache: 'no-store' });
    if (response.status === 404) return null;
    if (response.ok) return await response.json();
    const seconds = Number(response.headers.get('Retry-After'));
    return { retryMs: seconds > 0 ? Math.min(seconds, 30) * 1_000 + Math.random() * 500 : null };
  } catch {
    return { retryMs: null };
  }
}

function stored() {
  try {
    const guest = JSON.parse(sessionStorage.getItem(storedAs));
    return typeof guest?.token === 'string' && typeof guest?.userId === 'string' ? guest : null;
  } catch {
    return null;
  }
}
