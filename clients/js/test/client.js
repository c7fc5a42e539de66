// The client around the machine, with sockets that the test plays: what only shows where there are promises.

import assert from 'node:assert/strict';
import test from 'node:test';

import { SwitchboardClient, SwitchboardError, backOffMs, webStorage } from '../switchboard.js';

/** A socket of the test; the newest is last in `opened`. */
class Socket {
  static opened = [];
  readyState = 0;
  said = [];

  constructor() {
    Socket.opened.push(this);
  }

  open() {
    this.readyState = 1;
    this.onopen();
  }

  hear(message) {
    this.onmessage({ data: typeof message === 'string' ? message : JSON.stringify(message) });
  }

  send(text) {
    this.said.push(JSON.parse(text));
  }

  close() {
    this.readyState = 3;
  }
}

/** A `localStorage`. */
class Area {
  #items = new Map();
  isFull = false;

  get length() {
    return this.#items.size;
  }

  key(index) {
    return [...this.#items.keys()][index];
  }

  getItem(key) {
    return this.#items.get(key) ?? null;
  }

  setItem(key, text) {
    if (this.isFull) throw new Error('QuotaExceededError');
    this.#items.set(key, text);
  }

  removeItem(key) {
    this.#items.delete(key);
  }
}

const turn = () => new Promise((resolve) => { setImmediate(resolve); });

/** A client on an open connection of user ada, and its socket. */
async function ready(t, options = {}) {
  const client = new SwitchboardClient('ws://gateway', { WebSocket: Socket, token: 't', ...options });
  t.after(() => client.stop());
  client.start();
  const socket = Socket.opened.at(-1);
  socket.open();
  socket.hear({ event: 'authenticated', data: { userId: 'ada' }, ref: socket.said.pop().ref });
  await turn();
  return { client, socket };
}

async function live(t, options) {
  const made = await ready(t, options);
  const updates = made.client.topic('shop:1', options)[Symbol.asyncIterator]();
  const { ref } = made.socket.said.pop();
  made.socket.hear({ event: 'subscribed', topic: 'shop:1', ref, data: { epoch: 'k', offset: 0, recovered: false } });
  await updates.next();
  return { ...made, updates };
}

const event = (offset, data = {}) => ({ event: 'e', topic: 'shop:1', data, offset });

test('without a WebSocket there is a word, not an endless attempt', () => {
  assert.throws(() => new SwitchboardClient('ws://gateway', { WebSocket: null }), TypeError);
});

test('why there is no connection is said once, and again after there was one', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  const said = () => warn.mock.calls.map(({ arguments: [text] }) => text);
  const { client, socket } = await ready(t, { now: () => 0 });
  socket.onclose({ code: 1006, reason: '' });
  assert.match(said()[0], /^Switchboard: ws:\/\/gateway: lost: /);
  assert.equal(client.status.reason.isPermanent, false);
  const again = async (act) => {
    client.stop();
    client.start();
    await turn();
    act(Socket.opened.at(-1));
  };
  const missing = (one) => {
    one.onerror({ message: 'Unexpected server response: 404' });
    one.onclose({ code: 1006, reason: '' });
  };
  for (const act of [missing, missing]) await again(act);
  assert.equal(said().length, 2);
  assert.match(said()[1], /: not_found: .* This does not pass by waiting\.$/);
  assert.deepEqual(client.status.reason, { code: 'not_found', isPermanent: true,
    message: 'The address has a path that is not there (HTTP 404).' });
  await again((one) => {
    one.open();
    one.hear({ event: 'authenticated', data: { userId: 'ada' }, ref: one.said.pop().ref });
    assert.equal(client.status.reason, null);
    one.onclose({ code: 1006, reason: '' });
  });
  assert.equal(said().length, 3);
});

test('a log that is given hears the reason in place of the console', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  const lines = [];
  const { socket } = await ready(t, { log: (text) => lines.push(text) });
  socket.onclose({ code: 4429, reason: 'too fast' });
  assert.deepEqual([lines.length, warn.mock.callCount()], [1, 0]);
});

