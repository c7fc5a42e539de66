// The client: sockets, timers and promises around the machine, which decides.

import { Keeper } from './keeper.js';
import { Machine } from './machine.js';
import { callOf, metaOf, textOf, topicOf } from './given.js';
import { SwitchboardError } from './parts.js';
import { problemOf } from './reasons.js';
import { Inbox } from './values.js';

const timerMsMax = 2 ** 31 - 1;

/** A connection to a gateway that keeps itself. Nothing happens before `start`. */
export class SwitchboardClient {
  #url;
  #options;
  #machine;
  #inputs = [];
  #isTaking = false;
  #socket = null;
  #timer = null;
  #source = null;
  #numbers = 0;
  #readers = new Map();
  #waiters = new Map();
  #watchers = new Set();
  #results = new Set();
  #keeper;
  #unlisten = null;
  #told = null;

  constructor(url, { token = null, WebSocket = globalThis.WebSocket, storage = null, log,
    random = Math.random, now = () => performance.now(), wall = () => Date.now() } = {}) {
    if (typeof WebSocket !== 'function') throw new TypeError('no WebSocket');
    this.#url = String(url).replace(/^http/i, 'ws');
    this.#options = { WebSocket, log, now, wall };
    this.#machine = new Machine({ random });
    this.setToken(token);
    this.#keeper = new Keeper(storage, { wall, warn: (text) => this.#warn(text),
      loaded: (entries) => this.#take({ type: 'loaded', entries }) });
  }

  /** Connects and stays connected. */
  start() {
    this.#unlisten ??= this.#listen();
    this.#take({ type: 'start' });
  }

  /** Ends the connection, all topics and all calls. `start` may follow. */
  stop() {
    this.#unlisten?.();
    this.#unlisten = null;
    this.#take({ type: 'stop' });
  }

  /** Who the client is: null, a token, or a function that is asked for one whenever it is needed. */
  setToken(token) {
    const isSource = typeof token === 'function';
    const kind = isSource ? 'source' : token === null || token === undefined ? 'none' : 'fixed';
    const text = kind === 'fixed' ? String(token) : null;
    this.#source = isSource ? token : null;
    this.#take({ type: 'setToken', kind, token: text });
  }

  get status() {
    return this.#machine.status;
  }

