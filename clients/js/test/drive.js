// The driver for Node: orders come as lines of JSON, and so does what is seen. The argument is where `ws` is found.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

import * as library from '../switchboard.js';
import { driver } from './driver.js';

const WebSocket = createRequire(process.argv[2])('ws');
/** A WebSocket that sends these headers, as programs on a server may. */
const dressed = (headers) => class extends WebSocket {
  constructor(url) {
    super(url, { headers });
  }
};
const tell = (seen) => process.stdout.write(`${JSON.stringify(seen)}\n`);
const take = driver(library, tell, { WebSocket, dressed });

for await (const line of createInterface({ input: process.stdin })) take(JSON.parse(line));
process.exit(0);
