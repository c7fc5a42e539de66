// The page at `/`: a shop as its guests see it on their phones. Each panel follows topics of its own.
import { Activity } from '/activity.js';
import { Client } from '/client.js';
import { DJPanel } from '/dj.js';
import { element, say } from '/dom.js';
import { Guest } from '/guest.js';
import { Leaderboard } from '/leaderboard.js';
import { Notices } from '/notices.js';
import { QueuePanel } from '/queue.js';

const shopId = 'demo';
const challengeId = 'demo';

const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
const client = new Client(`${scheme}//${location.host}/ws`);

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

const activity = new Activity();

client.addEventListener('trouble', ({ detail: { code, message } }) => activity.add('gap', `${message} (${code})`));

new QueuePanel(client, shopId, activity);
const dj = new DJPanel(client, shopId, activity);
const leaderboard = new Leaderboard(client, challengeId, activity);
const guest = new Guest(client, shopId, (userId) => {
  dj.identify(userId);
  leaderboard.identify(userId);
  notices.identify(userId);
});
const notices = new Notices(client, shopId, { activity, leaderboard, guest });
guest.start();