test('an idle client wakes for its ping and for nothing else', async (t) => {
  let [now, timer, rings, pings] = [0, null, 0, 0];
  t.mock.method(globalThis, 'setTimeout', (act, ms) => { timer = { act, at: now + ms }; });
  t.mock.method(globalThis, 'clearTimeout', () => { timer = null; });
  const { socket } = await live(t, { now: () => now });
  while (timer !== null && timer.at < 3_600_000) {
    const { act, at } = timer;
    [now, timer, rings] = [at, null, rings + 1];
    act();
    for (const said of socket.said.splice(0)) {
      assert.equal(said.event, 'ping');
      [now, pings] = [now + 40, pings + 1];
      socket.hear({ event: 'pong' });
    }
  }
  assert.deepEqual([rings, pings], [143, 143]);
});

test('a name that can be no topic is refused before it spoils a batch', async (t) => {
  const { client } = await ready(t);
  assert.throws(() => client.topic('no topic'), SwitchboardError);
  await assert.rejects(client.publish('x', 'e'), { code: 'bad_request' });
});

test('a loop ends by break, by its signal and with the client, and its topic is left', async (t) => {
  const { client, socket } = await live(t);
  const ended = [];
  const loop = async (name, options) => {
    for await (const update of client.topic('shop:1', options)) if (update.event === name) break;
    ended.push(name);
  };
  const control = new AbortController();
  const loops = [loop('e'), loop('signal', { signal: control.signal }), loop('stop')];
  socket.hear(event(1));
  await turn();
  control.abort();
  await turn();
  assert.deepEqual(ended, ['e', 'signal']);
  client.stop();
  await Promise.all(loops);
});

test('a function of the program that fails does not stop the client', async (t) => {
  const told = t.mock.method(console, 'error', () => {});
  const { socket, updates } = await live(t, { latestBy: () => { throw new Error('mine'); } });
  socket.hear(event(1));
  socket.hear({ event: 'gap', topic: 'shop:1', data: { epoch: 'k', offset: 5, reason: 'missed' } });
  assert.equal((await updates.next()).value.type, 'gap');
  assert.equal(told.mock.calls[0].arguments[0].message, 'mine');
});

test('a wish for the state outlives a refusal', async (t) => {
  const { client, socket, updates } = await live(t);
  client.topic('shop:1').resynchronise();
  const { data, ref } = socket.said.pop();
  assert.equal(data.since, undefined);
  socket.hear({ event: 'gap', topic: 'shop:1', data: { epoch: 'k', offset: 5, reason: 'missed' } });
  socket.hear({ event: 'error', topic: 'shop:1', ref, data: { code: 'unavailable', message: '' } });
  await updates.next();
  await updates.next();
  while (socket.said.length === 0) await new Promise((resolve) => { setTimeout(resolve, 20); });
  assert.equal(socket.said.pop().data.since, undefined);
});

test('a message of 10 MB ends the connection, and the client waits before the next', async (t) => {
  const { client, socket } = await ready(t);
  socket.hear(`{"event":"e","data":"${'x'.repeat(10_000_000)}"}`);
  assert.equal(socket.readyState, 3);
  assert.equal(client.status.phase, 'waiting');
  assert.ok(client.status.retryInMs > 29_000);
});

test('nesting without end is no message', async (t) => {
  const { socket, updates } = await live(t);
  socket.hear(`{"event":"e","topic":"shop:1","data":${'['.repeat(1_000_000)}`);
  socket.hear(event(1));
  assert.equal((await updates.next()).value.event, 'e');
});

test('names of prototypes reach programs as data and change nothing', async (t) => {
  const { socket, updates } = await live(t);
  socket.hear('{"event":"__proto__","topic":"shop:1","data":{"__proto__":{"polluted":1}},"__proto__":{"a":1}}');
  assert.equal((await updates.next()).value.event, '__proto__');
  assert.equal({}.polluted, undefined);
  assert.equal({}.a, undefined);
});

