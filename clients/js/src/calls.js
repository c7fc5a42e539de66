// Commands and publishes that wait for their answer, over any number of connections.
//
// A call is `keeping` (not stored yet), `queued`, `marking` (its sending is being stored), or `sent`.

import { Allowance, SwitchboardError, backOffMs, bounded, errorOf, frameBytesMax } from './parts.js';

const callsMax = 1_000;
const callsBytesMax = 1_048_576;
const inFlightMax = 8;
const perSecond = 8;
/** The gateway remembers a call's name for 300 s from when it ran: later a repetition could be a second one. */
const repeatMs = 240_000;
const clockSlackMs = 1_000;
const faultsMax = 2;
const keepMsMax = 86_400_000;
const slowedMs = 60_000;

export class Calls {
  #machine;
  #allowance = new Allowance(2 * perSecond, perSecond);
  #byId = new Map();
  #bytes = 0;
  #pausedUntil = -Infinity;
  #slowUntil = -Infinity;
  #isLoaded = false;
  #isDirty = false;
  wakeAt = Infinity;

  constructor(machine) {
    this.#machine = machine;
  }

  get count() {
    return this.#byId.size;
  }

  get entries() {
    return [...this.#byId.values()].filter((call) => call.isKept).map((call) => ({ ...call.entry }));
  }

  // What the program wants.

  /** `as` is whom to tell; `entry` is what goes over the wire and what storage keeps. */
  add({ as, id, event, topic = null, data, lane = 'default', timeoutMs = 60_000, keepMs = null, repeatable = false,
    failOffline = false }) {
    const { now, wall, user, isReady } = this.#machine;
    const entry = { id, event, topic, data, user, lane, repeatable, createdAt: wall, firstSentAt: null,
      expiresAt: keepMs === null ? null : wall + Math.min(keepMs, keepMsMax) };
    const bytes = new TextEncoder().encode(frameOf(entry)).length;
    const refuse = (code, message) =>
      this.#machine.say({ do: 'finish', as, id, event, error: new SwitchboardError(code, message) });
    if (this.#byId.has(id)) return refuse('conflict');
    if (bytes > frameBytesMax || this.#byId.size >= callsMax || this.#bytes + bytes > callsBytesMax) {
      return refuse('too_large');
    }
    if (failOffline && !isReady) return refuse('offline');
    this.#insert({ entry, as, bytes, isKept: keepMs !== null, phase: 'queued', sentAt: null, restUntil: -Infinity,
      deadline: now + (keepMs === null ? timeoutMs : Math.min(keepMs, keepMsMax)), attempt: 0, faults: 0 });
    if (keepMs !== null && user !== null) this.#keep(this.#byId.get(id));
  }

