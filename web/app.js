// The page at `/`: a tab for each app. Each speaks to the gateway as its app does, and none begins before it is shown.
import { ChatPanel } from '/chat.js';
import { showConnection } from '/connection.js';
import { Guest } from '/guest.js';
import { followInspector } from '/inspector_link.js';
import { NearbyPanel } from '/nearby.js';
import { OrderPanel } from '/orders.js';
import { OwnTopic } from '/own_topic.js';
import { SessionPanel } from '/session.js';
import { startShop } from '/shop.js';
import { SwitchboardClient } from '/switchboard.js';
import { Tabs } from '/tabs.js';

const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
const origin = `${scheme}//${location.host}`;
const client = new SwitchboardClient(`${origin}/ws`);
showConnection(client);
const guest = new Guest(client);
const own = new OwnTopic(client, guest);

new Tabs([
  { tab: 'shop', name: 'The Cut Club', place: 'the shop', start: () => startShop(client, guest, own) },
  {
    tab: 'session', name: 'QueueUp', place: 'the session', start: () => new SessionPanel(origin, guest),
  },
  { tab: 'chat', name: 'Messages', place: 'the conversations', start: () => new ChatPanel(client, guest, own) },
  { tab: 'orders', name: 'Orders', place: 'the order', start: () => new OrderPanel(origin, guest) },
  { tab: 'nearby', name: 'Hearby', place: 'the map', start: () => new NearbyPanel(guest, own) },
]);
guest.start();
followInspector();
