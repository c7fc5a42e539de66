// The person at this window: a guest, by whose token every tab acts.
//
// The demo makes guests (`GET /demo/guest`); each window keeps its own. Where there is no demo the page can be read.
import { element } from '/dom.js';
import { backOffMs } from '/switchboard.js';

const storedAs = 'switchboard.guest';
const path = '/demo/guest';

export class Guest {
  #client;
  #guest = null;
  #attempt = 0;
  /** Tokens in a row that the server did not take. */
  #refusals = 0;
  #listeners = [];

  /** The guest's id; null until the server has taken the token. */
  userId = null;
  /** Whether the client is connected as this guest. */
  isConnected = false;

  constructor(client) {
    this.#client = client;
    this.#watch();
  }

  /** What proves who the guest is; null without a demo. */
  get token() {
    return this.#guest?.token ?? null;
  }

  /** Tells who the guest is: now if that is known, and again on each connection. */
  follow(listener) {
    this.#listeners.push(listener);
    if (this.userId !== null) listener(this.userId);
  }

  /** Becomes the guest of this window, or a new one; the client connects when that is known. */
  async start() {
    await this.#begin(false);
    this.#client.start();
  }

  /** Hears when the server has taken the token, or takes it no longer. */
  async #watch() {
    let wasReady = false;
    for await (const { phase, isReady, userId } of this.#client.statuses()) {
      this.isConnected = isReady && userId !== null;
      if (isReady && !wasReady && userId !== null) this.#identified(userId);
      wasReady = isReady;
      if (phase === 'unauthorized') this.#again();
    }
  }

  /** Becomes another guest: at once when a stored token has ended, and after pauses where none is taken. */
  #again() {
    setTimeout(() => this.#begin(true), this.#refusals === 0 ? 0 : backOffMs(this.#refusals));
    this.#refusals += 1;
  }

  #identified(userId) {
    this.#refusals = 0;
    this.userId = userId;
    for (const listener of this.#listeners) listener(userId);
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
    this.#client.setToken(this.#guest.token);
  }
}

/** A new guest; null where there is no demo; {retryMs} when it cannot be had now. */
export async function fetchGuest() {
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

/** The guest of this window; null before one was made. */
export function stored() {
  try {
    const guest = JSON.parse(sessionStorage.getItem(storedAs));
    return typeof guest?.token === 'string' && typeof guest?.userId === 'string' ? guest : null;
  } catch {
    return null;
  }
}
