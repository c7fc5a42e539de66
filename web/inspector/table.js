// A table whose rows are kept by their keys: what has the focus stays where it is while the figures change.
import { arrange, make, say } from '/inspector/dom.js';

/**
 * Columns have `label` and one of these:
 * - `text(row)`, with `href(row)` where it is a link,
 * - `state(row)`: [kind, text], where the kind is good, warned, red or plain,
 * - `actions`: a list of {label, act(row), isFor(row)}.
 * `kind` is `number`, `code` or `wide`. The first column names the row.
 */
export class Table {
  #columns;
  #key;
  #rows = new Map();
  #body = make('tbody', { role: 'rowgroup' });
  #empty;

  constructor(caption, columns, { key, empty = 'Nothing to show.' }) {
    this.#columns = columns;
    this.#key = key;
    this.#empty = make('p', { class: 'empty muted' }, empty);
    const heads = columns.map(({ label, kind, actions }) =>
      make('th', { scope: 'col', role: 'columnheader', class: actions ? 'actions' : kind }, label));
    // On a phone a row becomes a card, unless it has a name and a figure only.
    this.table = make('table', { role: 'table', class: columns.length > 2 ? 'cards' : null },
      make('caption', { class: 'visually-hidden' }, caption),
      make('thead', { role: 'rowgroup' }, make('tr', { role: 'row' }, ...heads)), this.#body);
    // A region that can be scrolled has to be reached by the keyboard.
    this.scroll = make('div', { class: 'scroll', role: 'region', 'aria-label': caption, tabindex: '0' }, this.table);
    this.node = make('div', { class: 'table' }, this.scroll, this.#empty);
    this.show([]);
  }

  /** Shows these rows, in this order. */
  show(rows) {
    const shown = rows.map((row) => {
      const key = this.#key(row);
      const known = this.#rows.get(key) ?? this.#make(key);
      known.row = row;
      known.cells.forEach((fill) => fill(row));
      return known;
    });
    const keys = new Set(shown.map(({ key }) => key));
    for (const key of [...this.#rows.keys()]) if (!keys.has(key)) this.#rows.delete(key);
    arrange(this.#body, shown.map(({ node }) => node));
    this.#empty.hidden = rows.length > 0;
    this.scroll.hidden = rows.length === 0;
  }

  /** Says something else where there are no rows. */
  sayEmpty(text) { say(this.#empty, text); }

  #make(key) {
    const made = { key, row: null };
    const cells = this.#columns.map((column, index) => this.#cell(column, index, made));
    made.node = make('tr', { role: 'row' }, ...cells.map(({ node }) => node));
    made.cells = cells.map(({ fill }) => fill);
    this.#rows.set(key, made);
    return made;
  }

  #cell(column, index, made) {
    const role = index === 0 ? 'rowheader' : 'cell';
    const attributes = { role, class: column.kind, 'data-label': column.label };
    const node = index === 0 ? make('th', { scope: 'row', ...attributes }) : make('td', attributes);
    if (column.actions) return { node, fill: this.#actions(node, column.actions, made) };
    if (column.state) return { node, fill: Table.#state(node, column) };
    if (column.href) return { node, fill: Table.#link(node, column) };
    return { node, fill: (row) => Table.#say(node, column.text(row)) };
  }

  /** A phone leaves out cells that say nothing. */
  static #say(node, text) {
    node.toggleAttribute('data-empty', text === '–');
    say(node, text);
  }

  static #state(node, column) {
    const chip = node.appendChild(make('span', { class: 'chip' }));
    return (row) => {
      const [kind, text] = column.state(row);
      chip.dataset.kind = kind;
      say(chip, text);
    };
  }

  static #link(node, column) {
    const link = make('a');
    return (row) => {
      const href = column.href(row);
      if (href === null) return Table.#say(node, column.text(row));
      if (!node.contains(link)) node.replaceChildren(link);
      if (link.getAttribute('href') !== href) link.setAttribute('href', href);
      say(link, column.text(row));
    };
  }

  #actions(node, actions, made) {
    node.classList.add('actions');
    const buttons = actions.map(({ label, act }) =>
      node.appendChild(make('button', { type: 'button', on: { click: () => act(made.row) } }, label)));
    return (row) => buttons.forEach((button, index) => {
      const { label, isFor, names } = actions[index];
      button.hidden = isFor !== undefined && !isFor(row);
      if (names) button.setAttribute('aria-label', `${label.replace('…', '')} ${names(row)}`);
    });
  }
}
