// A question before an action: says what will happen, does it, and says in the same place when it failed.
import { make, say } from '/inspector/dom.js';

let opened = 0;

/**
 * Asks, and acts on the answer. `fields` are {name, label, value, choices, help}; `act(values)` returns a promise, and
 * `done(answer, values)` is called after it.
 */
export function ask({ title, text, fields = [], action, act, done }) {
  opened += 1;
  const id = `dialog-${opened}`;
  const problem = make('p', { class: 'error', role: 'alert' });
  const controls = fields.map((field) => ({ field, control: control(field, `${id}-${field.name}`) }));
  const go = make('button', { type: 'submit', class: 'strong danger' }, action);
  const cancel = make('button', { type: 'button', on: { click: () => dialog.close() } }, 'Cancel');
  const form = make('form', { method: 'dialog' },
    make('h2', { id }, title), ...[text].flat().map((sentence) => make('p', {}, sentence)),
    ...controls.flatMap(({ field, control: made }) => [
      make('label', { for: made.id }, field.label), made,
      field.help ? make('p', { class: 'muted' }, field.help) : null,
    ]),
    problem, make('div', { class: 'buttons' }, cancel, go));
  const dialog = make('dialog', { 'aria-labelledby': id }, form);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (go.getAttribute('aria-disabled') === 'true') return;
    const values = Object.fromEntries(controls.map(({ field, control: made }) => [field.name, made.value.trim()]));
    say(problem, '');
    go.setAttribute('aria-disabled', 'true');
    try {
      const answer = await act(values);
      dialog.close();
      done(answer, values);
    } catch (error) {
      say(problem, error.sentence ?? error.message);
    } finally {
      go.removeAttribute('aria-disabled');
    }
  });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function control({ value = '', choices }, id) {
  if (choices === undefined) return make('input', { id, value, spellcheck: 'false', autocomplete: 'off' });
  return make('select', { id }, ...choices.map(([choice, label]) =>
    make('option', { value: choice, selected: choice === value }, label)));
}
