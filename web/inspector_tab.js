// The inspector of this gateway as a tab: its page in a frame, signed in by a key that the server tells its own pages.
//
// A message between two pages of this origin takes the key to the frame. It stands in no address, cookie or storage.
import { element, make, say } from '/dom.js';

/** Shows the inspector. */
export function startInspector() {
  const frame = make('iframe', { src: '/inspector', title: 'Inspector' });
  addEventListener('message', async ({ origin, source, data }) => {
    if (origin !== location.origin || source !== frame.contentWindow || data?.inspector !== 'ready') return;
    const key = await fetchKey();
    if (key !== null) source.postMessage({ inspectorKey: key }, location.origin);
  });
  element('app-inspector').append(frame);
}

/** The key; null where the inspector has to ask for one by itself. */
async function fetchKey() {
  let problem;
  try {
    const response = await fetch('/demo/inspector', { method: 'POST', cache: 'no-store' });
    if (response.ok) return (await response.json()).key;
    problem = `the gateway answered ${response.status}`;
  } catch {
    problem = 'the gateway gave no answer';
  }
  say('inspector-problem', `The inspector is not signed in by itself: ${problem}.`);
  return null;
}
