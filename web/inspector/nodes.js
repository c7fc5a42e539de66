// The names of processes by their ids, as far as the fleet has told them.

export class Nodes {
  #names = new Map();
  /** The id of the gateway that answers this page. */
  own = '';

  /** Takes the rows of `/v1/nodes`. */
  learn(rows) { for (const { id, name } of rows) this.#names.set(id, name); }

  /** The machine's name, or the id while it is not known. */
  machine(id) { return this.#names.get(id) ?? id; }

  /** The machine's name with the id, where they differ. */
  name(id) {
    const name = this.#names.get(id);
    return name === undefined || name === id ? id : `${name} (${id})`;
  }

  /** The names of those that did not answer, with the reason where one is given. */
  missing(unanswered = []) {
    return unanswered.map((one) => {
      if (typeof one === 'string') return this.name(one);
      const reason = one.reason ?? one.why;
      return this.name(one.node ?? one.id ?? '?') + (reason ? `: ${reason}` : '');
    });
  }
}
