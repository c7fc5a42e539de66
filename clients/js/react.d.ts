/** Hooks for React 18 or later. README.md has an example. */

import type { EventMap, Member, Status, SwitchboardClient, SwitchboardError, TopicEvent } from './index.js';

/** A topic as a component shows it. */
export interface TopicView<Value> {
  /** Made of the topic's state and events. */
  readonly value: Value;
  /** Whether the value follows the topic now. */
  readonly isLive: boolean;
  /** Whether events are missing in the value, and no state has replaced it since. */
  readonly hasMissed: boolean;
  /** Why the topic is not live: it was refused, for good or for now. */
  readonly error: SwitchboardError | null;
  /** Who is here, with the option `presence`. */
  readonly members: readonly Member[];
}

/** How a topic becomes a value. A component may give new functions each time. */
export interface UseTopicOptions<Value, Events extends EventMap = EventMap, State = Value> {
  /** The value before the first update. */
  readonly initial: Value;
  /** The value of a state; without it, the state itself. */
  readonly begin?: (state: State) => Value;
  /** The value after an event: a new one, or the old one unchanged. */
  readonly apply?: (value: Value, event: TopicEvent<Events>) => Value;
  /** To be told who is here. */
  readonly presence?: boolean;
}

/** A topic of a client: its value, kept up to date while the component is there. */
export function useTopic<Value, Events extends EventMap = EventMap, State = Value>(
  client: Pick<SwitchboardClient, 'topic'>, name: string, options: UseTopicOptions<Value, Events, State>,
): TopicView<Value>;

/** The status of a client, and each change of it. */
export function useStatus(client: Pick<SwitchboardClient, 'status' | 'statuses'>): Status;