  /** Takes a call back. One that was sent may happen all the same. */
  cancel(as) {
    const call = [...this.#byId.values()].find((one) => one.as === as && as !== null);
    if (call === undefined) return;
    if (call.entry.firstSentAt === null && call.phase !== 'marking') this.#fail(call, 'cancelled');
    else this.#detach(call, 'cancelled');
  }

  remove(id) {
    const call = this.#byId.get(id);
    if (call !== undefined) this.#fail(call, 'cancelled');
  }

  /** Everybody who waits is told; what is kept stays for the next start. */
  stop() {
    for (const call of [...this.#byId.values()]) {
      if (!call.isKept || call.entry.user === null) this.#fail(call, 'stopped');
      else if (call.as !== null) this.#detach(call, 'stopped');
    }
  }

  /** Other credentials: what was called before anybody knew the user is not the next user's. */
  disown() {
    for (const call of [...this.#byId.values()]) {
      if (call.entry.user === null) this.#fail(call, 'stopped');
    }
  }

  // Storage.

  /** The entries that an earlier process left, in the order in which they were made. */
  load(entries) {
    const { now, wall } = this.#machine;
    const later = [...this.#byId.values()];
    const left = entries.filter((entry) => !this.#byId.has(entry.id)).sort((a, b) => a.createdAt - b.createdAt);
    this.#byId = new Map();
    for (const entry of left.slice(0, callsMax)) {
      const bytes = frameOf(entry).length;
      if (this.#bytes + bytes > callsBytesMax) break;
      this.#insert({ entry, as: null, bytes, isKept: true, phase: 'queued', sentAt: null, restUntil: -Infinity,
        deadline: now + Math.min(keepMsMax, entry.expiresAt - wall), attempt: 0, faults: 0 });
    }
    for (const call of later) this.#byId.set(call.entry.id, call);
    this.#isLoaded = this.#isDirty = true;
  }

  /** `isLeft`: the storage failed, and may have the entry all the same, which a later process would send. */
  kept(id, { isKept, isLeft = false }) {
    const call = this.#byId.get(id);
    if (call?.phase !== 'keeping') return;
    if (!isKept) return this.#unkept(call, isLeft);
    call.phase = 'queued';
    this.#isDirty = true;
  }

  /** `firstSentAt` is what storage has now: another page may have sent the call before; null when it is done there. */
  marked(id, { isKept, isLeft = false, firstSentAt = null }) {
    const call = this.#byId.get(id);
    if (call?.phase !== 'marking') return;
    call.phase = 'queued';
    this.#isDirty = true;
    if (!isKept) return this.#unkept(call, isLeft);
    if (firstSentAt === null) {
      call.isKept = false;  // another page has told its outcome, unless somebody waits for it here
      return this.#uncertain(call);
    }
    call.entry.firstSentAt = firstSentAt;
    if (this.#isTooOld(call)) this.#uncertain(call);
    else this.#send(call);
  }

  // What the gateway says.

  answered(ref, answer) {
    const call = this.#byId.get(ref);
    if (call?.phase === 'sent') this.#finish(call, { answer });
  }

  /** Whether the error was a call's. */
  failed(ref, told) {
    const call = this.#byId.get(ref);
    if (call?.phase !== 'sent') return false;
    const { now, random } = this.#machine;
    const error = errorOf(told);
    this.#isDirty = true;
    if (error.code === 'rate_limited') {
      call.phase = 'queued';
      this.#pausedUntil = now + bounded(error.retryAfterMs, 20, 60_000, 1_000);
    } else if (error.code === 'unavailable') {
      call.phase = 'queued';
      call.restUntil = now + backOffMs(call.attempt++, random);
    } else {
      this.#finish(call, { error });
    }
    return true;
  }

  /** The user is known, on this connection and for what was called before. */
  ready() {
    this.#isDirty = true;
    for (const call of this.#byId.values()) {
      if (call.entry.user !== null) continue;
      call.entry.user = this.#machine.user;
      if (call.isKept) this.#keep(call);
    }
  }

  /** The connection is gone; `isFault` when the gateway did not understand us: perhaps what was in flight. */
  lost(isFault) {
    this.#isDirty = true;
    for (const call of [...this.#byId.values()]) {
      if (call.phase === 'marking') call.phase = 'queued';
      if (call.phase !== 'sent') continue;
      call.phase = 'queued';
      call.faults += isFault ? 1 : 0;
      // Without a token a call's name counts on its own connection only.
      const isNamed = call.entry.user !== '' || call.entry.repeatable;
      if (!isNamed || call.faults >= faultsMax) this.#uncertain(call);
    }
  }

  /** The gateway closed for our rate: half of it for a minute. */
  slow() {
    this.#slowUntil = this.#machine.now + slowedMs;
  }

  // Time.

  /** Ends what is too late, and sends what may go. */
  pump() {
    const { now, isReady, isStopped } = this.#machine;
    if (!this.#isDirty && now < this.wakeAt) return;
    this.#isDirty = false;
    this.wakeAt = Infinity;
    for (const call of [...this.#byId.values()]) {
      if (call.deadline <= now) this.#late(call);
      else if (!isStopped || !call.isKept) this.#wake(call.deadline);  // a stopped client has no timer for a day
    }
    if (isReady && this.#isLoaded) this.#sendWhatMay(now);
  }

  #sendWhatMay(now) {
    if (this.#pausedUntil > now) return this.#wake(this.#pausedUntil);
    this.#allowance.perSecond = now < this.#slowUntil ? perSecond / 2 : perSecond;
    const busy = new Set();
    let inFlight = 0;
    for (const { phase, entry } of this.#byId.values()) {
      if (phase !== 'sent' && phase !== 'marking') continue;
      busy.add(entry.lane);
      inFlight += 1;
    }
    for (const call of [...this.#byId.values()]) {
      const { lane, user } = call.entry;
      // What another user left waits for that user.
      if (user !== this.#machine.user || busy.has(lane)) continue;
      if (inFlight >= inFlightMax) return;
      if (this.#isTooOld(call)) {
        this.#uncertain(call);
        continue;
      }
      busy.add(lane);
      if (call.phase === 'keeping') continue;
      if (call.restUntil > now) {
        this.#wake(call.restUntil);
        continue;
      }
      if (this.#allowance.left(now) < 1) return this.#wake(this.#allowance.whenMs(now, 1));
      this.#allowance.spend(1);
      inFlight += 1;
      this.#mark(call);
    }
  }

  #insert(call) {
    this.#byId.set(call.entry.id, call);
    this.#bytes += call.bytes;
    this.#isDirty = true;
  }

  #keep(call) {
    call.phase = 'keeping';
    this.#machine.say({ do: 'keep', id: call.entry.id, entry: { ...call.entry } });
  }

  #mark(call) {
    if (!call.isKept) {
      call.entry.firstSentAt ??= this.#machine.wall;
      return this.#send(call);
    }
    call.phase = 'marking';
    this.#machine.say({ do: 'mark', id: call.entry.id, firstSentAt: call.entry.firstSentAt ?? this.#machine.wall });
  }

  #send(call) {
    call.sentAt ??= this.#machine.now;
    call.phase = 'sent';
    this.#machine.sendText(frameOf(call.entry));
  }

  #isTooOld({ entry, sentAt }) {
    if (entry.firstSentAt === null || entry.repeatable) return false;
    const { now, wall } = this.#machine;
    const age = Math.max(sentAt === null ? 0 : now - sentAt, wall - entry.firstSentAt);
    return age >= repeatMs || wall < entry.firstSentAt - clockSlackMs;
  }

  #late(call) {
    if (!call.isKept) this.#fail(call, 'timeout', 'There was no answer.');
    else if (call.entry.firstSentAt === null) this.#fail(call, 'expired');
    else this.#uncertain(call);
  }

  #unkept(call, isLeft) {
    if (isLeft) this.#uncertain(call);
    else this.#fail(call, 'storage');
  }

  #uncertain(call) {
    this.#fail(call, 'uncertain', 'It may have happened.');
  }

  #fail(call, code, message) {
    this.#finish(call, { error: new SwitchboardError(code, message) });
  }

  /** The call goes on, but nobody waits for it. */
  #detach(call, code) {
    const { as, entry: { id, event } } = call;
    call.as = null;
    this.#machine.say({ do: 'finish', as, id, event, error: new SwitchboardError(code) });
  }

  #finish(call, outcome) {
    const { id, event } = call.entry;
    this.#byId.delete(id);
    this.#bytes -= call.bytes;
    this.#isDirty = true;
    if (call.isKept) this.#machine.say({ do: 'forget', id });
    // Nobody waits for a call that was cancelled, unless it is kept.
    if (call.as !== null || call.isKept) this.#machine.say({ do: 'finish', as: call.as, id, event, ...outcome });
  }

  #wake(at) {
    this.wakeAt = Math.min(this.wakeAt, at);
  }
}

