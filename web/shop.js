// The barbershop, as its guests see it on their phones. Each panel follows topics of its own.
import { Activity } from '/activity.js';
import { DJPanel } from '/dj.js';
import { Leaderboard } from '/leaderboard.js';
import { Notices } from '/notices.js';
import { Presence } from '/presence.js';
import { QueuePanel } from '/queue.js';

const shopId = 'demo';
const challengeId = 'demo';

/** Begins to show the shop. */
export function startShop(client, guest, own) {
  const activity = new Activity();
  new QueuePanel(client, shopId, activity);
  const dj = new DJPanel(client, shopId, activity);
  const leaderboard = new Leaderboard(client, challengeId, activity);
  const presence = new Presence(client, shopId);
  const notices = new Notices(client, shopId, { activity, leaderboard, presence, own });
  guest.follow((userId) => {
    dj.identify(userId);
    leaderboard.identify(userId);
    notices.begin();
    presence.identify(userId);
  });
}