test('calls wait for storage, and a storage that is full refuses them', async (t) => {
  const area = new Area();
  area.setItem('switchboard-call:torn', '{"id"');
  area.setItem('theme', 'dark');
  const { client, socket } = await ready(t, { storage: webStorage(area) });
  const call = client.call('vote', {}, { id: 'one', keepMs: 60_000 });
  assert.deepEqual(socket.said, []);
  await turn();
  assert.equal(socket.said.pop().ref, 'one');
  assert.ok(JSON.parse(area.getItem('switchboard-call:one')).firstSentAt > 0);
  area.isFull = true;
  await assert.rejects(client.call('vote', {}, { id: 'two', keepMs: 60_000 }), { code: 'storage' });
  socket.hear({ event: 'ack', data: { n: 1 }, ref: 'one' });
  assert.deepEqual(await call, { n: 1 });
  await turn();
  assert.deepEqual([area.length, area.getItem('theme')], [1, 'dark']);
});

test('a call that another tab has finished is not sent', async (t) => {
  const area = new Area();
  const first = await ready(t, { storage: webStorage(area) });
  first.client.call('vote', {}, { id: 'before', keepMs: 60_000 }).catch(() => {});
  const waiting = first.client.call('vote', {}, { id: 'one', keepMs: 60_000 });
  await turn();
  area.removeItem('switchboard-call:one');
  first.socket.hear({ event: 'ack', data: {}, ref: 'before' });
  await assert.rejects(waiting, { code: 'uncertain' });
  assert.deepEqual(first.socket.said.map(({ ref }) => ref), ['before']);
});

test('a call is taken back by its signal', async (t) => {
  const client = new SwitchboardClient('ws://gateway', { WebSocket: Socket });
  t.after(() => client.stop());
  client.start();
  const control = new AbortController();
  const call = client.call('vote', {}, { signal: control.signal });
  control.abort();
  await assert.rejects(call, { code: 'cancelled' });
  await assert.rejects(client.call('vote', {}, { signal: control.signal }), { code: 'cancelled' });
  assert.equal(client.status.pendingCalls, 0);
});

test('a slow watcher of the status sees the newest only', async (t) => {
  const { client, socket } = await ready(t);
  const statuses = client.statuses();
  assert.equal((await statuses.next()).value.phase, 'open');
  socket.hear({ event: 'draining', data: { reconnectAfterMs: 5_000 } });
  socket.onclose({ code: 1012, reason: '' });
  assert.equal((await statuses.next()).value.phase, 'waiting');
  await statuses.return();
});

test('an idle client has one timer, however many topics it has', async (t) => {
  const timers = new Set();
  const [set, clear] = [globalThis.setTimeout, globalThis.clearTimeout];
  t.after(() => Object.assign(globalThis, { setTimeout: set, clearTimeout: clear }));
  globalThis.setTimeout = (...more) => {
    const timer = set(...more);
    timers.add(timer);
    return timer;
  };
  globalThis.clearTimeout = (timer) => {
    timers.delete(timer);
    clear(timer);
  };
  const { client, socket } = await ready(t);
  const loops = Array.from({ length: 60 }, (_, number) => client.topic(`shop:${number}`)[Symbol.asyncIterator]());
  await turn();
  for (const { data, ref } of socket.said) {
    for (const { topic } of data.topics ?? [data]) {
      socket.hear({ event: 'subscribed', topic, ref, data: { epoch: 'k', offset: 0, recovered: false } });
    }
  }
  for (const loop of loops) assert.equal((await loop.next()).value.type, 'live');
  assert.equal(timers.size, 1);
});

test('a herd comes back evenly', () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const ninths = new Array(9).fill(0);
  for (let one = 0; one < 1_000; one += 1) ninths[Math.min(8, Math.floor(backOffMs(0, random) / 100) - 1)] += 1;
  assert.ok(ninths.every((count) => count > 70 && count < 150), String(ninths));
});
