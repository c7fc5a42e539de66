// Random histories of the machine at a gateway that is a model: cuts, drains, lost answers, lost logs, other processes.
// No event comes twice or out of order, every hole is told, no call is done twice or lost, and in the end all is well.
//
// HISTORIES=1000 SEED=7 node --test histories.js

import assert from 'node:assert/strict';
import test from 'node:test';

import { entryOf } from '../src/calls.js';
import { Machine } from '../src/machine.js';

const topic = 'shop:1';
const wallMs = 1_795_000_000_000;
const rememberedMs = 300_000;

/** Numbers from 0 to 1 that a seed decides. */
function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A gateway with one topic: its log, what it has done, and the words under way in both directions. */
class Gateway {
  now = 0;
  number = 0;
  epoch = 1;
  offset = 0;
  log = [];
  done = new Map();
  counts = new Map();
  order = [];
  isWell = false;
  socket = null;
  /** What earlier sockets have not said yet. */
  late = [];

  constructor(random) {
    this.random = random;
  }

  open(gen) {
    assert.equal(this.socket, null, 'two sockets');
    this.socket = { gen, isOpen: false, isMember: false, toClient: [], toGateway: [] };
  }

  say(message) {
    this.socket?.toClient.push(JSON.stringify(message));
  }

  publish() {
    this.number += 1;
    this.offset += 1;
    const event = { event: 'e', topic, data: { n: this.number }, offset: this.offset };
    this.log.push(event);
    // Lost on its way, and nobody says so.
    if (!this.socket?.isMember || (!this.isWell && this.random() < 0.05)) return;
    this.say(event);
    if (this.random() < 0.05) this.say(this.log[Math.floor(this.random() * this.log.length)]);
  }

  forget() {
    if (this.random() < 0.5) {
      this.log = this.log.slice(-2);
      return;
    }
    [this.epoch, this.offset, this.log] = [this.epoch + 1, Math.floor(this.random() * 5), []];
    const position = { epoch: `k${this.epoch}`, offset: this.offset };
    if (this.socket?.isMember) this.say({ event: 'gap', topic, data: { ...position, reason: 'reset' } });
  }

  hear({ event, data = {}, ref }) {
    if (event === 'ping') return this.say({ event: 'pong' });
    if (event === 'authenticate') return this.say({ event: 'authenticated', data: { userId: 'ada' }, ref });
    if (event === 'subscribe') return this.#subscribe(data, ref);
    if (event === 'unsubscribe') return undefined;
    if (this.random() < 0.1) {
      const code = this.random() < 0.5 ? 'unavailable' : 'rate_limited';
      // It may have run: then its answer alone is lost, and the retry finds it.
      if (code === 'unavailable' && this.random() < 0.5) this.#run(ref);
      return this.say({ event: 'error', data: { code, message: code, retryAfterMs: 50 }, ref });
    }
    this.#run(ref);
    this.say({ event: 'ack', data: { ref }, ref });
    if (this.random() < 0.1) this.say({ event: 'ack', data: { ref: this.order[0] }, ref: this.order[0] });
    return undefined;
  }

  #run(ref) {
    const at = this.done.get(ref);
    if (at !== undefined && this.now - at < rememberedMs) return;
    this.done.set(ref, this.now);
    if (at === undefined) this.order.push(ref);
    this.counts.set(ref, (this.counts.get(ref) ?? 0) + 1);
  }

  #subscribe({ since }, ref) {
    if (this.random() < 0.1) {
      return this.say({ event: 'error', topic, data: { code: 'unavailable', message: 'unavailable' }, ref });
    }
    const missed = this.log.filter(({ offset }) => offset > since?.offset);
    const isRecovered = since !== undefined && since.epoch === `k${this.epoch}`
      && missed.length === this.offset - since.offset;
    this.socket.isMember = true;
    const data = { topic, epoch: `k${this.epoch}`, offset: this.offset, recovered: isRecovered };
    this.say({ event: 'subscribed', topic, ref, data: { ...data, state: { n: this.number } } });
    if (isRecovered) missed.forEach((event) => this.say(event));
    return undefined;
  }
}

class History {
  now = 1_000;
  calls = 0;
  waiting = new Set();
  kept = new Set();
  outcomes = new Map();
  storage = new Map();
  lanes = new Map();

  constructor(seed) {
    this.random = seeded(seed);
    this.gateway = new Gateway(this.random);
    this.#begin();
  }

  run() {
    for (let step = 0; step < 150; step += 1) this.#step(this.random());
    this.gateway.isWell = true;
    // The network is well again, and so is everything else after a while.
    for (let turn = 0; turn < 400; turn += 1) {
      this.#carry(true);
      this.#pass(500);
      if (turn === 390) this.gateway.publish();
    }
    assert.equal(this.last, this.gateway.number, 'the last event');
    assert.deepEqual([...this.waiting], [], 'a call without an end');
    for (const id of this.kept) assert.ok(this.outcomes.has(id), `${id} is lost`);
    for (const [id, count] of this.gateway.counts) assert.equal(count, 1, `${id} was done ${count} times`);
    for (const lane of ['a', 'b']) {
      const numbers = this.gateway.order.filter((id) => this.lanes.get(id) === lane).map((id) => Number(id.slice(1)));
      assert.deepEqual(numbers, [...numbers].sort((a, b) => a - b), `the order of lane ${lane}`);
    }
    for (const [id, outcome] of this.outcomes) {
      if (outcome.ref !== undefined) assert.equal(outcome.ref, id, `${id} got the answer of another`);
      if (outcome.ref !== undefined) assert.equal(this.gateway.counts.get(id), 1, `${id} was answered and not done`);
      if (outcome === 'expired') assert.equal(this.gateway.counts.get(id), undefined, `${id} was done and is expired`);
    }
  }

