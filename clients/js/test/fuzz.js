// The public API with odd values, in an order that a seed decides: the caller gets an error or an answer, and the
// client works on. SEED=7 node --test fuzz.js

import assert from 'node:assert/strict';
import test from 'node:test';

import { Optimistic, SwitchboardClient, webStorage } from '../switchboard.js';

const seeds = process.env.SEED === undefined ? [1, 2, 3] : [Number(process.env.SEED)];
const actsPerSeed = 200;

/** Numbers from 0 to 1 that a seed decides. */
function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

/** A gateway that answers in the same breath, to every socket. */
class Socket {
  static last = null;
  static offset = 0;
  readyState = 0;
  topics = new Set();

  constructor() {
    Socket.last = this;
    queueMicrotask(() => {
      this.readyState = 1;
      this.onopen?.();
    });
  }

  say(message) {
    if (this.readyState === 1) this.onmessage({ data: JSON.stringify(message) });
  }

  send(text) {
    assert.ok(new TextEncoder().encode(text).length <= 65_536, 'the gateway would end this connection');
    const { event, data, ref } = JSON.parse(text);
    if (event === 'authenticate') return this.say({ event: 'authenticated', data: { userId: 'ada' }, ref });
    if (event === 'ping') return this.say({ event: 'pong' });
    if (event === 'track' || event === 'untrack') return undefined;
    if (event !== 'subscribe') return this.say({ event: 'ack', data: { epoch: 'k', offset: 1 }, ref });
    for (const { topic } of data.topics ?? [data]) {
      this.topics.add(topic);
      const answer = { topic, epoch: 'k', offset: Socket.offset, recovered: false };
      this.say({ event: 'subscribed', topic, ref, data: answer });
    }
    return undefined;
  }

  publish(topic, event) {
    Socket.offset += 1;
    this.say({ event, topic, data: {}, offset: Socket.offset });
  }

  close() {
    this.readyState = 3;
  }
}

/** Values that nobody should give. */
function odd(random) {
  const cyclic = {};
  cyclic.self = cyclic;
  const boom = () => { throw new Error('mine'); };
  const values = [
    10n, { n: 10n }, [[1n]], cyclic, Symbol('s'), { [Symbol.iterator]: 1 }, () => {}, class {}, NaN, Infinity, -0, -1,
    2 ** 60, '', 'x', '\ud800', '\udfff\ud800', '\u0000', '__proto__', 'a:b', 'shop:1', 'x'.repeat(70_000),
    'e'.repeat(300_000), null, undefined, true, [], {}, [undefined], new Map([[1, 2]]), new Date(NaN), /r/g,
    new Error('e'),
    Promise.resolve(1),
    Object.create(null), { get n() { return boom(); } }, { toJSON: boom }, { toString: boom }, { valueOf: boom },
    { toJSON: () => undefined }, { toJSON: () => 1n }, { __proto__: null, toString: null },
    new Proxy({}, { get: boom, ownKeys: boom, has: boom, getOwnPropertyDescriptor: boom }),
    new Proxy(() => {}, { apply: boom, get: boom }), new Uint8Array(3), new WeakMap(), { length: -1 }, { then: boom },
    JSON.parse(`${'['.repeat(3_000)}${']'.repeat(3_000)}`), { since: { epoch: 1n, offset: NaN } },
    { signal: {} }, { signal: 5 }, { signal: { aborted: false, addEventListener: boom } }, { latestBy: 5 },
    { id: 10n }, { id: Symbol('s') }, { id: 'not a name' }, { id: '' }, { id: { toString: boom } }, { lane: 10n },
    { timeoutMs: NaN }, { timeoutMs: 10n }, { timeoutMs: 'soon' }, { timeoutMs: -1 }, { keepMs: Infinity },
    { keepMs: NaN }, { keepMs: 1n }, { lane: cyclic }, { repeatable: 1n }, { keepMs: 50, id: 'kept' },
    { get since() { return boom(); } }, { get signal() { return boom(); } }, { get id() { return boom(); } },
  ];
  return values[Math.floor(random() * values.length)];
}

