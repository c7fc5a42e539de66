// The inspector of this gateway, signed in: the demo's server tells its own page a key, which this tab alone keeps.
import { element } from '/dom.js';

export function followInspector() {
  element('open-inspector').addEventListener('click', async (event) => {
    event.preventDefault();
    try {
      const response = await fetch('/demo/inspector', { method: 'POST' });
      if (response.ok) sessionStorage.setItem('inspector-key', (await response.json()).key);
    } catch {
      // The inspector asks for a key by itself.
    }
    location.href = '/inspector';
  });
  // The address that `switchboard dev` prints.
  if (location.hash === '#inspector') {
    history.replaceState(null, '', location.pathname);
    element('open-inspector').click();
  }
}
