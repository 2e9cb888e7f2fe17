/**
 * Addresses of the console. Every state that is worth sharing is in the address: the path names the page and its
 * subject, the query its filters.
 */

/** @typedef {{path: string, query: URLSearchParams}} Place */

const changes = new EventTarget();

/** @returns {Place} where the browser is */
export function here() {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

/**
 * Goes to an address of the console.
 * @param {string} address path and query
 * @param {{replace?: boolean}} [how] `replace` leaves no step to go back to
 */
export function navigate(address, { replace = false } = {}) {
  if (address === location.pathname + location.search && !location.hash) {
    return;
  }
  history[replace ? 'replaceState' : 'pushState']({}, '', address);
  changes.dispatchEvent(new Event('navigate'));
}

/**
 * Changes the query of the present address and leaves no step to go back to.
 * @param {Record<string, string | number | null | undefined>} values null, undefined and '' take a name away
 */
export function setQuery(values) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === '') {
      query.delete(name);
    } else {
      query.set(name, String(value));
    }
  }
  const text = query.toString();
  navigate(location.pathname + (text ? `?${text}` : ''), { replace: true });
}

/**
 * Calls back after every change of the address.
 * @param {() => void} listener
 * @returns {() => void} ends it
 */
export function onNavigate(listener) {
  changes.addEventListener('navigate', listener);
  return () => changes.removeEventListener('navigate', listener);
}

/**
 * Matches a path with a pattern such as `/console/clusters/:cluster`.
 * @param {string} pattern
 * @param {string} path
 * @returns {Record<string, string> | null} the parameters, or null when it does not match
 */
export function match(pattern, path) {
  const wanted = pattern.split('/').filter(Boolean);
  const given = path.split('/').filter(Boolean);
  if (wanted.length !== given.length) {
    return null;
  }
  /** @type {Record<string, string>} */
  const params = {};
  for (let i = 0; i < wanted.length; i++) {
    if (wanted[i].startsWith(':')) {
      try {
        params[wanted[i].slice(1)] = decodeURIComponent(given[i]);
      } catch {
        return null;
      }
    } else if (wanted[i] !== given[i]) {
      return null;
    }
  }
  return params;
}

/** Takes clicks on links of the console, and the browser's steps back and forth. Called once, by the shell. */
export function startRouting() {
  addEventListener('popstate', () => changes.dispatchEvent(new Event('navigate')));
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const leaves = event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey;
    if (!link || leaves || link.target || link.hasAttribute('download') || link.origin !== location.origin) {
      return;
    }
    const root = `/${location.pathname.split('/')[1]}`;
    if (link.pathname !== root && !link.pathname.startsWith(`${root}/`)) {
      return;
    }
    if (link.hash && link.pathname === location.pathname) {
      return;
    }
    event.preventDefault();
    navigate(link.pathname + link.search + link.hash);
  });
}
