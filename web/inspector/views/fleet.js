// The processes: is each of them there, ready, and of the same configuration?
import { make, tell } from '/inspector/dom.js';
import { Figures } from '/inspector/figures.js';
import { bytes, many, milliseconds, number, span } from '/inspector/format.js';
import { link } from '/inspector/form.js';
import { Table } from '/inspector/table.js';

const COLUMNS = [
  { label: 'Process', text: ({ id, name }) => (name === id ? id : `${name} (${id})`),
    href: ({ id, role }) => (role === 'gateway' ? link('sessions', { node: id }) : null) },
  { label: 'Role', text: ({ role }) => role },
  { label: 'State', state },
  { label: 'Version', text: ({ version }) => version, kind: 'brief' },
  { label: 'Up', text: ({ uptimeSeconds }) => span(uptimeSeconds), kind: 'number' },
  { label: 'Connections', text: ({ connections }) => number(connections), kind: 'number' },
  { label: 'Sessions', text: ({ sessions }) => number(sessions), kind: 'number' },
  { label: 'Topics', text: ({ topics }) => number(topics), kind: 'number' },
  { label: 'Memory', text: ({ memoryBytes }) => bytes(memoryBytes), kind: 'number' },
  { label: 'Descriptors', text: ({ descriptors }) => number(descriptors), kind: 'number' },
  { label: 'Clock', text: ({ clockOffsetMs }) => milliseconds(clockOffsetMs ?? NaN), kind: 'number' },
];

/** How a process is: workers and couriers only say that they live. */
export function state({ role, ready, reasons, warnings, draining }) {
  if (role !== 'gateway') return ['good', 'Alive'];
  if (draining) return ['warned', 'Draining'];
  if (!ready) return ['red', `Not ready: ${reasons.join(', ') || 'starting'}`];
  return warnings.length > 0 ? ['warned', `Warned: ${warnings.join(', ')}`] : ['good', 'Ready'];
}

export function openFleet(content, _, app) {
  const figures = new Figures(['Gateways', 'Not ready', 'Warned', 'Workers', 'Couriers', 'Connections', 'Sessions']);
  const alike = make('p', { class: 'notice warned', hidden: true });
  const table = new Table('Processes', COLUMNS, { key: ({ id }) => id, empty: 'No process has announced itself.' });
  content.append(figures.node, alike, table.node);
  return {
    next: () => ({ name: 'nodes', path: '/v1/nodes' }),
    show(_, { nodes }) {
      app.nodes.learn(nodes);
      const gateways = nodes.filter(({ role }) => role === 'gateway');
      const sum = (name) => gateways.reduce((total, node) => total + (node[name] ?? 0), 0);
      const red = gateways.filter(({ ready }) => !ready).length;
      const warned = gateways.filter((node) => state(node)[0] === 'warned').length;
      const workers = nodes.filter(({ role }) => role === 'worker').length;
      figures.show([
        [number(gateways.length)], [number(red), red > 0 ? 'red' : ''], [number(warned), warned > 0 ? 'warned' : ''],
        [number(workers), workers === 0 ? 'warned' : ''],
        [number(nodes.filter(({ role }) => role === 'courier').length)],
        [number(sum('connections'))], [number(sum('sessions'))],
      ]);
      tell(alike, differences(gateways, nodes));
      const weight = { red: 0, warned: 1, good: 2 };
      const order = (node) => weight[state(node)[0]];
      table.show([...nodes].sort((one, other) => order(one) - order(other) || one.role.localeCompare(other.role)
        || one.name.localeCompare(other.name) || one.id.localeCompare(other.id)));
    },
  };
}

function differences(gateways, nodes) {
  const sentences = [];
  const hashes = new Set(gateways.map(({ configHash }) => configHash));
  const versions = new Set(nodes.map(({ version }) => version));
  if (hashes.size > 1) {
    sentences.push(`The gateways run with ${many(hashes.size, 'configuration')}: their limits, namespaces, packs or `
      + 'sockets differ.');
  }
  if (versions.size > 1) sentences.push(`Several versions run: ${[...versions].join(', ')}.`);
  return sentences.join(' ');
}
