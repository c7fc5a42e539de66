// The messages of one conversation, as a device keeps them. Pure: no page, no connection, no clock.
import { count, text } from '/dom.js';

const statuses = ['sending', 'sent', 'delivered', 'read'];
const textMax = 2_000;

export class Messages {
  /** id -> message {id, senderId, text, ms, status, readBy, isChanged}. */
  #known = new Map();
  /** Own messages on their way, in the order of writing: id -> message. */
  #pending = new Map();
  /** Where the page before begins; null when there is none. */
  next = null;

  /** Takes the newest page in the place of what was known. */
  replace(page) {
    this.#known.clear();
    this.add(page);
  }

  /** Takes a page of older messages. */
  add(page) {
    for (const told of Array.isArray(page?.messages) ? page.messages : []) this.#set(told);
    this.next = count(page?.next, Number.MAX_SAFE_INTEGER);
  }

  /** Takes an event; false for one that is no message's, null when the page has to be asked for anew. */
  take(event, told) {
    switch (event) {
      case 'message:added':
      case 'message:modified':
        this.#set(told);
        return true;
      case 'message:removed':
        this.#known.delete(told.id);
        return true;
      case 'messages:erased':
        for (const [id, { senderId }] of this.#known) if (senderId === told.userId) this.#known.delete(id);
        return true;
      case 'messages:delivered':
      case 'messages:read':
        for (const message of this.#known.values()) mark(message, told);
        return true;
      case 'messages:changed': return null;
    }
    return false;
  }

  /** An own message sets out; it is shown at once. */
  send(id, senderId, words) {
    this.#pending.set(id, { id, senderId, text: words, ms: null, status: 'sending', readBy: [], isChanged: false });
  }

  /** The server has answered an own message, or refused it: then nothing is known of it. */
  settle(id, told) {
    this.#pending.delete(id);
    if (told !== null) this.#set(told);
  }

  /** All in the server's order, own ones on their way last. */
  get shown() {
    const known = [...this.#known.values()].sort((one, other) => one.ms - other.ms);
    return [...known, ...[...this.#pending.values()].filter(({ id }) => !this.#known.has(id))];
  }

  /** The newest message of others; null without one. */
  newestOf(isOther) {
    return this.shown.filter(({ ms, senderId }) => ms !== null && isOther(senderId)).at(-1) ?? null;
  }

  #set(told) {
    const ms = count(told?.timestampMs, Number.MAX_SAFE_INTEGER);
    if (typeof told?.id !== 'string' || typeof told.senderId !== 'string' || ms === null) return;
    const before = this.#known.get(told.id);
    const status = statuses.includes(told.status) ? told.status : 'sent';
    this.#known.set(told.id, {
      id: told.id, senderId: told.senderId, text: text(told.text, textMax), ms,
      // A mark may have come before the answer to the message itself.
      status: before && statuses.indexOf(before.status) > statuses.indexOf(status) ? before.status : status,
      readBy: Array.isArray(told.readBy) ? told.readBy : [], isChanged: told.modifiedAt !== undefined,
    });
  }
}

/** One event marks a range: all messages of others behind `afterMs` up to `upToMs`. */
function mark(message, { userId, status, afterMs, upToMs }) {
  if (message.senderId === userId || !(afterMs < message.ms && message.ms <= upToMs)) return;
  if (status === 'read' && !message.readBy.includes(userId)) message.readBy.push(userId);
  if (statuses.indexOf(status) > statuses.indexOf(message.status)) message.status = status;
}
