// Apps with the JavaScript library that record all they are told, for the checker of the chaos runs (subscribers.py).
//
// usage: node crowd.js WS --url URL... --clients N --topics PREFIX:COUNT --per-client N --log FILE [--forget yes]
//
// WS is the file of the package `ws`. Commands are those of the Swift program beside this one.

import { closeSync, openSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

import { SwitchboardClient } from '../../../clients/js/switchboard.js';
import { crc32 } from './crc32.js';

const [, , wsFile, ...words] = process.argv;
const WebSocket = createRequire(wsFile)('ws');
const options = { '--url': [] };
for (let index = 0; index + 1 < words.length; index += 2) {
  if (words[index] === '--url') options['--url'].push(words[index + 1]);
  else options[words[index]] = words[index + 1];
}

/** The lines of all readers. */
class Journal {
  lines = 0;
  #file = openSync(options['--log'], 'w');
  #text = '';

  note(kind, ...fields) {
    const atUs = process.hrtime.bigint() / 1_000n;
    this.#text += `${atUs} ${kind} ${fields.join(' ')}\n`;
    this.lines += 1;
    if (this.#text.length > 262_144) this.flush();
  }

  flush() {
    writeSync(this.#file, this.#text);
    this.#text = '';
  }

  end() {
    this.flush();
    closeSync(this.#file);
  }
}

/** Readers wait here while they are to be slow. */
class Gate {
  #open = null;
  #opened = Promise.resolve();

  close() {
    if (this.#open === null) this.#opened = new Promise((resolve) => { this.#open = resolve; });
  }

  open() {
    this.#open?.();
    this.#open = null;
  }

  pass() {
    return this.#opened;
  }
}

/** Where one reader is, as it was told. The checker's client is a reader, so that all its lines have one order. */
class ReaderPlace {
  isLive = false;
  #reader;
  #topic;
  #position = null;
  /** A gap was told since the topic was live. */
  #wasToldGap = false;
  /** Updates were dropped unread: the next one that tells a position says where the reader is. */
  #isLost = false;

  constructor(reader, topic) {
    [this.#reader, this.#topic] = [reader, topic];
  }

  take(update, isForgotten) {
    switch (update.type) {
      case 'live': return this.#live(update);
      case 'event': return isForgotten || this.#event(update);
      case 'gap': return this.#gap(update);
      case 'pending': return this.#left();
      default: return undefined;
    }
  }

  #live({ recovered, position }) {
    const before = this.#position;
    const isSame = before?.epoch === position.epoch && before?.offset === position.offset;
    const isSilent = !recovered && before !== null && !isSame && !this.#wasToldGap && !this.#isLost;
    this.#joined(position, recovered && !this.#isLost);
    if (isSilent) journal.note('X', this.#reader, this.#topic, 'unreadable');
  }

  #event({ event, data, position }) {
    if (position === null) return journal.note('E', this.#reader, this.#topic, '-', event, 0, 0);
    if (this.#isLost) this.#joined({ epoch: position.epoch, offset: position.offset - 1 }, false);
    this.#position = position;
    // The members are in the order in which they were written.
    const sum = crc32(Buffer.from(JSON.stringify(data))).toString(16).padStart(8, '0');
    return journal.note('P', this.#reader, this.#topic, position.epoch, position.offset, event, data.m, sum);
  }

  #gap({ reason, position }) {
    if (reason === 'tooSlow') {
      this.#left();
      this.#isLost = true;
      return;
    }
    this.#wasToldGap = true;
    // What is told before a new `live` is in its line.
    if (!this.isLive) return;
    this.#position = position;
    journal.note('G', this.#reader, this.#topic, position.epoch, position.offset, reason);
  }

  #left() {
    if (!this.isLive) return;
    [this.isLive, this.#wasToldGap] = [false, false];
    journal.note('D', this.#reader, 0);
  }

  #joined(position, isRecovered) {
    const since = this.#position === null ? ['-', '-'] : [this.#position.epoch, this.#position.offset];
    if (!this.isLive) journal.note('C', this.#reader, 0);
    [this.#position, this.isLive, this.#wasToldGap, this.#isLost] = [position, true, false, false];
    journal.note('S', this.#reader, this.#topic, position.epoch, position.offset, isRecovered ? 1 : 0, ...since);
  }
}

/** One client with its readers. */
class App {
  counts = { events: 0, gaps: 0, errors: 0, connects: 0 };
  #client;
  #socket = null;
  #places = [];

  constructor(number) {
    const app = this;
    class Cuttable extends WebSocket {
      constructor(url) {
        super(url);
        app.#socket = this;
      }
    }
    const urls = options['--url'];
    this.#client = new SwitchboardClient(urls[number % urls.length], { WebSocket: Cuttable });
    const [prefix, count] = options['--topics'].split(/:(?=\d+$)/);
    const each = Number(options['--per-client']);
    for (let index = 0; index < each; index += 1) {
      this.#read(`${prefix}${(number * each + index) % Number(count)}`, `js-${number}-${index}`);
    }
    this.#client.start();
  }

  get isReady() {
    return this.#client.status.isReady;
  }

  get isLive() {
    return this.isReady && this.#places.every((place) => place.isLive);
  }

  /** Breaks the connection without a word to the library. */
  cut() {
    this.#socket?.terminate();
  }

  stop() {
    this.#client.stop();
  }

  async #read(topic, reader) {
    const place = new ReaderPlace(reader, topic);
    this.#places.push(place);
    let seen = 0;
    const counted = { event: 'events', gap: 'gaps', live: 'connects' };
    for await (const update of this.#client.topic(topic)) {
      if (update.type === 'event') seen += 1;
      place.take(update, forgets && seen === 20);
      if (update.type in counted) this.counts[counted[update.type]] += 1;
      else if (update.error) this.counts.errors += 1;
      await gate.pass();
    }
  }
}

const journal = new Journal();
const forgets = options['--forget'] === 'yes';
const gate = new Gate();
const apps = Array.from({ length: Number(options['--clients']) }, (_, number) => new App(number));
let next = 0;

function drop(count) {
  for (let left = Math.min(count, apps.length); left > 0; left -= 1) {
    apps[next].cut();
    next = (next + 1) % apps.length;
  }
}

function status() {
  const sum = (name) => apps.reduce((total, { counts }) => total + counts[name], 0);
  return JSON.stringify({
    clients: apps.length, connected: apps.filter((app) => app.isReady).length,
    live: apps.filter((app) => app.isLive).length, events: sum('events'), gaps: sum('gaps'), errors: sum('errors'),
    unreadable: 0, connects: sum('connects'), reconnects: 0, resumed: 0, failedAttempts: 0, timed: 0,
    lines: journal.lines, p50Ms: null, p99Ms: null, maxMs: null, connectMs: null, backMs: null,
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  const [word, number] = line.split(' ');
  let answer = 'ok';
  if (word === 'stall') gate.close();
  else if (word === 'resume') gate.open();
  else if (word === 'drop' || word === 'churn') drop(Number(number));
  else if (word === 'status') answer = status();
  journal.flush();
  process.stdout.write(`${answer}\n`);
  if (word === 'quit') break;
}
for (const app of apps) app.stop();
journal.end();
process.exit(0);
