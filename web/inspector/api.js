// The gateway's routes. The key is sent in a header and kept by this tab alone.

const PLACE = 'inspector-key';
const DEADLINE_MS = 10_000;

/** A request that failed: the request, the status (0: no answer) and the gateway's own sentence. */
export class Failure extends Error {
  constructor(request, status, message, retryAfterSeconds = 0) {
    super(message);
    Object.assign(this, { request, status, retryAfterSeconds });
  }

  get sentence() {
    return `${this.request}: ${this.status > 0 ? `${this.status}, ` : ''}${this.message}`;
  }
}

export class Api {
  #key = sessionStorage.getItem(PLACE);

  get hasKey() { return this.#key !== null; }

  /** Uses a key from now on. A key that was handed by the page around this one is not stored. */
  keep(key, isStored = true) {
    this.#key = key;
    if (isStored) sessionStorage.setItem(PLACE, key);
  }

  /** Forgets the key. */
  forget() {
    this.#key = null;
    sessionStorage.removeItem(PLACE);
  }

  /** The JSON of an answer. */
  get(path) { return this.send('GET', path); }

  /** Sends a request; the promise ends with the answer's JSON, or with a Failure. */
  async send(method, path, body) {
    return this.#asJSON(`${method} ${path}`, await this.#text(method, path, body));
  }

  /** The text of an answer that is no JSON. */
  async text(path) { return (await this.#text('GET', path)).text; }

  async #text(method, path, body) {
    const headers = {};
    if (this.#key !== null) headers.apikey = this.#key;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const request = `${method} ${path}`;
    try {
      const response = await fetch(path, {
        method, headers, body, cache: 'no-store', credentials: 'omit', redirect: 'error',
        signal: AbortSignal.timeout(DEADLINE_MS),
      });
      const text = await response.text();
      if (response.ok) return { text, status: response.status };
      throw new Failure(request, response.status, Api.#reason(text, response.status),
        Number(response.headers.get('Retry-After') ?? 0));
    } catch (error) {
      if (error instanceof Failure) throw error;
      throw new Failure(request, 0, error.name === 'TimeoutError'
        ? `no answer within ${DEADLINE_MS / 1000} s` : 'the gateway cannot be reached');
    }
  }

  #asJSON(request, { text, status }) {
    if (text === '') return null;
    try {
      return JSON.parse(text);
    } catch {
      throw new Failure(request, status, 'the answer is not JSON');
    }
  }

  static #reason(text, status) {
    try {
      const answer = JSON.parse(text);
      const told = answer.error?.message ?? answer.message ?? answer.error;
      if (typeof told === 'string' && told !== '') return told;
    } catch {
      // Not the gateway's own form, such as a proxy's page.
    }
    return `the gateway answered ${status}`;
  }
}

/** A path with a query of the values that are given. */
export function path(base, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return given.length === 0 ? base : `${base}?${new URLSearchParams(given)}`;
}

/** One part of a path. */
export const part = (text) => encodeURIComponent(text);
