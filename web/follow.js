// What panels do with the client: they follow topics, and ask for commands.

/**
 * Follows a topic until the function that this returns is called. The listener is an object of functions, each of which
 * may be left out:
 *   live({recovered, state})   the topic is subscribed; without recovery `state` replaces what was known
 *   event(name, data)          an event arrived, each once, in order
 *   gap({reason, missed})      events were missed, `missed` of them; null when nobody knows. The state comes by `live`
 *   refused({code, message})   the topic cannot be had, or not now
 */
export function follow(client, name, listener) {
  const ending = new AbortController();
  read(client, name, listener, ending.signal).catch((error) => ending.signal.aborted || listener.refused?.(error));
  return () => ending.abort();
}

/** Asks for a command. Different commands do not wait for each other's answers. */
export const request = (client, command, args) => client.call(command, args, { lane: command });

async function read(client, name, listener, signal) {
  const topic = client.topic(name, { signal });
  let isStale = false;
  for await (const update of topic) {
    // What was told before the end may wait here still.
    if (signal.aborted) return;
    const isNews = update.type === 'live' && !update.recovered;
    if (isNews) isStale = false;
    if (isNews && !('state' in update)) {
      topic.resynchronise();  // others have followed the topic, and what they know is of before
      continue;
    }
    if (update.type === 'gap') {
      isStale = true;
      // The answer to a subscribe tells a gap and the state at once.
      setTimeout(() => isStale && !signal.aborted && topic.resynchronise());
    }
    try {
      tell(listener, update);
    } catch (error) {
      console.error(error);  // one update that a panel cannot show is no reason to miss the next
    }
  }
}

function tell(listener, update) {
  switch (update.type) {
    case 'live': return listener.live?.(update);
    case 'event': return listener.event?.(update.event, update.data);
    case 'gap': return listener.gap?.({ reason: gapReasons.get(update.reason), missed: update.missed });
    case 'pending': return update.error && listener.refused?.(update.error);
  }
}

const gapReasons = new Map([
  ['conflated', 'newer ones took their place, since this client read too slowly'],
  ['missed', 'the gateway lost sight of them'],
  ['followed', 'the gateway lost sight of them'],
  ['reset', 'the log began anew'],
  ['notRecovered', 'the log no longer reaches back that far'],
  ['tooSlow', 'this page read too slowly'],
]);
