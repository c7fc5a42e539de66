// A row of large figures with their names.
import { make, say } from '/inspector/dom.js';

export class Figures {
  #places;

  constructor(names) {
    this.#places = names.map((name) => {
      const value = make('dd', {}, '–');
      return { node: make('div', {}, make('dt', {}, name), value), value };
    });
    this.node = make('dl', { class: 'figures' }, ...this.#places.map(({ node }) => node));
  }

  /** Shows a [text, kind] in each place; a kind is red, warned or nothing. */
  show(values) {
    values.forEach(([text, kind = ''], index) => {
      const { node, value } = this.#places[index];
      node.dataset.kind = kind;
      say(value, text);
    });
  }
}
