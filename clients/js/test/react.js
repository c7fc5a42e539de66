// The hooks with React's own renderer, and a topic that the test plays. Tests/EndToEnd/test_js_samples.py runs this
// beside the client as an installed package.

import assert from 'node:assert/strict';
import test from 'node:test';

import React, { StrictMode } from 'react';
import { act, create } from 'react-test-renderer';
import { useStatus, useTopic } from 'switchboard-client/react';

globalThis.IS_REACT_ACT_ENVIRONMENT = true;

/** Behind this turn all loops have taken what there is, and stores have set timers: one as long comes after them. */
async function settled() {
  await new Promise((resolve) => { setImmediate(resolve); });
  await new Promise((resolve) => { setTimeout(resolve); });
}

/** A client whose topics say what the test says. */
class Played {
  loops = [];
  asked = 0;

  topic(name, options) {
    const loop = { name, ...options, queue: [], wake: () => {} };
    this.loops.push(loop);
    options.signal.addEventListener('abort', () => loop.wake());
    return {
      resynchronise: () => { this.asked += 1; },
      async *[Symbol.asyncIterator]() {
        while (!options.signal.aborted) {
          const next = loop.queue.shift();
          if (next instanceof Error) throw next;
          if (next !== undefined) yield next;
          else await new Promise((resolve) => { loop.wake = resolve; });
        }
      },
    };
  }

  /** What the loops that still run say. */
  async say(...updates) {
    await act(async () => {
      for (const loop of this.loops.filter(({ signal }) => !signal.aborted)) {
        loop.queue.push(...updates);
        loop.wake();
      }
      await settled();
    });
  }
}

const position = (offset) => ({ epoch: 'k', offset });
const live = (state) => ({ type: 'live', recovered: false, state, position: position(0) });
const added = (name, offset) => ({ type: 'event', event: 'added', data: { name }, position: position(offset) });
const apply = (names, { event, data }) => (event === 'added' ? [...names, data.name.toUpperCase()] : names);

/** A component that keeps what it showed. */
function shown(client, options) {
  const seen = [];
  function View() {
    seen.push(useTopic(client, 'a:b', { initial: [], apply, ...options }));
    return null;
  }
  let renderer;
  const open = () => act(async () => { renderer = create(React.createElement(View)); });
  return { seen, open, close: () => act(async () => renderer.unmount()), last: () => seen.at(-1) };
}

test('state, then events; a burst of them is one change', async () => {
  const client = new Played();
  const view = shown(client);
  await view.open();
  assert.deepEqual([view.last().value, view.last().isLive], [[], false]);
  await client.say(live(['x']));
  assert.deepEqual([view.last().value, view.last().isLive], [['x'], true]);
  const before = view.seen.length;
  await client.say(...['a', 'b', 'c', 'd'].map((name, index) => added(name, index + 1)));
  assert.deepEqual(view.last().value, ['x', 'A', 'B', 'C', 'D']);
  assert.equal(view.seen.length, before + 1);
  await view.close();
  assert.ok(client.loops.every(({ signal }) => signal.aborted));
});

test('a gap asks for the state where there is one, and is shown where there is none', async () => {
  const client = new Played();
  const view = shown(client);
  await view.open();
  await client.say(live(undefined), { type: 'gap', reason: 'missed', missed: 2, position: position(2) });
  assert.deepEqual([client.asked, view.last().hasMissed], [0, true]);
  await client.say(live(['x']));
  assert.equal(view.last().hasMissed, false);
  await client.say({ type: 'gap', reason: 'notRecovered', missed: 2, position: position(4) });
  assert.equal(client.asked, 0, 'the state follows by itself');
  await client.say({ type: 'gap', reason: 'missed', missed: 2, position: position(6) });
  assert.deepEqual([client.asked, view.last().hasMissed], [1, true]);
  await view.close();
});

test('a refused topic is an error; a topic that waits is not live', async () => {
  const client = new Played();
  const view = shown(client);
  await view.open();
  await client.say(live(['x']), { type: 'pending' });
  assert.deepEqual([view.last().isLive, view.last().error, view.last().value], [false, null, ['x']]);
  const refusal = new Error('No.');
  await client.say(refusal);
  assert.equal(view.last().error, refusal);
  await view.close();
});

test('an event that the program cannot take goes to the console, and later ones go on', async (context) => {
  const told = context.mock.method(console, 'error', () => {});
  const client = new Played();
  const view = shown(client);
  await view.open();
  await client.say(live([]), { ...added('a', 1), data: {} }, added('b', 2));
  assert.deepEqual(view.last().value, ['B']);
  assert.equal(told.mock.callCount(), 1);
  assert.match(told.mock.calls[0].arguments[0], /a:b: added cannot be taken/);
  await view.close();
});

test('a component that is back goes on from its position, or with the state', async () => {
  const client = new Played();
  function View() {
    return useTopic(client, 'a:b', { initial: [], apply }).value.join();
  }
  let renderer;
  await act(async () => { renderer = create(React.createElement(StrictMode, null, React.createElement(View))); });
  await client.say(live(undefined), added('a', 1));
  assert.equal(renderer.toJSON(), 'A', 'strict mode mounts twice, and one loop counts');
  assert.equal(client.loops.filter(({ signal }) => !signal.aborted).length, 1);
  await act(async () => renderer.unmount());
});

test('members are put together', async () => {
  const client = new Played();
  const view = shown(client, { presence: true });
  await view.open();
  assert.equal(client.loops[0].presence, true);
  const [ann, bob, eve] = ['ann', 'bob', 'eve'].map((id) => ({ id, user: id, key: id }));
  await client.say(live(undefined), { type: 'presence', members: [ann, bob] });
  await client.say({ type: 'presence', joins: [eve], updates: [{ ...bob, meta: { typing: true } }], leaves: [ann] });
  assert.deepEqual(view.last().members, [eve, { ...bob, meta: { typing: true } }]);
  await view.close();
});

test('the status of a client, and its changes', async () => {
  let wake;
  const statuses = [{ phase: 'open', isReady: true }];
  const client = {
    status: { phase: 'connecting', isReady: false },
    async *statuses({ signal }) {
      signal.addEventListener('abort', () => wake());
      while (!signal.aborted) {
        if (statuses.length > 0) yield statuses.shift();
        else await new Promise((resolve) => { wake = resolve; });
      }
    },
  };
  const seen = [];
  function View() {
    seen.push(useStatus(client).phase);
    return null;
  }
  let renderer;
  await act(async () => {
    renderer = create(React.createElement(View));
    await settled();
  });
  assert.deepEqual(seen, ['connecting', 'open']);
  await act(async () => renderer.unmount());
});
