// Values of the app, judged before they reach the machine: a value that cannot be sent is its caller's error.

import { SwitchboardError, frameBytesMax, operationId, positionOf } from './parts.js';
import { isTopic } from './topics.js';

const idGrammar = /^[A-Za-z0-9._~:-]{1,128}$/;

const fail = (message) => new SwitchboardError('bad_request', message);

/** Anything as text, for a log: some values cannot even be that. */
export function textOf(value) {
  try {
    return String(value);
  } catch {
    return 'a value without a text';  // such as an object without a prototype
  }
}

/** The JSON text of a value; what has none, as a function, is no value. */
function jsonOf(value) {
  const text = JSON.stringify(value);
  if (text === undefined) throw fail('This is no JSON value.');
  return text;
}

/** The options of a topic, each read once. */
export function topicOf(name, options) {
  if (!isTopic(name)) throw fail(`${textOf(name)} is no topic.`);
  const { since, presence, latestBy, signal } = options ?? {};
  if (latestBy && typeof latestBy !== 'function') throw fail('latestBy is no function.');
  return { since: positionOf(since), presence: Boolean(presence), latestBy, signal: signal ?? undefined };
}

/** What a client says of itself at a topic, as JSON text; null ends it. */
export function metaOf(name, meta) {
  if (meta === null) return null;
  const text = jsonOf(meta);
  // The gateway would end the connection, and the next one, which says the same.
  if (bytesOf(text) + name.length + 256 > frameBytesMax) throw new SwitchboardError('too_large');
  return text;
}

/** A call as the machine takes it: texts, numbers and flags that are copies of what the program gave. */
export function callOf(topic, event, data, options) {
  const { id = operationId(), signal, lane = 'default', timeoutMs = 60_000, keepMs = null, repeatable = false,
    failOffline = false } = options ?? {};
  if (topic !== null && !isTopic(topic)) throw fail(`${textOf(topic)} is no topic.`);
  if (typeof event !== 'string') throw fail('The name of a command or event is a text.');
  const name = String(id);
  if (!idGrammar.test(name)) throw fail('An id has 1 to 128 of A-Z a-z 0-9 . _ ~ : -.');
  const ms = (value) => {
    if (typeof value !== 'number' || Number.isNaN(value)) throw fail('A time is a number of milliseconds.');
    return Math.max(0, value);
  };
  return { topic, event, id: name, signal: signal ?? undefined, lane: String(lane), timeoutMs: ms(timeoutMs),
    keepMs: keepMs === null || keepMs === undefined ? null : ms(keepMs), repeatable: Boolean(repeatable),
    failOffline: Boolean(failOffline), data: data === undefined ? '{}' : jsonOf(data) };
}

const bytesOf = (text) => new TextEncoder().encode(text).length;
