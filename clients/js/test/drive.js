// The driver for Node: orders come as lines of JSON, and so does what is seen. The argument is where `ws` is found.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

import * as library from '../switchboard.js';
import { driver } from './driver.js';

const WebSocket = createRequire(process.argv[2])('ws');
const take = driver(library, (seen) => process.stdout.write(`${JSON.stringify(seen)}\n`), { WebSocket });

for await (const line of createInterface({ input: process.stdin })) take(JSON.parse(line));
process.exit(0);
