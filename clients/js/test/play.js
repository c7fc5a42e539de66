// Plays a case of clients/conformance on the machine, in time of its own. Its README says what each
// step means.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';

import { entryOf } from '../src/calls.js';
import { Machine } from '../src/machine.js';
import { Inbox, Optimistic } from '../src/values.js';

const table = new URL('../../conformance/', import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, table), 'utf8'));
const preludes = read('preludes.json');

/** All cases of the table, in the order of its files. */
export const cases = readdirSync(table).filter((name) => /^[0-9].*\.json$/.test(name)).sort()
  .flatMap((name) => read(name).cases);

/** A day in the year 2026, so that a date is one. */
const wallMs = 1_795_000_000_000;

export class Play {
  now = 1_000;
  wallShift = wallMs;
  actions = [];
  sockets = [];
  names = new Map();
  inboxes = new Map();
  outcomes = new Map();
  results = new Map();
  values = new Map();
  asked = [];
  storage = new Map();
  isFull = false;
  numbers = 0;

  constructor({ given = {}, steps }, random) {
    this.random = random;
    this.given = given;
    this.steps = steps.flatMap((step) => (step.play === undefined ? [step] : preludes[step.play]));
    for (const entry of given.storage ?? []) {
      const times = { createdAt: wallMs + (entry.createdAt ?? 0), expiresAt: wallMs + (entry.expiresAt ?? 3_600_000),
        firstSentAt: entry.firstSentAt === undefined ? null : wallMs + entry.firstSentAt };
      this.storage.set(entry.id, { topic: null, lane: 'default', repeatable: false, ...entry,
        data: JSON.stringify(entry.data ?? {}), ...times });
    }
    for (const [id, value] of Object.entries(given.spoilt ?? {})) this.storage.set(id, value);
    this.#begin();
  }

  /** Each step in turn; at the end the client has done nothing that no step told of. */
  async run() {
    for (const [index, step] of this.steps.entries()) {
      try {
        this.#step(step);
      } catch (error) {
        throw new Error(`step ${index + 1}, ${JSON.stringify(step).slice(0, 200)}: ${error.message}`, { cause: error });
      }
      for (let turn = 0; turn < 4; turn += 1) await null;  // what waits for an answer comes to know it
    }
    assert.deepEqual(this.actions, [], 'the client did what no step told of');
  }

