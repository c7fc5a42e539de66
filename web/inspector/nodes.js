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

  /** The names of those whose answer is missing or not whole, with the reason where one is given. */
  missing({ unanswered = [], reasons = [] }) {
    const words = new Map(reasons.map(({ node, reason }) => [node, reason]));
    return unanswered.map((id) => this.name(id) + (words.has(id) ? `: ${words.get(id).replaceAll('_', ' ')}` : ''));
  }
}
