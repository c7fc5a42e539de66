// Storages that fail in every way there is: what the caller is told is what happens, also after a restart.

import assert from 'node:assert/strict';
import test from 'node:test';

import { SwitchboardClient } from '../switchboard.js';

/** A gateway that answers in the same breath, and notes what is called. */
class Socket {
  static called = [];
  readyState = 0;

  constructor() {
    queueMicrotask(() => {
      this.readyState = 1;
      this.onopen();
    });
  }

  send(text) {
    const { event, ref } = JSON.parse(text);
    if (event === 'vote') Socket.called.push(ref);
    const answer = event === 'authenticate' ? { event: 'authenticated', data: { userId: 'ada' }, ref }
      : { event: 'ack', data: {}, ref };
    if (event !== 'ping') this.onmessage({ data: JSON.stringify(answer) });
  }

  close() {
    this.readyState = 3;
  }
}

/** A storage over a map; `faults` replaces its functions. */
const over = (items, faults = {}) => ({ load: () => [...items.values()], get: (id) => items.get(id) ?? null,
  put: (entry) => items.set(entry.id, entry), remove: (id) => items.delete(id), ...faults });

const full = () => { throw new Error('QuotaExceededError'); };
const never = () => new Promise(() => {});
const kept = { id: 'one', keepMs: 60_000 };

function start(t, storage) {
  Socket.called = [];
  const lines = [];
  const client = new SwitchboardClient('ws://gateway', { WebSocket: Socket, token: 't', storage,
    log: (text) => lines.push(text) });
  t.after(() => client.stop());
  client.start();
  return { client, lines };
}

/** A later process of the same storage: what it sends by itself. */
async function afterRestart(t, items) {
  const { client } = start(t, over(items));
  await client.call('last', {}, { lane: 'other' });
  for (let turn = 0; turn < 20; turn += 1) await null;
  return Socket.called;
}

const faster = (t) => {
  const wait = globalThis.setTimeout;
  t.mock.method(globalThis, 'setTimeout', (act, ms) => wait(act, ms / 200));
};

test('a storage that is full at marking: the call was not sent, and is not sent later', async (t) => {
  const items = new Map();
  const put = (entry) => (entry.firstSentAt === null ? items.set(entry.id, entry) : full());
  const { client, lines } = start(t, over(items, { put }));
  await assert.rejects(client.call('vote', {}, kept), { code: 'storage' });
  assert.deepEqual(Socket.called, []);
  assert.match(lines[0], /QuotaExceededError/);
  assert.deepEqual(await afterRestart(t, items), []);
});

test('a storage that neither marks nor removes: the call may happen, and the caller knows', async (t) => {
  const items = new Map();
  const put = (entry) => (entry.firstSentAt === null ? items.set(entry.id, entry) : full());
  const { client } = start(t, over(items, { put, remove: full }));
  await assert.rejects(client.call('vote', {}, kept), { code: 'uncertain' });
  assert.deepEqual(Socket.called, []);
  assert.deepEqual(await afterRestart(t, items), ['one']);
});

test('a storage that takes nothing at all refuses, and other calls go on', async (t) => {
  const { client } = start(t, over(new Map(), { put: full }));
  await assert.rejects(client.call('vote', {}, kept), { code: 'storage' });
  await client.call('vote', {}, { id: 'two' });
  assert.deepEqual(Socket.called, ['two']);
});

test('a spoilt entry that cannot be removed hides no other, and is told', async (t) => {
  const entry = { id: 'before', event: 'vote', topic: null, data: '{}', user: 'ada', lane: 'default', repeatable: false,
    createdAt: Date.now() - 1_000, firstSentAt: null, expiresAt: Date.now() + 60_000 };
  const spoilt = [{ id: 'torn' }, null, 5, { get id() { throw new Error('mine'); } }];
  const remove = (id) => (id === 'torn' ? full() : undefined);
  const { client, lines } = start(t, over(new Map([['before', entry]]), { load: () => [...spoilt, entry], remove }));
  await client.call('last', {});
  assert.deepEqual(Socket.called, ['before']);
  assert.ok(lines.some((line) => line.includes('torn is spoilt')), String(lines));
});

test('a load that never ends is told, and calls go on without it', async (t) => {
  faster(t);
  const { client, lines } = start(t, over(new Map(), { load: never }));
  await client.call('vote', {}, { id: 'plain' });
  await client.call('vote', {}, kept);
  assert.deepEqual(Socket.called, ['plain', 'one']);
  assert.match(lines[0], /does not answer/);
});

test('a storage that never answers a call: the caller knows that it may happen', async (t) => {
  faster(t);
  const { client } = start(t, over(new Map(), { put: never }));
  await assert.rejects(client.call('vote', {}, kept), { code: 'uncertain' });
  await client.call('vote', {}, { id: 'plain' });
  assert.deepEqual(Socket.called, ['plain']);
});

test('what a slow load brings goes on; what was called meanwhile is not done again', async (t) => {
  faster(t);
  const items = new Map();
  const entry = { id: 'before', event: 'vote', topic: null, data: '{}', user: 'ada', lane: 'default', repeatable: false,
    createdAt: Date.now() - 1_000, firstSentAt: null, expiresAt: Date.now() + 60_000 };
  let come = null;
  items.set('before', entry);
  const { client } = start(t, over(items, { load: () => new Promise((resolve) => { come = resolve; }) }));
  await client.call('vote', {}, kept);
  come([entry, { ...entry, id: 'one', createdAt: Date.now() + 1 }]);
  for (const results = client.outbox.results(); (await results.next()).value.id !== 'before';);
  assert.deepEqual(Socket.called, ['one', 'before']);
});