  #step(luck) {
    if (luck < 0.25) this.gateway.publish();
    else if (luck < 0.5) this.#carry(false);
    else if (luck < 0.65) this.#pass(Math.floor(this.random() * 400));
    else if (luck < 0.75) this.#call();
    else if (luck < 0.83) this.#cut(1006);
    else if (luck < 0.86) this.gateway.say({ event: 'draining', data: { reconnectAfterMs: 100 } });
    else if (luck < 0.9) this.gateway.forget();
    else if (luck < 0.92) this.#begin();
    else if (luck < 0.93) this.#pass(200_000 + Math.floor(this.random() * 200_000));
    else if (luck < 0.96) this.#take({ type: ['online', 'visible', 'offline'][Math.floor(this.random() * 3)] });
    else this.#carry(true);
  }

  /** A process begins, with what an earlier one has stored. */
  #begin() {
    this.#cut(null);
    this.gateway.late = [];
    this.waiting.clear();
    this.machine = new Machine({ random: this.random });
    this.last = null;
    this.#take({ type: 'setToken', kind: 'fixed', token: 't' });
    this.#take({ type: 'loaded', entries: [...this.storage.values()].map((text) => entryOf(JSON.parse(text))) });
    this.#take({ type: 'join', reader: 'r', topic });
    this.#take({ type: 'start' });
  }

  #call() {
    const id = `c${this.calls += 1}`;
    const isKept = this.random() < 0.5;
    this.waiting.add(id);
    const keep = isKept ? { keepMs: 3_600_000 } : { timeoutMs: this.random() < 0.5 ? 60_000 : 900_000 };
    const lane = this.random() < 0.3 ? 'b' : 'a';
    this.lanes.set(id, lane);
    this.#take({ type: 'call', as: id, id, event: 'do', data: '{}', lane, ...keep });
  }

  #cut(code) {
    const { socket } = this.gateway;
    this.gateway.socket = null;
    if (socket !== null) this.gateway.late.push(...socket.toClient.map((text) => ({ gen: socket.gen, text })));
    if (socket !== null && code !== null) this.#take({ type: 'closed', gen: socket.gen, code });
  }

  /** Some of what is under way arrives, or all of it. */
  #carry(isAll) {
    const { socket } = this.gateway;
    const old = this.gateway.late.shift();
    if (old !== undefined) this.#take({ type: 'text', ...old });
    if (socket === null) return;
    if (!socket.isOpen) {
      socket.isOpen = true;
      this.#take({ type: 'opened', gen: socket.gen });
    }
    for (let count = isAll ? 1_000 : Math.floor(this.random() * 4); count > 0; count -= 1) {
      if (socket !== this.gateway.socket) return;
      const word = socket.toGateway.shift();
      this.gateway.now = this.now;
      if (word !== undefined) this.gateway.hear(JSON.parse(word));
      const text = socket.toClient.shift();
      if (text !== undefined) this.#take({ type: 'text', gen: socket.gen, text });
      if (word === undefined && text === undefined) return;
    }
  }

  #pass(ms) {
    const end = this.now + ms;
    for (let turns = 0; this.machine.wakeAt <= end; turns += 1) {
      assert.ok(turns < 5_000, 'no rest');
      this.now = Math.max(this.now, this.machine.wakeAt);
      this.#take({ type: 'tick' });
    }
    this.now = end;
  }

  #take(input) {
    for (const action of this.machine.take(input, this.now, wallMs + this.now)) this.#do(action);
  }

  #do(action) {
    const { gen, id, as, update } = action;
    const { socket } = this.gateway;
    switch (action.do) {
      case 'open': return this.gateway.open(gen);
      case 'send': return socket?.gen === gen && socket.toGateway.push(action.text);
      case 'close': return socket?.gen === gen && this.#cut(null);
      case 'tell': return this.#tell(update);
      case 'keep':
        this.kept.add(id);
        this.storage.set(id, JSON.stringify(action.entry));
        return this.#take({ type: 'kept', id, isKept: true });
      case 'mark': {
        const entry = JSON.parse(this.storage.get(id));
        this.storage.set(id, JSON.stringify({ ...entry, firstSentAt: entry.firstSentAt ?? action.firstSentAt }));
        return this.#take({ type: 'marked', id, isKept: true, firstSentAt: entry.firstSentAt ?? action.firstSentAt });
      }
      case 'forget': return this.storage.delete(id);
      case 'finish':
        assert.ok(!this.outcomes.has(id), `${id} was finished twice`);
        this.waiting.delete(as);
        return this.outcomes.set(id, action.error?.code ?? action.answer);
      default: return undefined;
    }
  }

  /** What a program may conclude: after a state its number, after an event the next one, after a gap nothing. */
  #tell(update) {
    if (update.type === 'gap') {
      this.last = null;
    } else if (update.type === 'live' && !update.recovered) {
      assert.ok(this.last === null || update.state.n === this.last, 'a hole that was not told');
      this.last = update.state.n;
    } else if (update.type === 'event') {
      const { n } = update.data;
      assert.ok(this.last === null || n === this.last + 1, `${n} after ${this.last}`);
      this.last = n;
    }
  }
}

test('random histories', () => {
  const first = Number(process.env.SEED ?? 1);
  for (let seed = first; seed < first + Number(process.env.HISTORIES ?? 300); seed += 1) {
    try {
      new History(seed).run();
    } catch (error) {
      throw new Error(`SEED=${seed}: ${error.message}`, { cause: error });
    }
  }
});
