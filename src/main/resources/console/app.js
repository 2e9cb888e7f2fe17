/**
 * The frame of the console: navigation, who is signed in, the page that the address names. Members' pages are under
 * `/console/`, operators' under `/operator/`; the frame is the same, who may enter is not.
 */
import { html, nothing } from 'lit';
import { CallError, call, forgetRequests, onSignedOut, operationAt, useCsrf } from './lib/client.js';
import { here, match, navigate, onNavigate, startRouting } from './lib/router.js';
import { Element as Component, fault } from './components/parts.js';
import { memberPages, operatorPages } from './pages.js';
// Most pages need these, so they are part of the first script.
import './lib/page.js';
import './components/copy.js';
import './components/dialog.js';
import './components/table.js';

/** @typedef {import('./pages.js').Entry} Entry */

const isOperators = location.pathname.split('/')[1] === 'operator';
const pages = isOperators ? operatorPages : memberPages;
const home = isOperators ? '/operator/' : '/console/';
const sessionPath = isOperators ? '/api/operator/session' : '/api/console/session';

/** Tabs of one browser tell each other that somebody signed in. */
const signIns = new BroadcastChannel('bourse-sign-in');

class App extends Component {
  static properties = {
    session: { state: true },
    failure: { state: true },
    isOutside: { state: true },
    entry: { state: true },
    page: { state: true },
    drawer: { state: true },
    menu: { state: true },
  };

  constructor() {
    super();
    /** @type {any} who is signed in */
    this.session = undefined;
    /** @type {Error | null} */
    this.failure = null;
    /** An operator who is not signed in. */
    this.isOutside = false;
    /** @type {Entry | undefined} */
    this.entry = undefined;
    /** @type {import('./lib/page.js').Page<any> | null} */
    this.page = null;
    /** Whether the page's requests are shown. */
    this.drawer = false;
    /** Whether the navigation is open, on a phone. */
    this.menu = false;
    /** @type {Promise<void> | null} */
    this.asking = null;
  }

