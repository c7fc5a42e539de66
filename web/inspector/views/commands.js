// Commands as forms, made of the OpenAPI document: it shows this key what it may call, and nothing else.
import { make, say, tell } from '/inspector/dom.js';
import { field, link, search } from '/inspector/form.js';
import { Table } from '/inspector/table.js';

const PREFIX = '/v1/commands/';

/** The commands of a document: {name, operation}. */
const commandsOf = ({ paths }) => Object.entries(paths).filter(([path, { post }]) => path.startsWith(PREFIX) && post)
  .map(([path, { post }]) => ({ name: path.slice(PREFIX.length), operation: post }));

export function openCommands(content, parameters, app) {
  const [chosen, wanted] = [parameters.get('name'), (parameters.get('find') ?? '').toLowerCase()];
  const table = new Table('Commands', [
    { label: 'Command', text: ({ name }) => name, href: ({ name }) => link('commands', { name }), kind: 'code' },
    { label: 'What it does', text: ({ operation }) => operation.summary ?? '', kind: 'wide' },
    { label: 'Needs', text: ({ operation }) => operation['x-right'] ?? '–' },
    { label: 'Home', text: ({ operation }) => operation['x-home'] ?? '–', kind: 'code' },
  ], { key: ({ name }) => name, empty: 'This key may call no command of that name.' });
  const place = make('div', { class: 'stack' });
  const find = search('commands', [{ name: 'find', label: 'Find', placeholder: 'queue' }], parameters, 'Find');
  if (chosen === null) content.append(find, table.node);
  else content.append(make('p', {}, make('a', { href: link('commands') }, 'All commands')), place);
  let isShown = false;
  return {
    title: chosen === null ? undefined : `Command ${chosen}`,
    // The document is large, and changes with a reload only.
    next: () => (isShown ? null : { name: 'openapi', path: '/v1/openapi.json' }),
    show(_, document) {
      isShown = true;
      const commands = commandsOf(document);
      if (chosen === null) {
        return table.show(commands.filter(({ name, operation }) =>
          `${name} ${operation.summary ?? ''}`.toLowerCase().includes(wanted)));
      }
      const command = commands.find(({ name }) => name === chosen);
      place.replaceChildren(command === undefined
        ? make('p', { class: 'notice warned' }, `This key may not call ${chosen}, or there is no such command.`)
        : commandForm(command, document, app));
    },
  };
}

/** The schema behind a reference. */
function resolved(schema, document) {
  const target = schema?.$ref;
  if (typeof target !== 'string' || !target.startsWith('#/')) return schema ?? {};
  const steps = target.slice(2).split('/').map((step) => step.replace(/~1/g, '/').replace(/~0/g, '~'));
  return steps.reduce((at, step) => at?.[step], document) ?? {};
}

/** How a member of a body is asked for: its types, and the values that it may have. */
function shape(schema, document) {
  const whole = resolved(schema, document);
  const all = [whole, ...(whole.anyOf ?? []), ...(whole.oneOf ?? [])].map((one) => resolved(one, document));
  return {
    types: all.flatMap(({ type }) => type ?? []),
    values: all.flatMap((one) => one.enum ?? []).filter((value) => value !== null),
    text: whole.description ?? '',
  };
}

function commandForm({ name, operation }, document, app) {
  const schema = resolved(operation.requestBody?.content?.['application/json']?.schema, document);
  const required = new Set(schema.required ?? []);
  const members = Object.entries(schema.properties ?? {}).map(([member, described]) => {
    const { types, values, text } = shape(described, document);
    const isRequired = required.has(member);
    const label = `${member}${isRequired ? '' : ' (optional)'}`;
    const choices = values.length > 0 ? values.map(String) : types.includes('boolean') ? ['true', 'false'] : null;
    const isText = types.includes('string') || types.length === 0;
    const rows = !choices && !isText && (types.includes('object') || types.includes('array')) ? 3 : undefined;
    const offered = choices?.map((one) => [one, one]);
    if (offered && !isRequired) offered.unshift(['', '–']);
    const asked = field({ name: member, label, isRequired, rows, choices: offered });
    if (text !== '') asked.node.append(make('p', { class: 'muted' }, text));
    return { member, isText: isText && values.every((value) => typeof value === 'string'), ...asked };
  });
  const isWrite = operation['x-right'] === 'write';
  const problem = make('p', { class: 'error', role: 'alert' });
  const answer = make('pre', { tabindex: '0', role: 'status', 'aria-label': 'Answer', hidden: true });
  const form = make('form', { class: 'card form', 'aria-label': `Command ${name}` },
    make('p', { class: 'whole' }, operation.summary ?? ''), ...members.map(({ node }) => node),
    isWrite ? make('p', { class: 'whole muted' }, 'This command changes data.') : null,
    make('button', { type: 'submit', class: isWrite ? 'strong danger' : 'strong' }, `Call ${name}`), problem);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    say(problem, '');
    tell(answer, '');
    try {
      const body = {};
      for (const { member, control, isText } of members) {
        const written = control.value.trim();
        if (written !== '') body[member] = isText ? written : parsed(member, written);
      }
      tell(answer, JSON.stringify(await app.send('POST', PREFIX + name, body), null, 2));
    } catch (failure) {
      say(problem, failure.sentence ?? failure.message);
    }
  });
  return make('div', { class: 'stack' }, form, answer);
}

function parsed(member, written) {
  try {
    return JSON.parse(written);
  } catch {
    throw new Error(`${member} is neither a number nor JSON.`);
  }
}
