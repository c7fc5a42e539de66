// Calls in a storage, which may be full, torn, slow or gone: one thing after the other, each in its time.

import { entryOf } from './calls.js';
import { textOf } from './given.js';

const storageMs = 10_000;

/** What the work comes to; an error with `isLate` when that takes too long. */
function inTime(work) {
  let timer = null;
  const late = new Promise((_, reject) => {
    const error = Object.assign(new Error('The storage does not answer.'), { isLate: true });
    timer = setTimeout(() => reject(error), storageMs);
  });
  return Promise.race([Promise.resolve().then(work), late]).finally(() => clearTimeout(timer));
}

export class Keeper {
  #storage;
  #warn;
  #bornAt;
  #last;

  /** `loaded` takes what an earlier process left: at once without a storage, again when it comes after its time. */
  constructor(storage, { warn, wall, loaded }) {
    this.#storage = storage;
    this.#warn = (error) => warn(`Switchboard: storage: ${textOf(error)}`);
    this.#bornAt = wall();
    this.#last = this.#load(loaded);
  }

  /** Stores a new call. `done` is told whether it is kept, and if not, whether it may be there all the same. */
  keep(entry, done) {
    this.#then(entry.id, (storage) => storage.put(entry), done);
  }

  /** Notes that a call is sent, unless another page has ended it: then it is not in the storage any more. */
  mark({ id, firstSentAt }, done) {
    this.#then(id, async (storage) => {
      const stored = entryOf(await storage.get(id));
      if (stored === null) return { firstSentAt: null };
      const earliest = Math.min(stored.firstSentAt ?? firstSentAt, firstSentAt);
      await storage.put({ ...stored, firstSentAt: earliest });
      return { firstSentAt: earliest };
    }, done);
  }

  forget(id) {
    this.#then(id, (storage) => storage.remove(id), () => {});
  }

  #then(id, work, done) {
    if (this.#storage === null) return done({ isKept: true });
    this.#last = this.#last.then(async () => done(await this.#tried(id, work)));
    return undefined;
  }

  /** What cannot be stored is taken away, since a later process would send it. */
  async #tried(id, work) {
    try {
      const more = await inTime(() => work(this.#storage));
      return { isKept: true, firstSentAt: more?.firstSentAt };
    } catch (error) {
      this.#warn(error);
      return { isKept: false, isLeft: error?.isLate === true || !await this.#removes(id) };
    }
  }

  async #removes(id) {
    try {
      await inTime(() => this.#storage.remove(id));
      return true;
    } catch (error) {
      this.#warn(error);
      return false;
    }
  }

  async #load(loaded) {
    await null;  // the client is not made yet
    if (this.#storage === null) return loaded([]);
    const reading = this.#read();
    try {
      loaded(await inTime(() => reading));
    } catch (error) {
      this.#warn(error);
      loaded([]);
      // A late answer may hold calls of this process, and some of them are over.
      const before = (all) => all.filter(({ createdAt }) => createdAt < this.#bornAt);
      if (error?.isLate) reading.then((all) => loaded(before(all)), () => {});
    }
    return undefined;
  }

  /** The entries; what is none is taken away and told, and hides no other. */
  async #read() {
    const entries = [];
    for (const value of await this.#storage.load() ?? []) {
      const entry = entryOf(value);
      if (entry === null) await this.#spoilt(value);
      else entries.push(entry);
    }
    return entries;
  }

  async #spoilt(value) {
    try {
      const { id } = value;
      this.#warn(`the entry ${textOf(id)} is spoilt, and is removed`);
      await inTime(() => this.#storage.remove(id));
    } catch (error) {
      this.#warn(error);
    }
  }
}