const leave = (topic) => topic[Symbol.asyncIterator]().return();

/** One use of the client; whatever it throws or rejects with is its caller's. */
const uses = [
  (client, one) => client.call(one(), one(), one()),
  (client, one) => client.call('vote', one()),
  (client, one) => client.call('vote', {}, one()),
  (client, one) => client.publish(one(), one(), one(), one()),
  (client, one) => client.publish('shop:1', 'e', one()),
  (client, one) => client.publish('shop:1', one()),
  (client, one) => client.topic('shop:1').track(one()),
  (client, one) => client.topic(one(), one()).track(one()),
  (client, one) => leave(client.topic('shop:2', one())),
  (client, one) => leave(client.topic('shop:3', { since: one(), presence: one(), latestBy: one() })),
  (client, one) => leave(client.topic('shop:4', { latestBy: () => one() })),
  (client, one) => client.topic('shop:1').events(one()).return(one()),
  (client, one) => client.topic('shop:1').presence(one()).return(),
  (client, one) => client.state(one(), one()),
  (client, one) => client.statuses(one()).next(),
  (client, one) => client.outbox.results(one()).return(),
  (client, one) => client.outbox.remove(one()),
  (client, one) => new Optimistic(one()).perform(one(), one()),
  (client, one) => client.topic('shop:1').resynchronise(one()),
  (client, one) => client.setToken(async () => { throw one(); }),
  (client, one) => client.setToken(async () => one()),
  (client, one) => client.setToken(one()),
  (client, one) => new SwitchboardClient(one(), { WebSocket: Socket, token: one() }).stop(),
  (client) => client.start(),
];

for (const seed of seeds) {
  test(`odd values end with their caller (${seed})`, async (t) => {
    t.mock.method(console, 'error', () => {});
    t.mock.method(console, 'warn', () => {});
    const random = seeded(seed);
    const items = new Map();
    const area = { get length() { return items.size; }, key: (index) => [...items.keys()][index],
      getItem: (key) => items.get(key) ?? null, setItem: (key, text) => items.set(key, text),
      removeItem: (key) => items.delete(key) };
    // Calls have a rate: time goes faster.
    const wait = globalThis.setTimeout;
    t.mock.method(globalThis, 'setTimeout', (act, ms) => wait(act, ms / 50));
    const now = () => performance.now() * 50;
    const log = () => { if (random() < 0.1) throw new Error('mine'); };
    const options = { WebSocket: Socket, token: 't', storage: webStorage(area), log, now };
    const client = new SwitchboardClient('ws://gateway', options);
    client.start();
    const one = () => odd(random);
    for (let act = 0; act < actsPerSeed; act += 1) {
      const use = uses[Math.floor(random() * uses.length)];
      try {
        Promise.resolve(use(client, one)).then(() => {}, () => {});
      } catch {
        // The caller's.
      }
      if (act % 16 === 0) await new Promise((resolve) => { setImmediate(resolve); });
    }
    client.setToken('t');
    const heard = client.topic('shop:9').events('e')[Symbol.asyncIterator]();
    const event = heard.next();
    while (!Socket.last.topics.has('shop:9')) await new Promise((resolve) => { setTimeout(resolve, 5); });
    Socket.last.publish('shop:9', 'e');
    assert.equal((await event).value.event, 'e');
    assert.deepEqual(await client.call('vote', {}, { lane: 'own' }), { epoch: 'k', offset: 1 });
    await assert.rejects(client.call('vote', { n: 10n }), TypeError);
    await assert.rejects(client.call(10n), { code: 'bad_request' });
    await assert.rejects(client.publish('shop:1', 5n), { code: 'bad_request' });
    assert.throws(() => client.topic('shop:1').track({ n: 10n }), TypeError);
    client.stop();
    assert.equal(client.status.phase, 'stopped');
    assert.deepEqual(await heard.next(), { done: true, value: undefined });
    await assert.rejects(client.call('vote', {}, { timeoutMs: 1 }), { code: 'timeout' });
  });
}
