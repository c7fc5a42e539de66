// Hooks for React 18 or later: a topic and the connection, as values that a component shows.

import { useEffect, useMemo, useSyncExternalStore } from 'react';

/** A value outside of React: it is read while a component watches. Components see a burst of changes as one. */
class Store {
  #watchers = new Set();
  #isDue = false;
  #reading = null;

  constructor(snapshot) {
    this.snapshot = snapshot;
  }

  subscribe = (watcher) => {
    this.#watchers.add(watcher);
    if (this.#reading === null) {
      this.#reading = new AbortController();
      this.read(this.#reading.signal);
    }
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size > 0) return;
      this.#reading.abort();
      this.#reading = null;
    };
  };

  getSnapshot = () => this.snapshot;

  change(members) {
    this.snapshot = { ...this.snapshot, ...members };
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      for (const watcher of this.#watchers) watcher();
    });
  }
}

class TopicStore extends Store {
  #client;
  #name;
  #hasState = false;
  #position = null;

  constructor(client, name, options) {
    super({ value: options.initial ?? null, isLive: false, hasMissed: false, error: null, members: [] });
    this.#client = client;
    this.#name = name;
    this.options = options;
  }

  async read(signal) {
    const { presence = false } = this.options;
    // Where there is a state, it says more than the events since.
    const since = this.#hasState ? undefined : this.#position ?? undefined;
    try {
      const topic = this.#client.topic(this.#name, { since, presence, signal });
      for await (const update of topic) {
        if (signal.aborted) return;
        this.#try(update, topic);
      }
    } catch (error) {
      if (!signal.aborted) this.change({ error });
    }
    if (!signal.aborted) this.change({ isLive: false });
  }

  /** An update that the program's functions cannot take is told on the console, and later ones go on. */
  #try(update, topic) {
    try {
      this.#take(update, topic);
    } catch (error) {
      console.error(`${this.#name}: ${update.event ?? update.type} cannot be taken`, error);
    }
  }

  #take(update, topic) {
    this.#position = update.position ?? this.#position;
    switch (update.type) {
      case 'live': return this.#begin(update);
      case 'event': return this.#apply(update);
      case 'gap':
        // After a reconnect the state follows by itself.
        if (this.#hasState && update.reason !== 'notRecovered') topic.resynchronise();
        return this.change({ hasMissed: true });
      case 'pending': return this.change({ isLive: false, error: update.error ?? null });
      default: return this.change({ members: members(this.snapshot.members, update) });
    }
  }

  #begin({ state }) {
    if (state === undefined) return this.change({ isLive: true, error: null });
    this.#hasState = true;
    const { begin = (value) => value } = this.options;
    return this.change({ isLive: true, error: null, hasMissed: false, value: begin(state) });
  }

  #apply(update) {
    const { value } = this.snapshot;
    const next = this.options.apply ? this.options.apply(value, update) : value;
    if (next !== value) this.change({ value: next });
  }
}

function members(before, { members: all, joins = [], updates = [], leaves = [] }) {
  if (all) return all;
  const gone = new Set([...joins, ...updates, ...leaves].map(({ id }) => id));
  return [...before.filter(({ id }) => !gone.has(id)), ...joins, ...updates];
}

class StatusStore extends Store {
  #client;

  constructor(client) {
    super(client.status);
    this.#client = client;
  }

  async read(signal) {
    for await (const status of this.#client.statuses({ signal })) this.change(status);
  }
}

/** A topic of a client: its value, kept up to date while the component is there. README.md has an example. */
export function useTopic(client, name, options = {}) {
  const store = useMemo(() => new TopicStore(client, name, options), [client, name]);
  useEffect(() => {
    store.options = options;
  });
  return useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot);
}

/** The status of a client, and each change of it. */
export function useStatus(client) {
  const store = useMemo(() => new StatusStore(client), [client]);
  return useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot);
}
