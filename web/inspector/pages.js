// The pages of the inspector, in the order of its navigation.
import { openCharts } from '/inspector/views/charts.js';
import { openCommands } from '/inspector/views/commands.js';
import { openDead } from '/inspector/views/dead.js';
import { openFleet } from '/inspector/views/fleet.js';
import { openHeadroom } from '/inspector/views/headroom.js';
import { openHealth } from '/inspector/views/health.js';
import { openOutbox, openReceivers, openWorkers } from '/inspector/views/queues.js';
import { openRedis } from '/inspector/views/redis.js';
import { openSessions } from '/inspector/views/sessions.js';
import { openSlow } from '/inspector/views/slow.js';
import { openTalkers } from '/inspector/views/talkers.js';
import { openTopic } from '/inspector/views/topic.js';
import { openTopics } from '/inspector/views/topics.js';
import { openTrace } from '/inspector/views/trace.js';
import { openWhy } from '/inspector/views/why.js';
import { openWire } from '/inspector/views/wire.js';

const page = (name, title, about, open, of = name) => ({ name, title, about, open, of });

const ALL = [
  page('fleet', 'Fleet', 'Every process that shares this Redis.', openFleet),
  page('health', 'Readiness', 'The promises of the gateway that answers this page, and the mend of a broken one.',
    openHealth),
  page('charts', 'Last 15 minutes', 'Of the gateway that answers this page, every five seconds since you signed in.',
    openCharts),
  page('sessions', 'Sessions', 'Clients of all gateways: those with the most waiting bytes first, then those that '
    + 'ended in the last hour. The id of an open one leads to its wire.', openSessions),
  page('slow', 'Slow', 'Sessions for which bytes wait, and those that were closed since they read too slowly.',
    openSlow),
  page('talkers', 'Talkers', 'Callers that ask most, counted for one to two minutes.', openTalkers),
  page('wire', 'Wire', "One client's messages, both ways, for a bounded time.", openWire),
  page('topics', 'Topics', 'The topics with the largest figures of all gateways.', openTopics),
  page('topic', 'Topic', 'The ledger and the sessions are those of the gateway that answers this page.', openTopic,
    'topics'),
  page('trace', 'Event', "One event's way to each session of its topic.", openTrace),
  page('why', 'Why not?', 'The answer is made of what all gateways have recorded within the last hour.', openWhy),
  page('redis', 'Redis', 'As the gateway that answers this page sees it.', openRedis),
  page('outbox', 'Outbox', 'Writes to other homes, which workers relay.', openOutbox),
  page('workers', 'Workers', 'They recompute values when keys change, and relay the outbox.', openWorkers),
  page('receivers', 'Receivers', 'Webhooks and services outside, which couriers call.', openReceivers),
  page('dead', 'Dead letters', 'Deliveries that were given up; they are kept for a week.', openDead),
  page('headroom', 'Headroom', 'How far the gateway that answers this page is from its limits.', openHeadroom),
  page('commands', 'Commands', 'What this key may call, as forms.', openCommands),
];

export const PAGES = Object.fromEntries(ALL.map((one) => [one.name, one]));

export const GROUPS = [
  ['Fleet', ['fleet', 'health', 'charts', 'headroom']],
  ['Clients', ['sessions', 'slow', 'talkers', 'wire']],
  ['Events', ['topics', 'trace', 'why']],
  ['Machinery', ['redis', 'outbox', 'workers', 'receivers', 'dead']],
  ['Actions', ['commands']],
];
