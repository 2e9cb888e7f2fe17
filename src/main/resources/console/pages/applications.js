import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { count } from '../lib/format.js';
import { at, empty } from '../components/parts.js';
import { confirm } from '../components/dialog.js';
import { toast } from '../components/toast.js';
import '../components/table.js';

/** The applications that act for the member. */
class Applications extends Page {
  /** @override */
  get heading() {
    return 'Applications';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    return (await call('listApplications', { signal })).applications;
  }

  /** @override */
  headActions() {
    return this.data?.length > 0
      ? html`<button type="button" class="danger" @click=${() => this.disconnectAll()}>Disconnect all</button>`
      : nothing;
  }

  /** @override */
  view(/** @type {any[]} */ applications) {
    return html`<section class="sheet" aria-label="Applications">
      <p class="muted">You allowed these to act for you. Each may do what stands beside it, in your name, until you take it back.</p>
      <bourse-table caption="Applications" .rows=${applications} .key=${(/** @type {any} */ row) => row.application_id}
        .columns=${this.columns()}
        .empty=${empty('No application acts for you', html`One asks for your permission when you connect it, such as the command line with <code>bourse login</code>.`)}></bourse-table>
    </section>`;
  }

  /** @returns {import('../components/table.js').Column[]} */
  columns() {
    return [
      { title: 'Application', value: (row) => row.name, cell: (row) => html`<strong>${row.name}</strong>` },
      { title: 'May', cell: (row) => html`<span title=${row.scopes.join(' ')}>${row.may}</span>` },
      { title: 'Limits', cell: (row) => html`<a href="/account#applications">${limited(row.limits)}</a>` },
      { title: 'Allowed', value: (row) => row.created_at, cell: (row) => at(row.created_at) },
      { title: 'Last used', value: (row) => row.last_used_at, cell: (row) => at(row.last_used_at, 'ago') },
      { title: 'Ends unless used', value: (row) => row.expires_at, cell: (row) => at(row.expires_at, 'ago') },
      {
        title: 'Actions',
        isAction: true,
        cell: (row) => html`<button type="button" class="quiet tiny" aria-label=${`Disconnect ${row.name}`} @click=${() => this.disconnect(row)}>Disconnect</button>`,
      },
    ];
  }

  /** @param {any} application */
  async disconnect(application) {
    const done = await confirm({
      title: `Disconnect ${application.name}?`,
      text: html`<p>It is refused at once. To use it again you have to allow it again.</p>`,
      action: 'Disconnect',
      danger: true,
      work: () => call('disconnectOneApplication', { path: { application_id: application.application_id } }),
    });
    if (done) {
      toast(`${application.name} acts for you no more.`);
      this.refresh();
    }
  }

  async disconnectAll() {
    const done = await confirm({
      title: `Disconnect ${count(this.data.length, 'application')}?`,
      text: html`<p>${this.data.map((/** @type {any} */ one) => one.name).join(', ')}: all are refused at once, and so are your publishing credentials and commands you signed in with. Browsers stay signed in.</p>`,
      action: 'Disconnect all',
      danger: true,
      work: () => call('disconnectApplications'),
    });
    if (done) {
      toast('No application acts for you any more.');
      this.refresh();
    }
  }
}

/** How far its declarations may go, on one line. @param {Record<string, any> | null} limits */
function limited(limits) {
  return Object.entries(limits ?? {})
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ') || 'none';
}

customElements.define('bourse-applications', Applications);
export default Applications;
