// The topics that a program wants, each with its position; every event once and in order, or a gap.
//
// What is asked for is derived from this table, whatever happened before. A topic is live only by an answer on the
// present connection.

import { Allowance, SwitchboardError, backOffMs, errorOf, isOffset, positionOf } from './parts.js';

const joinsAtOnceMax = 64;
/** The gateway allows 20; what is refused costs more than what waits. */
const joinsPerSecond = 18;
const heldMax = 1_000;
/** Events that are kept behind a state, for readers that come later; beyond, the topic is asked for anew. */
const sinceMax = 100;
/** Topics that `track` names before anybody reads them; beyond, the oldest is forgotten. */
const metasMax = 1_000;
const lingerMs = 2_000;
/** An answer that says come again may be about something other than a rate. */
const retryable = new Set(['unavailable', 'rate_limited', 'conflict', 'internal']);
const gapReasons = new Set(['missed', 'reset', 'conflated']);
const grammar = /^[a-z][a-z0-9-]{0,31}:[A-Za-z0-9._~:-]{1,200}$/;

/** Whether there can be a topic of this name: one that cannot would spoil the batch it is asked in. */
export const isTopic = (name) => typeof name === 'string' && grammar.test(name);

export class Topics {
  #machine;
  #allowance = new Allowance(joinsAtOnceMax, joinsPerSecond);
  #byName = new Map();
  #names = new Map();
  #metas = new Map();
  #isDirty = false;
  wakeAt = Infinity;

  constructor(machine) {
    this.#machine = machine;
  }

  get count() {
    return this.#byName.size;
  }

  // What the program wants.

