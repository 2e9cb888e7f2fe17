import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { count } from '../lib/format.js';
import { at, badge } from '../components/parts.js';
import { confirm } from '../components/dialog.js';
import { toast } from '../components/toast.js';
import { credentialSection } from '../components/credentials.js';
import '../components/mails.js';
import '../components/table.js';

/** Who is signed in, and in which browsers. */
class Account extends Page {
  /** @override */
  get heading() {
    return 'Account';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const [{ sessions }, { applications }, { credentials }, mails] = await Promise.all([
      call('listSessions', { signal }),
      call('listApplications', { signal }),
      call('listPublishingCredentials', { signal }),
      call('readMailChoices', { signal }),
    ]);
    return { sessions, applications, credentials, mails };
  }

  /** @override */
  view(/** @type {any} */ { sessions, applications, credentials, mails }) {
    const me = this.session;
    return html`<section class="sheet" aria-labelledby="who">
        <h2 id="who">You</h2>
        <dl>
          <dt>Name</dt><dd>${me.name || me.username}</dd>
          <dt>Username</dt><dd class="mono">${me.username}</dd>
          <dt>E-mail</dt><dd>${me.email}</dd>
          <dt>Organization</dt><dd>${me.org_display} <span class="faint mono">${me.org_id}</span></dd>
          <dt>Applications</dt><dd><a href="/console/applications">${applications.length === 0 ? 'none acts for you' : `${count(applications.length, 'application')} may act for you`}</a></dd>
        </dl>
      </section>
      <section class="sheet" aria-labelledby="browsers">
        <h2 id="browsers">Browsers you are signed in with</h2>
        <bourse-table caption="Browsers" .rows=${sessions} .key=${(/** @type {any} */ row) => `session-${row.session_id.slice(0, 12)}`}
          .columns=${this.columns()}></bourse-table>
        <div class="actions">
          <button type="button" class="quiet" id="sign-out" @click=${() => this.signOut(sessions)}>Sign out</button>
          <button type="button" class="danger" id="sign-out-everywhere" @click=${() => this.everywhere(sessions, applications)}>Sign out everywhere</button>
        </div>
      </section>
      <bourse-mails .choices=${mails}></bourse-mails>
      ${credentialSection(credentials, () => this.refresh())}`;
  }

  /** @returns {import('../components/table.js').Column[]} */
  columns() {
    return [
      {
        title: 'Browser',
        value: (row) => row.browser,
        cell: (row) => html`<span>${row.browser} ${row.current ? badge('this one', 'good') : nothing}</span>`,
      },
      { title: 'Last address', value: (row) => row.address, cell: (row) => (row.address ? html`<span class="mono">${row.address}</span>` : html`<span class="faint">not known</span>`) },
      { title: 'Signed in', value: (row) => row.created_at, cell: (row) => at(row.created_at) },
      { title: 'Last used', value: (row) => row.last_used_at, cell: (row) => at(row.last_used_at, 'ago') },
      { title: 'Ends unless used', value: (row) => row.ends_at, cell: (row) => at(row.ends_at, 'ago') },
      {
        title: 'Actions',
        isAction: true,
        cell: (row) =>
          row.current
            ? nothing
            : html`<button type="button" class="quiet tiny" aria-label=${`Sign out ${row.browser}, ${row.address ?? 'address not known'}`} @click=${() => this.end(row)}>Sign out</button>`,
      },
    ];
  }

  /** @param {any} session */
  async end(session) {
    const done = await confirm({
      title: `Sign out ${session.browser}?`,
      text: html`<p>It was last used ${at(session.last_used_at, 'ago')}${session.address ? html` from <span class="mono">${session.address}</span>` : nothing}. Its browser has to sign in again.</p>`,
      action: 'Sign it out',
      danger: true,
      work: () => call('endSession', { path: { session_id: session.session_id } }),
    });
    if (done) {
      toast('That browser is signed out.');
      this.refresh();
    }
  }

  /** @param {any[]} sessions */
  async signOut(sessions) {
    const current = sessions.find((one) => one.current);
    if (current) {
      await call('endSession', { path: { session_id: current.session_id } });
    }
    location.assign('/sign-out');
  }

  /** @param {any[]} sessions @param {any[]} applications */
  async everywhere(sessions, applications) {
    const done = await confirm({
      title: 'Sign out everywhere?',
      text: html`<p>${count(sessions.length, 'browser')} ${sessions.length === 1 ? 'is' : 'are'} signed out, this one too${applications.length > 0
          ? html`, and ${count(applications.length, 'application')} ${applications.length === 1 ? 'acts' : 'act'} for you no more: ${applications.map((one) => one.name).join(', ')}`
          : nothing}.</p>
        <p>Your publishing credentials end.</p>
        <p>API tokens you minted go on: programs depend on them. Revoke those under <a href="/console/tokens">Tokens</a>.</p>`,
      action: 'Sign out everywhere',
      danger: true,
      work: () => call('endAllSessions'),
    });
    if (done) {
      location.assign('/sign-out');
    }
  }
}

customElements.define('bourse-account', Account);
export default Account;
