// Forms that narrow a page. What they ask stands in the address, so that a link and a reload show the same.
import { path } from '/inspector/api.js';
import { make } from '/inspector/dom.js';

let made = 0;

/** A control with its label; `choices` are [value, label] of a list. */
export function field({ name, label, value = '', choices, placeholder, isRequired = false, rows, kind }) {
  made += 1;
  const id = `field-${made}`;
  const common = { id, name, required: isRequired, autocomplete: 'off', spellcheck: 'false' };
  let control;
  if (choices) {
    control = make('select', { id, name }, ...choices.map(([choice, text]) =>
      make('option', { value: choice, selected: choice === value }, text)));
  } else if (rows) {
    control = make('textarea', { ...common, rows, class: 'code' }, value);
  } else {
    control = make('input', { ...common, value, placeholder, inputmode: kind === 'number' ? 'numeric' : null });
  }
  const node = make('div', { class: rows ? 'field wide' : 'field' }, make('label', { for: id }, label), control);
  return { control, node };
}

/** A form of these fields that leads to a page of this name, with what was written. */
export function search(page, fields, parameters, action = 'Show') {
  const controls = fields.map((one) => field({ ...one, value: parameters.get(one.name) ?? one.value ?? '' }));
  const form = make('form', { class: 'search', role: 'search' }, ...controls.map(({ node }) => node),
    make('button', { type: 'submit' }, action));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    location.hash = link(page, Object.fromEntries(controls.map(({ control }) => [control.name, control.value.trim()])));
  });
  for (const { control } of controls) {
    if (control.tagName === 'SELECT') control.addEventListener('change', () => form.requestSubmit());
  }
  return form;
}

/** An address of a page. */
export function link(page, query = {}) {
  return `#/${path(page, query)}`;
}

/** What the address says for these names; null for what it leaves out. */
export const given = (parameters, ...names) => Object.fromEntries(names.map((name) => [name, parameters.get(name)]));