  #begin() {
    this.machine = new Machine({ random: this.random });
    const { token = null } = this.given;
    this.#take(tokenInput(token));
    const entries = [];
    for (const [id, value] of this.storage) {
      const entry = entryOf(value);
      if (entry === null) this.storage.delete(id);
      else entries.push(entry);
    }
    this.#take({ type: 'loaded', entries });
  }

  get #wall() {
    return this.now + this.wallShift;
  }

  #take(input) {
    for (const action of this.machine.take(input, this.now, this.#wall)) this.#do(action);
  }

  #do(action) {
    const { gen, id, as } = action;
    switch (action.do) {
      case 'open':
        this.sockets.push(gen);
        return this.actions.push({ do: 'open' });
      case 'send':
        assert.equal(gen, this.sockets.at(-1), 'it spoke to a socket that is gone');
        return this.actions.push({ do: 'send', frame: JSON.parse(action.text) });
      case 'close': return this.actions.push({ do: 'close', code: action.code });
      case 'token':
        this.asked.push(id);
        return this.actions.push({ do: 'token', reason: action.reason });
      case 'tell': return this.inboxes.get(action.reader).push(action.update);
      case 'end': return this.outcomes.set(action.reader, action.error.code);
      case 'finish': return this.#finish(as, action);
      case 'keep':
        if (!this.isFull) this.storage.set(action.entry.id, action.entry);
        return this.#take({ type: 'kept', id: action.entry.id, isKept: !this.isFull });
      case 'mark': return this.#mark(id, action.firstSentAt);
      case 'forget': return this.storage.delete(id);
      default: return undefined;
    }
  }

  #mark(id, firstSentAt) {
    const entry = this.storage.get(id);
    if (entry === undefined) return this.#take({ type: 'marked', id, isKept: true, firstSentAt: null });
    if (!this.isFull) entry.firstSentAt ??= firstSentAt;
    return this.#take({ type: 'marked', id, isKept: !this.isFull, firstSentAt: entry.firstSentAt });
  }

  #finish(as, { id, answer, error }) {
    const outcome = error === undefined ? { answer } : { error: error.code };
    if (as === null) return assert.ok(!this.results.has(id), 'told twice') ?? this.results.set(id, outcome);
    assert.ok(!this.outcomes.has(as), `${as} was finished twice`);
    this.outcomes.set(as, outcome);
    this.values.get(this.names.get(as))?.settle(as, outcome);
    return undefined;
  }

  // Time.

  #tick(until) {
    if (this.machine.wakeAt > until) return false;
    this.now = Math.max(this.now, this.machine.wakeAt);
    this.#take({ type: 'tick' });
    return true;
  }

  #pass(ms) {
    const end = this.now + ms;
    for (let turns = 0; this.#tick(end); turns += 1) assert.ok(turns < 10_000, 'the client does not come to rest');
    this.now = end;
  }

  // Steps.

  #step(step) {
    const verb = ['app', 'source', 'expect', 'gateway', 'clock', 'quiet', 'sleep', 'wall', 'sees', 'done', 'result',
      'status', 'stored', 'storage', 'value'].find((one) => one in step);
    switch (verb) {
      case 'app': return this.#app(step);
      case 'source': return this.#take({ type: 'token', id: this.asked.shift(), token: step.source });
      case 'expect': return this.#expect(step);
      case 'gateway': return this.#gateway(step);
      case 'clock': return this.#pass(step.clock);
      case 'quiet':
        this.#pass(step.quiet);
        return assert.deepEqual(this.actions, []);
      case 'sleep':
        this.now += step.sleep;
        return this.#take({ type: 'tick' });
      case 'wall':
        this.wallShift += step.wall;
        return undefined;
      case 'sees': return this.#sees(step);
      case 'done': return this.#outcome(this.outcomes.get(step.done), step);
      case 'result':
        this.#outcome(this.results.get(step.result), step);
        return this.results.delete(step.result);
      case 'status': return this.#match(this.machine.status, step.status);
      case 'stored': return assert.deepEqual([...this.storage.keys()].sort(), [...step.stored].sort());
      case 'storage':
        this.isFull = step.storage === 'full';
        return undefined;
      case 'value': return this.#value(step);
      default: throw new Error('no such step');
    }
  }

  #app({ app, as, ...more }) {
    switch (app) {
      case 'token': return this.#take(tokenInput(more.token));
      case 'restart':
        [this.sockets, this.asked] = [[], []];
        return this.#begin();
      case 'join':
        this.inboxes.set(as, new Inbox(more.latestBy && ((update) => update.data[more.latestBy])));
        return this.#take({ type: 'join', reader: as, ...more });
      case 'publish':
      case 'call':
        if (more.value !== undefined) this.#guess(as, more);
        return this.#take({ type: 'call', as, ...more, data: JSON.stringify(this.#filled(more.data ?? {})) });
      case 'track':
        return this.#take({ type: app, ...more, meta: more.meta === null ? null : JSON.stringify(more.meta) });
      case 'leave': return this.#take({ type: 'leave', reader: as });
      case 'cancel': return this.#take({ type: 'cancel', as });
      default: return this.#take({ type: app, ...more });
    }
  }

  #guess(as, { value, guess }) {
    this.names.set(as, value);
    const { optimistic, waiting } = this.values.get(value);
    const answer = new Promise((resolve, reject) => waiting.set(as, { resolve, reject }));
    optimistic.perform((old) => ({ ...old, ...guess }), () => answer).catch(() => {});
  }

  #gateway({ gateway, socket, frame, repeat = 1, from = 1, ...more }) {
    const gen = socket === undefined ? this.sockets.at(-1) : this.sockets[socket - 1];
    if (gateway !== 'send') return this.#take({ type: gateway, gen, ...more });
    for (let number = from; number < from + repeat; number += 1) {
      this.names.set('$n', number);
      this.#take({ type: 'text', gen, text: typeof frame === 'string' ? frame : JSON.stringify(this.#filled(frame)) });
    }
    return undefined;
  }

  #expect({ expect, withinMs = 0, ...wanted }) {
    const end = this.now + withinMs;
    if (expect === 'subscribe') return this.#expectTopics(wanted.topics, end);
    const action = this.#nextAction(end, expect);
    assert.equal(action.do, expect, `the client did ${JSON.stringify(action)}`);
    if (wanted.frame !== undefined) this.#match(action.frame, wanted.frame);
    if (wanted.code !== undefined) assert.equal(action.code, wanted.code);
    if (wanted.reason !== undefined) assert.equal(action.reason, wanted.reason);
    return undefined;
  }

  #expectTopics(topics, end) {
    const left = new Map(Object.entries(topics));
    while (left.size > 0) {
      const { frame } = this.#nextAction(end, 'subscribe');
      assert.equal(frame?.event, 'subscribe', `the client did ${JSON.stringify(frame)}`);
      for (const one of frame.data.topics ?? [frame.data]) {
        const { topic, since } = typeof one === 'string' ? { topic: one } : one;
        assert.ok(left.has(topic), `it asked for ${topic}`);
        assert.deepEqual(since ?? null, left.get(topic), topic);
        left.delete(topic);
        this.names.set(`$${topic}`, frame.ref);
      }
    }
  }

  #nextAction(end, wanted) {
    while (this.actions.length === 0 && this.#tick(end));
    assert.ok(this.actions.length > 0, `no ${wanted}`);
    return this.actions.shift();
  }

  #sees({ sees, update, nothing, ended, offsets }) {
    const inbox = this.inboxes.get(sees);
    if (nothing) assert.equal(inbox.take(), undefined);
    if (ended !== undefined) assert.equal(this.outcomes.get(sees), ended);
    if (update !== undefined) this.#match(inbox.take(), update);
    if (offsets !== undefined) {
      for (let offset = offsets[0]; offset <= offsets[1]; offset += 1) {
        this.#match(inbox.take(), { type: 'event', position: { offset } });
      }
    }
  }

  #outcome(outcome, { waiting, answer, error }) {
    if (waiting) return assert.equal(outcome, undefined);
    assert.ok(outcome !== undefined, 'it is not finished');
    if (error !== undefined) return assert.equal(outcome.error, error);
    return this.#match(outcome, { answer });
  }

  #value({ value, server, upTo, is }) {
    if (server !== undefined && !this.values.has(value)) this.values.set(value, guesses(server));
    else if (server !== undefined) this.values.get(value).optimistic.set(server, upTo ?? null);
    if (is !== undefined) assert.deepEqual(this.values.get(value).optimistic.value, is);
  }

  /** Text that begins with $ stands for what the client chose. */
  #filled(value) {
    if (typeof value === 'string' && this.names.has(value)) return this.names.get(value);
    if (Array.isArray(value)) return value.map((one) => this.#filled(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.#filled(one)]));
  }

  /** What is wanted is there; more may be. */
  #match(actual, wanted, path = '') {
    if (typeof wanted === 'string' && wanted.startsWith('$')) {
      if (!this.names.has(wanted)) this.names.set(wanted, actual);
      assert.deepEqual(actual, this.names.get(wanted), path);
    } else if (typeof wanted === 'object' && wanted !== null && !Array.isArray(wanted)) {
      assert.ok(typeof actual === 'object' && actual !== null, `${path}: it is ${JSON.stringify(actual)}`);
      for (const [name, one] of Object.entries(wanted)) this.#match(actual[name], one, `${path}.${name}`);
    } else {
      assert.deepEqual(actual, wanted, path);
    }
  }
}

/** An optimistic value, whose guesses wait for the outcome of their calls. */
function guesses(server) {
  const waiting = new Map();
  const settle = (as, { answer, error }) =>
    (error === undefined ? waiting.get(as).resolve(answer) : waiting.get(as).reject(new Error(error)));
  return { optimistic: new Optimistic(server), waiting, settle };
}

function tokenInput(token) {
  if (token === null) return { type: 'setToken', kind: 'none' };
  return token === 'source' ? { type: 'setToken', kind: 'source' } : { type: 'setToken', kind: 'fixed', token };
}
