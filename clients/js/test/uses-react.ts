// What programs with React write, for the compiler: `tsc --noEmit --strict`. Nothing runs it.

import { SwitchboardClient, type TypedClient } from '../index.js';
import { useStatus, useTopic } from '../react.js';

type Events = { 'track:added': { trackId: string }; 'queue:empty': { shopId: string } };
type State = { queue: { trackId: string; score: number }[] };
type Commands = { vote: { args: { trackId: string }; answer: { score: number } } };

const client: TypedClient<Commands> = new SwitchboardClient('wss://gateway.example/ws');

export function uses(): string {
  const { value, isLive, hasMissed, error, members } = useTopic<string[], Events, State>(client, 'dj:42', {
    initial: [],
    begin: ({ queue }) => queue.map(({ trackId }) => trackId),
    apply: (ids, update) => (update.event === 'track:added' ? [...ids, update.data.trackId] : ids),
    presence: true,
  });
  const { phase, reason } = useStatus(client);
  const plain = useTopic(client, 'shop:42', { initial: { length: 0 } });
  // @ts-expect-error a value is what `initial` is
  plain.value.width;
  // @ts-expect-error the event has no such member
  useTopic<string[], Events, State>(client, 'dj:42', { initial: [], apply: (ids, { data }) => [...ids, data.name] });
  // @ts-expect-error `initial` is needed
  useTopic(client, 'dj:42', {});
  return [phase, reason?.message, isLive, hasMissed, error?.code, members.length, ...value].join(' ');
}