  connectedCallback() {
    super.connectedCallback();
    startRouting();
    onNavigate(() => this.show());
    onSignedOut(() => (this.asking ??= this.signInAgain().finally(() => (this.asking = null))));
    // The server says what is wrong, in its words and at the field; the browser would keep a form from it.
    document.addEventListener('focusin', (event) => {
      const form = event.target instanceof Element ? event.target.closest('form') : null;
      if (form) {
        form.noValidate = true;
      }
    });
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') {
        this.menu = false;
      }
    });
    this.enter();
  }

  /** Learns who is signed in, then shows the page. */
  async enter() {
    try {
      this.session = await this.readSession();
      this.isOutside = false;
      this.failure = null;
      signIns.postMessage('signed in');
      this.show();
    } catch (failure) {
      if (failure instanceof CallError && failure.status === 401) {
        this.outside();
      } else {
        this.failure = /** @type {Error} */ (failure);
      }
    }
  }

  async readSession() {
    const session = await call(operationAt('GET', sessionPath), { quiet: true, atSignIn: true });
    useCsrf(session.csrf);
    return session;
  }

  outside() {
    if (!isOperators) {
      location.assign(`/sign-in?return_to=${encodeURIComponent(location.pathname + location.search)}`);
      return;
    }
    this.isOutside = true;
    import('./components/operator-sign-in.js');
  }

  /** The session ended under an open page: asks to sign in again, keeps the page as it is, then goes on. */
  async signInAgain() {
    const { askToSignIn } = await import('./components/sign-in-again.js');
    const before = this.session;
    const session = await askToSignIn(isOperators, signIns, () => this.readSession());
    if (before && (session.username !== before.username || session.org_id !== before.org_id || session.name !== before.name)) {
      location.reload();
    }
    this.session = session;
    if (this.page) {
      this.page.session = session;
    }
  }

  /** Shows the page that the address names. */
  async show() {
    const { path } = here();
    const wanted = pages.find((page) => match(page.path, path));
    const params = wanted ? (match(wanted.path, path) ?? {}) : {};
    this.menu = false;
    const first = this.ownPages()[0];
    if (path.replace(/\/$/, '') === home.slice(0, -1) && first && wanted !== first) {
      navigate(first.path, { replace: true });
      return;
    }
    if (!wanted) {
      this.entry = undefined;
      this.page = null;
      this.settle('Not found');
      return;
    }
    if (this.page && this.entry === wanted && JSON.stringify(this.page.params) === JSON.stringify(params)) {
      this.page.refresh();
      return;
    }
    const isFirst = !this.entry && !this.page;
    this.entry = wanted;
    try {
      const { default: Made } = await wanted.load();
      if (this.entry !== wanted || here().path !== path) {
        return;
      }
      forgetRequests();
      const page = new Made();
      page.params = params;
      page.session = this.session;
      page.parent = this.ownPages().find((one) => one.path === wanted.under) ?? null;
      this.page = page;
      this.failure = null;
      this.settle(page.heading || wanted.title, isFirst);
    } catch {
      this.page = null;
      this.failure = new Error('This page cannot be loaded. The service may have been updated, or cannot be reached: reload the page.');
    }
  }

  /**
   * Tells the window and readers of the screen where they are.
   * @param {string} title
   * @param {boolean} [isFirst] the browser has told already
   */
  async settle(title, isFirst = false) {
    document.title = `${title} · Bourse`;
    await this.updateComplete;
    await this.page?.updateComplete;
    if (!isFirst) {
      scrollTo(0, 0);
      /** @type {HTMLElement | null} */ (this.querySelector('main h1'))?.focus({ preventScroll: true });
    }
  }

  /** @override */
  render() {
    if (this.isOutside) {
      return html`<main id="main" class="alone"><bourse-operator-sign-in @signed-in=${() => this.enter()}></bourse-operator-sign-in></main>
        <div id="toasts" role="status" aria-live="polite"></div>`;
    }
    return html`
      <a class="skip" href="#main">To the content</a>
      ${this.bar()}
      <div class="frame">
        <nav class="side ${this.menu ? 'open' : ''}" id="navigation" aria-label="Console">${this.navigation()}</nav>
        <main id="main" tabindex="-1">
          ${this.failure ? fault(this.failure, () => (this.session ? location.reload() : this.enter())) : this.content()}
        </main>
      </div>
      ${this.drawer ? html`<aside class="drawer" id="requests" aria-label="Requests of this page">
        <button type="button" class="quiet tiny close" @click=${() => (this.drawer = false)}>Close</button>
        <bourse-requests></bourse-requests></aside>` : nothing}
      <div id="toasts" role="status" aria-live="polite"></div>`;
  }

  bar() {
    return html`<header class="bar">
      <button type="button" class="quiet menu-button" aria-expanded=${this.menu ? 'true' : 'false'} aria-controls="navigation"
        @click=${() => (this.menu = !this.menu)}>Menu</button>
      <a class="brand" href=${home}><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M3 13h4v8H3zM10 3h4v18h-4zM17 8h4v13h-4z"/></svg>Bourse</a>
      <span class="org" id="organization">${this.session?.org_display ?? (this.session?.site ? `Operators of ${this.session.site}` : isOperators ? 'Operators' : '')}</span>
      <span class="gap"></span>
      <button type="button" class="quiet small" id="show-requests" aria-expanded=${this.drawer ? 'true' : 'false'} @click=${this.toggleDrawer}>As curl</button>
      ${this.session ? this.account() : html`<span class="account-waiting"></span>`}
    </header>`;
  }

  async toggleDrawer() {
    await import('./components/requests.js');
    this.drawer = !this.drawer;
  }

  account() {
    const { session } = this;
    const name = session.name || session.username || 'Account';
    return html`<details class="account" id="account-menu" @focusout=${leave}>
      <summary aria-label=${`Account of ${name}`}><span class="initial" data-initial=${name.slice(0, 1).toUpperCase()}></span><span class="who">${name}</span></summary>
      <div class="menu-sheet">
        <p><b>${name}</b>${session.email ? html`<br><span class="muted small">${session.email}</span>` : nothing}</p>
        ${isOperators || !pages.some((page) => page.path === '/console/account') ? nothing : html`<a href="/console/account">Account and sessions</a>
          <a href="/console/roadmap">Roadmap</a>`}
        <a href="/docs" target="_blank">Documentation</a>
        ${isOperators
          ? html`<button type="button" class="quiet" id="sign-out" @click=${this.endOperatorSession}>Sign out</button>`
          : html`<form method="post" action="/sign-out"><input type="hidden" name="csrf" value=${session.csrf}>
              <button type="submit" class="quiet" id="sign-out">Sign out</button></form>`}
      </div>
    </details>`;
  }

  async endOperatorSession() {
    await call(operationAt('DELETE', sessionPath), { quiet: true });
    location.assign('/operator/');
  }

  /** The pages in the navigation of the signed-in reader. The address of any other page shows a refusal. */
  ownPages() {
    return this.session?.site ? pages.filter((page) => page.isOfSite) : pages;
  }

  navigation() {
    /** @type {Map<string, Entry[]>} */
    const groups = new Map();
    for (const page of this.ownPages()) {
      if (page.group) {
        groups.set(page.group, [...(groups.get(page.group) ?? []), page]);
      }
    }
    const current = this.entry?.under ?? this.entry?.path;
    return [...groups].map(
      ([group, entries]) => html`<h2>${group}</h2><ul>${entries.map(
        (page) => html`<li><a href=${page.path} aria-current=${page.path === current ? 'page' : nothing}>${page.title}</a></li>`,
      )}</ul>`,
    );
  }

  content() {
    if (this.page) {
      return this.page;
    }
    if (this.session && !this.entry) {
      return html`<header class="page-head"><h1 tabindex="-1">There is nothing here</h1></header>
        <p>No page of the console has the address <code>${here().path}</code>. <a href=${home}>Go to the start</a></p>`;
    }
    return html`<div class="skeleton" aria-hidden="true"><i></i><i></i><i></i><i></i></div>`;
  }
}

/** A menu closes when the focus leaves it. @param {FocusEvent} event */
function leave(event) {
  const menu = /** @type {HTMLDetailsElement} */ (event.currentTarget);
  if (event.relatedTarget instanceof Node && !menu.contains(event.relatedTarget)) {
    menu.open = false;
  }
}

/** A key that is held down repeats: it sends a form once, and does not answer the question that follows. */
addEventListener(
  'keydown',
  (event) => {
    if (event.key === 'Enter' && event.repeat && !(event.target instanceof HTMLTextAreaElement)) {
      event.preventDefault();
    }
  },
  { capture: true },
);

document.querySelector('bourse-app')?.replaceChildren();
customElements.define('bourse-app', App);