  /** The status and its changes, the newest only. */
  statuses({ signal } = {}) {
    return this.#watch(this.#watchers, new Inbox(() => 'status'), signal, { type: 'event', status: this.status },
      ({ status }) => status);
  }

  /** A topic: subscribed while somebody iterates. */
  topic(name, options = {}) {
    return this.#topic(name, options, false);
  }

  #topic(name, options, isCurrent) {
    const { since, presence, ...more } = topicOf(name, options);
    return new Topic(name, more, {
      join: (inbox) => {
        const reader = ++this.#numbers;
        this.#readers.set(reader, inbox);
        this.#take({ type: 'join', reader, topic: name, since, presence, isCurrent });
        return () => {
          inbox.end();
          if (this.#readers.delete(reader)) this.#take({ type: 'leave', reader });
        };
      },
      take: (input) => this.#take({ ...input, topic: name }),
    });
  }

  /** The topic's state, perhaps without an event that is on its way; undefined where its namespace has none. */
  async state(name, options = {}) {
    const topic = this.#topic(name, options, true);
    for await (const update of topic) {
      if ('state' in update) return update.state;
      if (update.type === 'live') topic.resynchronise();  // it was resumed, without a state
    }
    throw new SwitchboardError('stopped');
  }

  /** Runs a command; it is repeated under one id until it is answered, refused or too old. */
  call(event, args = {}, options = {}) {
    return this.#call(null, event, args, options);
  }

  /** Publishes an event; the answer is its position. */
  publish(topic, event, data = {}, options = {}) {
    return this.#call(topic, event, data, options);
  }

  /** The calls that are kept, and the answers that nobody waits for any more. */
  get outbox() {
    return {
      entries: this.#machine.calls.entries,
      remove: (id) => this.#take({ type: 'remove', id }),
      results: ({ signal } = {}) => this.#watch(this.#results, new Inbox(), signal, null, ({ result }) => result),
    };
  }

  /** Whatever a program gives is judged and made text here: what throws is the caller's, and reaches nothing else. */
  #call(topic, event, data, options) {
    return new Promise((resolve, reject) => {
      const { signal, ...call } = callOf(topic, event, data, options);
      const as = ++this.#numbers;
      const cancel = () => this.#take({ type: 'cancel', as });
      if (signal?.aborted) return reject(new SwitchboardError('cancelled'));
      signal?.addEventListener('abort', cancel);
      this.#waiters.set(as, { resolve, reject, done: () => signal?.removeEventListener('abort', cancel) });
      this.#take({ ...call, type: 'call', as });
    });
  }

  async *#watch(set, inbox, signal, first, read) {
    const end = () => inbox.end();
    if (signal?.aborted) return;
    signal?.addEventListener('abort', end);
    set.add(inbox);
    try {
      if (first !== null) inbox.push(first);
      for (let one = await inbox.next(); !one.done; one = await inbox.next()) yield read(one.value);
    } finally {
      signal?.removeEventListener('abort', end);
      set.delete(inbox);
    }
  }

  // What the machine decides.

  /** One input at a time: what an action causes comes after the other actions. */
  #take(input) {
    this.#inputs.push(input);
    if (this.#isTaking) return;
    this.#isTaking = true;
    const { now, wall } = this.#options;
    while (this.#inputs.length > 0) {
      const next = this.#inputs.shift();
      // A program's own function may fail, and so may we: no reason to stand still.
      for (const action of attempt(() => this.#machine.take(next, now(), wall())) ?? []) {
        attempt(() => this.#do(action));
      }
    }
    this.#isTaking = false;
    clearTimeout(this.#timer);
    const { wakeAt } = this.#machine;
    if (wakeAt === Infinity) return;
    this.#timer = setTimeout(() => this.#take({ type: 'tick' }), Math.min(timerMsMax, Math.max(0, wakeAt - now())));
  }

  #log(text) {
    attempt(() => this.#options.log?.(text));
  }

  /** What the developer has to know goes to the console where no `log` is given. */
  #warn(text) {
    attempt(() => (this.#options.log ?? console.warn)(text));
  }

  /** Says once why there is no connection, and again after there was one. */
  #tellReason({ reason, isReady }) {
    if (reason !== null && reason.code !== this.#told) {
      const [address] = this.#url.split('?');
      const advice = reason.isPermanent ? ' This does not pass by waiting.' : '';
      this.#warn(`Switchboard: ${address}: ${reason.code}: ${reason.message}${advice}`);
    }
    if (reason !== null || isReady) this.#told = reason?.code ?? null;
  }

  #do(action) {
    const { gen, id, as } = action;
    switch (action.do) {
      case 'open': return this.#open(gen);
      case 'send': return this.#socket?.readyState === 1 && this.#socket.send(action.text);
      case 'close': return this.#socket?.close(action.code);
      case 'token': return this.#askToken(id, action.reason);
      case 'tell': return this.#readers.get(action.reader)?.push(action.update);
      case 'end':
        this.#readers.get(action.reader)?.end(action.error.code === 'stopped' ? null : action.error);
        return this.#readers.delete(action.reader);
      case 'finish': return this.#finish(as, action);
      case 'keep': return this.#keeper.keep(action.entry, (how) => this.#take({ type: 'kept', id, ...how }));
      case 'mark': return this.#keeper.mark(action, (how) => this.#take({ ...action, type: 'marked', ...how }));
      case 'forget': return this.#keeper.forget(id);
      case 'status':
        this.#watchers.forEach((inbox) => inbox.push({ type: 'event', status: action.status }));
        return this.#tellReason(action.status);
      default: return this.#log(action.text);
    }
  }

  #open(gen) {
    let more = {};
    const closed = (code, reason) => this.#take({ type: 'closed', gen, code, reason, ...more });
    try {
      const socket = this.#socket = new this.#options.WebSocket(this.#url);
      let isOpen = false;
      socket.onopen = () => {
        isOpen = true;
        this.#take({ type: 'opened', gen });
      };
      socket.onmessage = ({ data }) => this.#take({ type: 'text', gen, text: typeof data === 'string' ? data : '' });
      socket.onclose = ({ code, reason }) => closed(code, String(reason));
      // A close follows; only here does Node tell why a dial failed.
      socket.onerror = (event) => { if (!isOpen) more = problemOf(event, this.#url); };
    } catch (error) {
      more = { problem: ['bad_address', textOf(error)] };
      closed(0, textOf(error));
    }
  }

  async #askToken(id, reason) {
    let token = null;
    try {
      token = await this.#source?.(reason);
    } catch (error) {
      this.#log(`token: ${textOf(error)}`);
    }
    this.#take({ type: 'token', id, token });
  }

  #finish(as, { id, event, answer, error }) {
    const waiter = this.#waiters.get(as);
    if (waiter === undefined) {
      this.#results.forEach((inbox) => inbox.push({ result: { id, event, answer, error } }));
      return;
    }
    this.#waiters.delete(as);
    waiter.done();
    if (error === undefined) waiter.resolve(answer);
    else waiter.reject(error);
  }

  /** The network and the page, where there is one. */
  #listen() {
    const page = globalThis.document;
    if (page === undefined || typeof addEventListener !== 'function') return () => {};
    const visible = () => page.visibilityState === 'visible' && this.#take({ type: 'visible' });
    const heard = [
      [globalThis, 'online', () => this.#take({ type: 'online' })],
      [globalThis, 'offline', () => this.#take({ type: 'offline' })],
      [globalThis, 'pagehide', () => this.#take({ type: 'hide' })],
      [globalThis, 'pageshow', ({ persisted }) => persisted && this.#take({ type: 'visible' })],
      [page, 'visibilitychange', visible],
    ];
    for (const [target, name, handler] of heard) target.addEventListener(name, handler);
    return () => heard.forEach(([target, name, handler]) => target.removeEventListener(name, handler));
  }
}

/** Runs a program's function; what it throws is told on the console, and goes no further. */
function attempt(act) {
  try {
    return act();
  } catch (error) {
    console.error(error);
    return undefined;
  }
}

/** A topic. Each loop over it has its own bounded buffer, and ends the subscription when it is the last one. */
class Topic {
  #options;
  #client;

  constructor(name, options, client) {
    this.name = name;
    this.#options = options;
    this.#client = client;
  }

  [Symbol.asyncIterator]() {
    const { signal, latestBy } = this.#options;
    const inbox = new Inbox(latestBy);
    let leave = () => inbox.end();
    const left = () => leave();
    signal?.addEventListener('abort', left);
    if (signal?.aborted) leave();
    else leave = this.#client.join(inbox);
    const done = () => {
      signal?.removeEventListener('abort', left);
      leave();
      return inbox.next();
    };
    return { next: () => inbox.next(), return: done };
  }

  /** The events alone, of these names if there are any. */
  async *events(...names) {
    for await (const update of this) {
      if (update.type === 'event' && (names.length === 0 || names.includes(update.event))) yield update;
    }
  }

  /** Who is here, whenever it changes: members by id. Needs the option `presence`. */
  async *presence() {
    let members = new Map();
    for await (const update of this) {
      if (update.type !== 'presence') continue;
      if (update.members) members = new Map();
      for (const one of update.members ?? [...update.joins, ...update.updates]) members.set(one.id, one);
      for (const one of update.leaves ?? []) members.delete(one.id);
      yield new Map(members);
    }
  }

  /** Lists the client here while somebody iterates, on every connection, or with null no longer. Before the first loop
   *  it is remembered. */
  track(meta = {}) {
    this.#client.take({ type: 'track', meta: metaOf(this.name, meta) });
  }

  /** Asks for the state anew. */
  resynchronise() {
    this.#client.take({ type: 'resynchronise' });
  }
}
