// What waits for a slow reader, guesses on top of what the server says, and where calls are kept.

import { positionOf } from './parts.js';

const waitingMax = 1_000;

/** What one reader has not read yet. Beyond its bound it is dropped and a gap told; with `by`, an event takes the place
 *  of an earlier one of the same key. */
export class Inbox {
  #items = new Map();
  #by;
  #readers = [];
  #end = null;

  constructor(by = null) {
    this.#by = by;
  }

  push(update) {
    if (this.#end !== null) return;
    // A key of our own is like none that a program can give.
    const key = (update.type === 'event' ? this.#by?.(update) : null) ?? Symbol();
    this.#items.delete(key);
    if (this.#items.size >= waitingMax) {
      const last = [...this.#items.values()].findLast((one) => one.position)?.position ?? null;
      this.#items.clear();
      this.#items.set(Symbol(), { type: 'gap', reason: 'tooSlow', missed: null, position: last });
    }
    this.#items.set(key, update);
    this.#settle();
  }

  /** Nothing comes any more; what waits is still read. */
  end(error = null) {
    this.#end ??= { error };
    this.#settle();
  }

  /** The next one, as an iterator tells it. */
  next() {
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
      this.#settle();
    });
  }

  /** The next one if there is one, without waiting. */
  take() {
    for (const [key, update] of this.#items) {
      this.#items.delete(key);
      return update;
    }
    return undefined;
  }

  #settle() {
    while (this.#readers.length > 0 && (this.#items.size > 0 || this.#end !== null)) {
      const { resolve, reject } = this.#readers.shift();
      const error = this.#end?.error ?? null;
      if (this.#items.size > 0) resolve({ done: false, value: this.take() });
      else if (error !== null) {
        this.#end.error = null;  // thrown once, as iterators do
        reject(error);
      } else resolve({ done: true, value: undefined });
    }
  }
}

/** A server's value with guesses on top: changes whose calls are unanswered, done again on each new value. A change
 *  returns a new value, and doing it twice is doing it once. */
export class Optimistic {
  #server;
  #upTo = null;
  #guesses = new Set();
  #tell;

  constructor(value, onChange = () => {}) {
    this.#server = value;
    this.#tell = onChange;
  }

  get value() {
    return [...this.#guesses].reduce((value, { change }) => change(value), this.#server);
  }

  /** What the server says now; `upTo` is the position of the last event in it, where it is known. */
  set(value, upTo = null) {
    this.#server = value;
    this.#upTo = upTo;
    for (const guess of this.#guesses) {
      if (guess.isAnswered && this.#has(guess.position)) this.#guesses.delete(guess);
    }
    this.#tell(this.value);
  }

  /** Shows the change at once. An error takes it back; an answer leaves it until the server's value has caught up. */
  async perform(change, call) {
    const guess = { change, isAnswered: false, position: null };
    this.#guesses.add(guess);
    this.#tell(this.value);
    try {
      const answer = await call();
      guess.isAnswered = true;
      guess.position = positionOf(answer);
      if (guess.position && this.#upTo && this.#has(guess.position)) this.#guesses.delete(guess);
      return answer;
    } catch (error) {
      this.#guesses.delete(guess);
      this.#tell(this.value);
      throw error;
    }
  }

  /** Whether the value contains what the answer was about, or nobody can know. */
  #has(position) {
    return !position || this.#upTo?.epoch !== position.epoch || this.#upTo.offset >= position.offset;
  }
}

/** Keeps calls in a browser's `localStorage`, each under a key of its own, so that pages do not undo
 *  each other's. Storages have these four functions, which may return promises. */
export function webStorage(area = globalThis.localStorage, prefix = 'switchboard-call:') {
  const read = (key) => {
    try {
      return JSON.parse(area.getItem(key));
    } catch {
      return undefined;  // no entry: the client takes it away
    }
  };
  return {
    load: () => Array.from({ length: area.length }, (_, index) => area.key(index))
      .filter((key) => key.startsWith(prefix))
      .map((key) => ({ ...read(key), id: key.slice(prefix.length) })),
    get: (id) => read(prefix + id) ?? null,
    put: (entry) => area.setItem(prefix + entry.id, JSON.stringify(entry)),
    remove: (id) => area.removeItem(prefix + id),
  };
}