/** The message of a call; its data was made text when it was called, and stays as it was. */
function frameOf({ id, event, topic, data }) {
  const [name, ref] = [JSON.stringify(event), JSON.stringify(id)];
  if (topic === null) return `{"event":${name},"data":${data},"ref":${ref}}`;
  return `{"event":"publish","topic":${JSON.stringify(topic)},"data":{"event":${name},"data":${data},"id":${ref}},`
    + `"ref":${ref}}`;
}

/** What storage returned, when it can be an entry: other programs may have written there. */
export function entryOf(value) {
  const isText = (text) => typeof text === 'string' && text !== '';
  const isTime = (time) => Number.isFinite(time);
  try {
    const { id, event, topic, data, user, lane, repeatable, createdAt, firstSentAt, expiresAt } = value;
    const isOne = isText(id) && isText(event) && (topic === null || isText(topic)) && isText(data)
      && typeof user === 'string' && isText(lane) && typeof repeatable === 'boolean' && isTime(createdAt)
      && (firstSentAt === null || isTime(firstSentAt)) && isTime(expiresAt);
    if (!isOne) return null;
    const entry = { id, event, topic, data: JSON.stringify(JSON.parse(data)), user, lane, repeatable, createdAt,
      firstSentAt, expiresAt };
    return frameOf(entry).length <= frameBytesMax ? entry : null;
  } catch {
    return null;  // it is no entry
  }
}
