// Plays every case of clients/conformance, each with three kinds of luck: `node --test conformance.js`.

import test from 'node:test';

import { Play, cases } from './play.js';

for (const one of cases) {
  for (const luck of [0, 0.5, 0.999]) test(`${one.name} (${luck})`, () => new Play(one, () => luck).run());
}
