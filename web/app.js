// The page at `/`: a tab for each app. Each speaks to the gateway as its app does, and none begins before it is shown.
import { ChatPanel } from '/chat.js';
import { Client } from '/client.js';
import { element, say } from '/dom.js';
import { Guest } from '/guest.js';
import { NearbyPanel } from '/nearby.js';
import { OrderPanel } from '/orders.js';
import { OwnTopic } from '/own_topic.js';
import { SessionPanel } from '/session.js';
import { startShop } from '/shop.js';
import { Tabs } from '/tabs.js';

const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
const origin = `${scheme}//${location.host}`;
const client = new Client(`${origin}/ws`);

let countdown = null;

client.addEventListener('state', ({ detail: { state, reason, retryMs } }) => {
  clearInterval(countdown);
  element('connection').dataset.state = state;
  switch (state) {
    case 'connecting': return tell('Connecting');
    case 'open': return tell('Live');
    case 'draining': return tell('Live; the server is about to restart');
    case 'waiting': {
      const due = performance.now() + retryMs;
      const left = () => Math.max(0, Math.ceil((due - performance.now()) / 1000));
      // Only the reason is announced; a count of seconds would be read out each second.
      tell(`Reconnecting: ${reason}`);
      const show = () => say('connection-count', `in ${left()} s`);
      show();
      countdown = setInterval(show, 250);
    }
  }
});

function tell(sentence) {
  say('connection-text', sentence);
  say('connection-count', '');
}

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
