// The guest's own topic `user:ID`: several tabs hear it, and the client subscribes it once.

import { follow } from '/follow.js';

export class OwnTopic {
  #client;
  #guest;
  #listeners = [];
  #topic = null;
  /** Follows the topic no longer. */
  #leave = () => {};
  #isLive = false;

  constructor(client, guest) {
    this.#client = client;
    this.#guest = guest;
  }

  /** Hears the topic from now on, as a listener of the client does; without a position for who comes late. */
  listen(listener) {
    this.#listeners.push(listener);
    if (this.#listeners.length === 1) this.#guest.follow((userId) => this.#subscribe(`user:${userId}`));
    else if (this.#isLive) listener.live?.({ recovered: false });
  }

  #subscribe(topic) {
    if (topic === this.#topic) return;
    this.#leave();
    this.#topic = topic;
    this.#isLive = false;
    this.#leave = follow(this.#client, topic, {
      live: (detail) => {
        this.#isLive = true;
        this.#tell('live', detail);
      },
      event: (name, data) => this.#tell('event', name, data),
      gap: (gap) => this.#tell('gap', gap),
      refused: (refusal) => this.#tell('refused', refusal),
    });
  }

  #tell(word, ...details) {
    for (const listener of this.#listeners) listener[word]?.(...details);
  }
}
