import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { address, call } from '../lib/client.js';
import { setQuery } from '../lib/router.js';
import { at, badge, empty } from '../components/parts.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import '../components/table.js';

/** Who did what: in the platform's own trail, or in an organization's. And proof that it is as it was written. */
class OperatorTrail extends Page {
  static properties = { ...Page.properties, proof: { state: true } };

  constructor() {
    super();
    this.form = new Form(this, { org: this.query.get('org') ?? '', reads: this.query.get('reads') === '1' });
    /** @type {any} what the seals say */
    this.proof = null;
  }

  /** @override */
  get heading() {
    return 'Trail';
  }

  get asked() {
    return { org: this.query.get('org') ?? '', reads: this.query.get('reads') === '1' ? '1' : '0' };
  }

  /** @override */
  headActions() {
    return html`<div class="actions">
      <a class="button quiet small" id="export-csv" download="trail.csv" href=${address('exportPlatformActivityCsv', { query: this.asked })}>Export CSV</a>
      <a class="button quiet small" id="export-ndjson" download="trail.ndjson" href=${address('exportPlatformActivityNdjson', { query: this.asked })}>Export NDJSON</a></div>`;
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    this.proof = null;
    return call('listPlatformActivity', { query: { ...this.asked, limit: 200 }, signal });
  }

  more() {
    return this.showMore(async ({ entries }) => {
      const page = await call('listPlatformActivity', { query: { ...this.asked, limit: 500, before: entries[entries.length - 1].id } });
      return { ...page, entries: [...entries, ...page.entries] };
    });
  }

  /** @override */
  view(/** @type {any} */ { org, entries, more }) {
    return html`
      <form class="filters" @submit=${onSubmit(() => this.filter())}>
        ${field(this.form, { name: 'org', label: 'Organization', hint: 'Empty for the platform’s own trail.' })}
        ${field(this.form, { name: 'reads', label: 'Show recorded reads', type: 'checkbox' })}
        ${formFault(this.form)}${submitButton(this.form, 'Show')}
      </form>
      <section class="sheet" aria-labelledby="seals"><div class="sheet-head"><h2 id="seals">Seals</h2>
        <button type="button" class="quiet small" id="verify-seals" @click=${() => this.verify(org)}>Verify</button></div>
        ${this.proof ? this.verdict(this.proof) : html`<p class="muted">Every entry is sealed with those before it, so that a change of the past shows.</p>`}
      </section>
      <bourse-table caption=${`Trail of ${org}`} search ?more=${more} @more=${() => this.more()} .rows=${entries}
        .key=${(/** @type {any} */ row) => `entry-${row.id}`} .columns=${COLUMNS}
        .empty=${empty('Nothing was done here yet', 'Every change is recorded with who made it.')}></bourse-table>`;
  }

  filter() {
    setQuery({ org: this.form.values.org.trim(), reads: this.form.values.reads ? '1' : '' });
  }

  /** Reads the seals from the first to the last. @param {string} org */
  async verify(org) {
    let after = 0;
    let rows = 0;
    for (;;) {
      const page = await call('verifySeals', { path: { org }, query: after ? { after_batch: after } : {} });
      rows += page.rows;
      if (page.fault || page.next === null) {
        this.proof = { ...page, rows };
        return;
      }
      after = page.next;
    }
  }

  /** @param {any} proof */
  verdict(proof) {
    return proof.fault
      ? html`<p class="notice bad" role="alert">Batch ${proof.fault.batch}${proof.fault.row_id === null ? '' : `, entry ${proof.fault.row_id}`}: ${proof.fault.what}. ${proof.fault.detail}</p>`
      : html`<p role="status">${badge('whole', 'good')} ${proof.rows} entries are as they were written, through entry ${proof.sealed_through}${proof.head ? html`, sealed ${at(proof.head.sealed_at)}` : nothing}.</p>`;
  }
}

/** @type {import('../components/table.js').Column[]} */
const COLUMNS = [
  { title: 'When', value: (row) => row.ts, cell: (row) => at(row.ts) },
  { title: 'Who', value: (row) => row.actor, cell: (row) => row.actor },
  { title: 'Did', value: (row) => row.action, cell: (row) => html`<span class="mono">${row.action}</span>` },
  { title: 'To', value: (row) => row.subject, cell: (row) => row.subject },
  { title: 'Detail', value: (row) => row.detail, cell: (row) => html`<span class="small">${row.detail}</span>` },
];

customElements.define('bourse-operator-trail', OperatorTrail);
export default OperatorTrail;