  /** `isCurrent`: the state of now is wanted, and not an earlier one with the events since. */
  join(reader, name, { since = null, presence = false, isCurrent = false } = {}) {
    let topic = this.#byName.get(name);
    if (topic === undefined) {
      topic = { name, readers: new Set(), late: new Set(), position: positionOf(since), isLive: false, ask: 'wanted',
        ref: null, attempt: 0, restUntil: -Infinity, lingerUntil: Infinity, presence, held: [], stateAt: null,
        since: null, meta: this.#metas.get(name) ?? null };
      this.#byName.set(name, topic);
      this.#metas.delete(name);
    } else topic.late.add(reader);
    topic.readers.add(reader);
    this.#names.set(reader, name);
    this.#isDirty = true;
    if (presence) topic.presence = true;
    if (!topic.isLive) return;
    this.#greet(topic, reader, isCurrent);
    if (presence) topic.ask = 'wanted';  // whoever asks is told who is here
  }

  leave(reader) {
    const topic = this.#byName.get(this.#names.get(reader));
    this.#names.delete(reader);
    topic?.late.delete(reader);
    if (!topic?.readers.delete(reader) || topic.readers.size > 0) return;
    topic.lingerUntil = this.#machine.now + lingerMs;
    this.#isDirty = true;
  }

  /** Asks for the state anew: what was missed cannot always be put together from events. */
  resynchronise(name, isFresh = true) {
    const topic = this.#byName.get(name);
    if (topic === undefined || topic.ask === 'leaving') return;
    Object.assign(topic, { isFresh, ask: 'wanted', held: [] });
    this.#isDirty = true;
  }

  /** Lists the client, now and on every later connection; `meta` is JSON text, null for no longer. */
  track(name, meta) {
    const topic = this.#byName.get(name);
    if (topic === undefined) return this.#remember(name, meta);
    topic.meta = meta;
    if (topic.isLive) this.#sayMeta(topic);
  }

  /** It is said once the topic is read. */
  #remember(name, meta) {
    this.#metas.delete(name);
    if (meta === null) return;
    if (this.#metas.size >= metasMax) this.#metas.delete(this.#metas.keys().next().value);
    this.#metas.set(name, meta);
  }

  stop(error) {
    for (const reader of this.#names.keys()) this.#machine.say({ do: 'end', reader, error });
    this.#byName.clear();
    this.#names.clear();
    this.#metas.clear();
  }

  /** Another user: what this one has seen is not a position of theirs. */
  forget() {
    for (const topic of this.#byName.values()) {
      Object.assign(topic, { position: null, state: undefined, since: null, meta: null });
    }
    this.#metas.clear();
  }

  // The connection.

  ready() {
    this.#allowance.refill();
    this.#isDirty = true;
  }

  lost() {
    this.#isDirty = true;
    for (const topic of [...this.#byName.values()]) {
      const wasLive = topic.isLive;
      Object.assign(topic, { isLive: false, ask: 'wanted', ref: null, attempt: 0, restUntil: -Infinity, held: [] });
      if (topic.readers.size === 0) this.#byName.delete(topic.name);
      else if (wasLive) this.#tell(topic, { type: 'pending' });
    }
  }

  // What the gateway says.

  subscribed(name, ref, told) {
    const topic = this.#byName.get(name);
    if (topic === undefined || topic.ask !== 'asked' || topic.ref !== ref) return;
    const now = positionOf(told);
    if (now === null) return this.#again(topic, new SwitchboardError('internal'));
    const before = topic.position;
    const isRecovered = told.recovered === true && before?.epoch === now.epoch;
    const { held } = topic;
    this.#isDirty = true;
    Object.assign(topic, { isLive: true, isFresh: false, ask: 'no', attempt: 0, held: [] });
    if (isRecovered) {
      // The missed events follow one by one. What came meanwhile is among them, but for what is newer than the answer.
      topic.held = held.filter(({ offset }) => offset > now.offset);
      // A state that comes with a recovery is newer than the events that follow.
      this.#tell(topic, { type: 'live', recovered: true, position: before });
      for (const reader of topic.late) this.#greet(topic, reader);
    } else {
      Object.assign(topic, { position: now, state: told.state, stateAt: now, since: [] });
      this.#tellLoss(topic, before, now);
      topic.late.clear();
      this.#tell(topic, { type: 'live', recovered: false, state: told.state, position: now });
    }
    for (const { event, data, offset } of held) {
      if (topic.isLive && !(isRecovered && offset !== undefined)) this.#deliver(topic, event, data, offset);
    }
    if (topic.meta !== null && topic.isLive) this.#sayMeta(topic);
  }

  unsubscribed(name, ref) {
    const topic = this.#byName.get(name);
    if (topic === undefined) return;
    if (topic.ask === 'leaving') {
      if (topic.ref !== ref) return;
      topic.ask = 'wanted';
      topic.isLive = false;
      this.#isDirty = true;
      if (topic.readers.size === 0) this.#byName.delete(name);
    } else if (ref === undefined && topic.isLive) {
      // The gateway took it away; the reason follows as an error, or there is none and it may be had again.
      this.#again(topic, new SwitchboardError('unavailable'));
    }
  }

  /** Whether the error was about topics: of the request `ref`, or without one of the topic it names. */
  failed(ref, name, told) {
    const error = errorOf(told);
    const concerned = [...this.#byName.values()].filter((topic) =>
      (ref === undefined ? topic.name === name && topic.ask !== 'leaving'
        : topic.ref === ref && (name === undefined || topic.name === name)));
    for (const topic of concerned) {
      if (topic.ask === 'leaving') {
        this.#byName.delete(topic.name);
      } else if (ref !== undefined && topic.ask !== 'asked') {
        continue;
      } else if (retryable.has(error.code)) {
        this.#again(topic, error);
      } else if (ref !== undefined && topic.isLive) {
        topic.ask = 'no';  // a refusal leaves the present subscription as it is
        topic.since ??= [];
        for (const reader of topic.late) this.#greet(topic, reader);
      } else {
        this.#refuse(topic, error);
      }
    }
    return concerned.length > 0;
  }

  gap(name, told) {
    const topic = this.#byName.get(name);
    const now = positionOf(told);
    // What was held came before it, perhaps in another epoch, and the answer may, too.
    if (topic?.ask === 'asked' && !topic.isLive) this.resynchronise(name, topic.isFresh);
    if (!topic?.isLive) return;
    const before = topic.position;
    if (topic.state !== undefined) topic.since = null;  // an earlier state leads to the present one no more
    if (now === null) return this.#tell(topic, { type: 'gap', reason: 'followed', missed: null, position: before });
    const isOneLog = before.epoch === now.epoch;
    const missed = isOneLog && now.offset > before.offset ? now.offset - before.offset : null;
    if (!isOneLog || missed !== null) topic.position = now;
    if (!isOneLog) topic.held = [];
    const reason = gapReasons.has(told.reason) ? told.reason : 'missed';
    this.#tell(topic, { type: 'gap', reason, missed, position: topic.position });
  }

  event(name, event, data, offset) {
    const topic = this.#byName.get(name);
    if (topic === undefined || (offset !== undefined && !isOffset(offset))) return;
    if (topic.isLive) return this.#deliver(topic, event, data, offset);
    if (topic.ask !== 'asked') return;
    topic.held.push({ event, data, offset });
    // Whoever says so much before an answer is asked again: the position tells what is missing.
    if (topic.held.length > heldMax) this.#again(topic, new SwitchboardError('internal'));
  }

  presence(name, told) {
    const topic = this.#byName.get(name);
    if (!topic?.presence || !topic.isLive) return;
    const list = (value) =>
      (Array.isArray(value) ? value.filter((one) => typeof one?.id === 'string') : []);
    this.#tell(topic, Array.isArray(told.members) ? { type: 'presence', members: list(told.members) }
      : { type: 'presence', joins: list(told.joins), updates: list(told.updates), leaves: list(told.leaves) });
  }

  // Time.

  /** Asks for what is wanted, and leaves what nobody reads. */
  pump() {
    const { now, isReady } = this.#machine;
    if (!this.#isDirty && now < this.wakeAt) return;
    this.#isDirty = false;
    this.wakeAt = Infinity;
    const due = [];
    for (const topic of [...this.#byName.values()]) {
      if (topic.readers.size === 0 && topic.lingerUntil <= now) this.#part(topic);
      else if (topic.readers.size === 0) this.#wake(topic.lingerUntil);
      if (topic.ask !== 'wanted' || topic.readers.size === 0) continue;
      if (topic.restUntil > now) this.#wake(topic.restUntil);
      else due.push(topic);
    }
    if (!isReady || due.length === 0) return;
    const asked = due.splice(0, this.#allowance.left(now));
    if (asked.length > 0) this.#ask(asked);
    if (due.length > 0) this.#wake(this.#allowance.whenMs(now, Math.min(due.length, joinsPerSecond)));
  }

  #part(topic) {
    if (!this.#machine.isReady || (!topic.isLive && topic.ask === 'wanted')) return this.#byName.delete(topic.name);
    if (topic.ask === 'asked' || topic.ask === 'leaving') return;  // not before the answer
    [topic.ask, topic.isLive, topic.ref] = ['leaving', false, this.#machine.nextRef()];
    this.#machine.send({ event: 'unsubscribe', data: { topic: topic.name }, ref: topic.ref });
  }

  #ask(topics) {
    const ref = this.#machine.nextRef();
    const wanted = topics.map((topic) => {
      // What is held belongs to an earlier answer, perhaps in another epoch.
      [topic.ask, topic.ref, topic.held] = ['asked', ref, []];
      const one = { topic: topic.name };
      if (topic.position !== null && !topic.isFresh) one.since = topic.position;
      if (topic.presence) one.presence = true;
      return one;
    });
    this.#allowance.spend(topics.length);
    this.#machine.send({ event: 'subscribe', data: wanted.length === 1 ? wanted[0] : { topics: wanted }, ref });
  }

  #again(topic, error) {
    const { now, random } = this.#machine;
    const pause = Math.max(error.retryAfterMs ?? 0, backOffMs(topic.attempt, random));
    Object.assign(topic, { isLive: false, ask: 'wanted', held: [], restUntil: now + pause });
    topic.attempt += 1;
    this.#isDirty = true;
    this.#tell(topic, { type: 'pending', error });
  }

  #refuse(topic, error) {
    for (const reader of topic.readers) {
      this.#names.delete(reader);
      this.#machine.say({ do: 'end', reader, error });
    }
    this.#byName.delete(topic.name);
  }

  #deliver(topic, event, data, offset) {
    if (offset === undefined) return this.#tell(topic, { type: 'event', event, data, position: null });
    const { epoch, offset: last } = topic.position;
    if (offset <= last) return;
    if (offset > last + 1) {
      // Something is missing: the log may still have it, and if not, the answer says how much is lost.
      Object.assign(topic, { isLive: false, ask: 'wanted', held: [] });
      this.#isDirty = true;
      return this.#tell(topic, { type: 'pending' });
    }
    topic.position = { epoch, offset };
    const update = { type: 'event', event, data, position: topic.position };
    if (topic.state !== undefined && topic.since?.push(update) > sinceMax) topic.since = null;
    this.#tell(topic, update);
    if (topic.held[0]?.offset <= offset + 1) {
      const next = topic.held.shift();
      this.#deliver(topic, next.event, next.data, next.offset);
    }
  }

  #tellLoss(topic, before, now) {
    if (before === null || (before.epoch === now.epoch && before.offset === now.offset)) return;
    const isOneLog = before.epoch === now.epoch;
    const missed = isOneLog && now.offset > before.offset ? now.offset - before.offset : null;
    this.#tell(topic, { type: 'gap', reason: isOneLog ? 'notRecovered' : 'reset', missed, position: now });
  }

  /** A late reader has seen nothing of what others have: it is told the last state, and what came since. */
  #greet(topic, reader, isCurrent = false) {
    const { since, state, stateAt, position } = topic;
    if (since === null || (isCurrent && since.length > 0)) return this.resynchronise(topic.name);
    topic.late.delete(reader);
    const live = { type: 'live', recovered: false, state, position: since.length > 0 ? stateAt : position };
    for (const update of [live, ...since]) this.#machine.say({ do: 'tell', reader, update });
    return undefined;
  }

  #tell(topic, update) {
    for (const reader of topic.readers) {
      if (update.type === 'pending' || !topic.late.has(reader)) this.#machine.say({ do: 'tell', reader, update });
    }
  }

  #sayMeta({ name, meta }) {
    const ref = this.#machine.nextRef();
    if (meta === null) return this.#machine.send({ event: 'untrack', data: { topic: name }, ref });
    return this.#machine.sendText(`{"event":"track","data":{"topic":"${name}","meta":${meta}},"ref":${ref}}`);
  }

  #wake(at) {
    this.wakeAt = Math.min(this.wakeAt, at);
  }
}
