// What programs write, for the compiler: `tsc --noEmit --strict`. Nothing runs it.

import {
  Optimistic, SwitchboardClient, SwitchboardError, backOffMs, operationId, webStorage, type TypedClient,
} from '../index.js';

type Shop = { 'queue:update': { queueLength: number }; 'presence:update': { count: number } };

const client = new SwitchboardClient('wss://gateway.example/ws', {
  token: async (reason) => (reason === 'first' ? 'one' : 'two'), storage: webStorage(localStorage), WebSocket,
});

export async function uses(signal: AbortSignal): Promise<number> {
  const shop = client.topic<Shop, { queueLength: number }>('shop:42', { signal, latestBy: ({ event }) => event });
  let length = 0;
  for await (const update of shop) {
    if (update.type === 'live') length = update.state?.queueLength ?? length;
    else if (update.type === 'gap') length = update.missed ?? 0;
    else if (update.type === 'event' && update.event === 'queue:update') length = update.data.queueLength;
    else if (update.type === 'presence') length = (update.members ?? update.joins).length;
  }
  for await (const { data } of shop.events('presence:update')) length = data.count;
  for await (const members of shop.presence()) length = members.size;
  const votes = new Optimistic({ mine: 'none' });
  const vote = (): Promise<{ upvotes: number }> =>
    client.call('vote', { shopId: '42' }, { id: operationId(), keepMs: 60_000 });
  try {
    length = (await votes.perform((value) => ({ ...value, mine: 'up' }), vote)).upvotes;
  } catch (error) {
    if (error instanceof SwitchboardError && error.code === 'uncertain') length = backOffMs(0);
  }
  for await (const { id, error } of client.outbox.results()) if (error === undefined) client.outbox.remove(id);
  if (client.status.reason?.isPermanent) length = client.status.reason.message.length;
  // @ts-expect-error a shop has no such event
  shop.events('nothing');
  return (await client.publish('shop:42', 'hello', { length })).offset;
}

type Commands = { vote: { args: { trackId: string }; answer: { score: number } } };
type States = { shop: { queueLength: number } };

export async function usesTypes(): Promise<number> {
  const typed: TypedClient<Commands, Shop, States> = new SwitchboardClient('wss://gateway.example/ws');
  let length = (await typed.state('shop:42'))?.queueLength ?? 0;
  for await (const update of typed.topic('shop:42')) {
    if (update.type === 'live') length = update.state?.queueLength ?? length;
    else if (update.type === 'event' && update.event === 'presence:update') length = update.data.count;
  }
  for await (const { data } of typed.topic('dj:42').events('queue:update')) length = data.queueLength;
  const other = typed.topic<{ said: string }>('conversation:7');
  for await (const { data } of other.events('said')) length = data.length;
  // @ts-expect-error the state of a shop has no such member
  (await typed.state('shop:42'))?.width;
  // @ts-expect-error the state of another namespace is not known
  (await typed.state('dj:42')).queue;
  // @ts-expect-error there is no such event
  typed.topic('shop:42').events('nothing');
  return length + (await typed.call('vote', { trackId: 't1' })).score;
}
