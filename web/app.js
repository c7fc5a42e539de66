// The page at `/`: a tab for each app. Each speaks to the gateway as its app does, and none begins before it is shown.
import { ChatPanel } from '/chat.js';
import { showConnection } from '/connection.js';
import { FramesView } from '/frames.js';
import { Guest } from '/guest.js';
import { startInspector } from '/inspector_tab.js';
import { NearbyPanel } from '/nearby.js';
import { OrderPanel } from '/orders.js';
import { OwnTopic } from '/own_topic.js';
import { People } from '/people.js';
import { SessionPanel } from '/session.js';
import { startShop } from '/shop.js';
import { SwitchboardClient } from '/switchboard.js';
import { Tabs } from '/tabs.js';
import { tapped, Wire } from '/wire.js';

const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
const origin = `${scheme}//${location.host}`;

// Three tabs share a connection: each shows the frames of its own topics, and those of no topic.
const native = "Switchboard's own dialect";
const shared = (...namespaces) => new Wire(`${native}, on a WebSocket that three tabs share`,
  (topic) => ['user', ...namespaces].includes(topic.split(':')[0]));
const wires = {
  shop: shared('shop', 'dj', 'challenge', 'feed', 'barber', 'booking'),
  session: new Wire(`${native}, on a socket whose path joins its topic, and HTTP`),
  chat: shared('conversation'),
  orders: new Wire("Phoenix channels, as Supabase's clients speak them"),
  nearby: shared(),
};
const client = new SwitchboardClient(`${origin}/ws`, { WebSocket: tapped(wires.shop, wires.chat, wires.nearby) });
showConnection(client);
const guest = new Guest(client);
const own = new OwnTopic(client, guest);
const people = new People(guest);

for (const [tab, wire] of Object.entries(wires)) new FramesView(tab, wire);
new Tabs([
  { tab: 'shop', name: 'The Cut Club', place: 'the shop', start: () => startShop(client, guest, own) },
  {
    tab: 'session', name: 'QueueUp', place: 'the session',
    start: () => new SessionPanel(origin, guest, people, wires.session),
  },
  { tab: 'chat', name: 'Messages', place: 'the conversations', start: () => new ChatPanel(client, guest, own, people) },
  { tab: 'orders', name: 'Orders', place: 'the order', start: () => new OrderPanel(origin, guest, wires.orders) },
  { tab: 'nearby', name: 'Hearby', place: 'the map', start: () => new NearbyPanel(guest, own, people, wires.nearby) },
  { tab: 'inspector', name: 'Inspector', place: 'the inspector', start: startInspector },
], (tab) => people.visit(tab));
guest.start();
