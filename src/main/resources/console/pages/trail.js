import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { address, call } from '../lib/client.js';
import { count } from '../lib/format.js';
import { setQuery } from '../lib/router.js';
import { at, empty } from '../components/parts.js';
import { Form, field } from '../components/form.js';
import '../components/table.js';

/** The most the interface answers at once. */
const PAGE = 500;

/** Entries that are read on for one look at a filter that matches few, so that it ends within seconds. */
const LOOKED_THROUGH = 5000;

/** Matches that are enough for now. */
const ENOUGH = 200;

/** Typing pauses so long before the list follows. */
const TYPING_MILLIS = 250;

const FILTERS = ['actor', 'action', 'subject', 'since', 'until'];

/** Who did what in the organization. What is filtered is what was read of the trail, and the page says how far that goes. */
class Trail extends Page {
  constructor() {
    super();
    this.form = new Form(this, this.asked());
    /** @type {{of: string, entries: any[], more: boolean}} what was read so far */
    this.read = { of: '', entries: [], more: true };
    this.busy = false;
  }

  asked() {
    return {
      ...Object.fromEntries(FILTERS.map((name) => [name, this.query.get(name) ?? ''])),
      reads: this.query.get('reads') === '1',
    };
  }

  /** The token whose trail it is; '' for the organization's. */
  get token() {
    return this.query.get('token') ?? '';
  }

  /** @override */
  get heading() {
    return this.token ? `Trail of token ${this.token}` : 'Trail';
  }

  /** @override */
  headActions() {
    const query = { reads: this.form.values.reads ? 1 : 0 };
    return this.token
      ? html`<a href="/console/trail">The organization’s trail</a>`
      : html`<div class="actions"><a class="button quiet small" id="trail-stream" href="/console/trail/stream">Stream</a>
        <a class="button quiet small" id="export-csv" download="trail.csv" href=${address('exportOrgActivityCsv', { query })}>Export CSV</a>
        <a class="button quiet small" id="export-ndjson" download="trail.ndjson" href=${address('exportOrgActivityNdjson', { query })}>Export NDJSON</a></div>`;
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    this.form.values = this.asked();
    const of = `${this.token} ${this.form.values.reads}`;
    if (this.read.of !== of) {
      this.read = { of, entries: [], more: true };
    }
    await this.readOn(ENOUGH, signal);
    return { ...this.read };
  }

  /**
   * Reads on until so many entries match, the trail ends, or it was enough to look through.
   * @param {number} wanted
   * @param {AbortSignal} [signal]
   */
  async readOn(wanted, signal) {
    const from = this.read.entries.length;
    const { read } = this;
    while (read.more && this.matching(read.entries).length < wanted && read.entries.length - from < LOOKED_THROUGH && !this.isPast(read.entries)) {
      const query = { limit: PAGE, before: read.entries.at(-1)?.id, reads: this.form.values.reads ? 1 : 0 };
      const page = this.token
        ? await call('listTokenActivity', { path: { token_id: this.token }, query, signal })
        : await call('listOrgActivity', { query, signal });
      read.entries = [...read.entries, ...page.entries];
      read.more = page.more;
    }
  }

  /** Whether what follows is all before the time that is asked for. @param {any[]} entries */
  isPast(entries) {
    const { since } = this.form.values;
    return Boolean(since) && entries.length > 0 && Date.parse(entries[entries.length - 1].ts) < Date.parse(`${since}T00:00:00`);
  }

  /** @param {any[]} entries */
  matching(entries) {
    const { actor, action, subject, since, until } = this.form.values;
    const first = since ? Date.parse(`${since}T00:00:00`) : -Infinity;
    const last = until ? Date.parse(`${until}T23:59:59.999`) : Infinity;
    return entries.filter(
      (entry) =>
        entry.actor.includes(actor.trim()) &&
        entry.action.includes(action.trim()) &&
        entry.subject.includes(subject.trim()) &&
        Date.parse(entry.ts) >= first &&
        Date.parse(entry.ts) <= last,
    );
  }

  async more() {
    this.busy = true;
    this.requestUpdate();
    try {
      await this.readOn(this.matching(this.read.entries).length + ENOUGH);
      this.data = { ...this.read };
    } catch (failure) {
      this.failure = /** @type {Error} */ (failure);
    } finally {
      this.busy = false;
      this.requestUpdate();
    }
  }

  /** @override */
  view(/** @type {any} */ { entries, more }) {
    const rows = this.matching(entries);
    const isFiltered = FILTERS.some((name) => this.form.values[name]);
    const goesOn = more && !this.isPast(entries);
    return html`
      <form class="filters" role="search" aria-label="Filters of the trail" @submit=${(/** @type {Event} */ e) => e.preventDefault()}>
        ${this.filter('actor', 'Actor', 'member:alice')}
        ${this.filter('action', 'Action', 'vm_capacity_put')}
        ${this.filter('subject', 'Cluster or other subject', 'acme-train')}
        ${this.filter('since', 'From', '', 'date')}
        ${this.filter('until', 'To', '', 'date')}
        ${field(this.form, { name: 'reads', label: 'Show reads', type: 'checkbox', changed: (on) => setQuery({ reads: on ? 1 : '' }) })}
        ${isFiltered ? html`<button type="button" class="quiet small" @click=${() => this.clear()}>Clear</button>` : nothing}
      </form>
      <p class="muted small" role="status">${isFiltered
        ? html`${count(rows.length, 'match', 'matches')} among the newest ${count(entries.length, 'entry', 'entries')}${goesOn && entries.length > 0 ? html`, back to ${at(entries[entries.length - 1].ts)}` : ''}.`
        : html`The newest ${count(entries.length, 'entry', 'entries')}${goesOn ? '' : '; there are no more'}.`}</p>
      <bourse-table caption="Trail" .rows=${rows} .columns=${COLUMNS} .key=${(/** @type {any} */ row) => `entry-${row.id}`}
        ?more=${goesOn} ?busy=${this.busy} @more=${() => this.more()}
        .empty=${isFiltered
          ? empty('Nothing matches', 'No entry matches all of these filters.', html`<button type="button" class="quiet" @click=${() => this.clear()}>Clear the filters</button>`)
          : empty('Nothing has happened yet', 'Every change that is made here is recorded, with who made it.')}></bourse-table>`;
  }

  /**
   * @param {string} name
   * @param {string} label
   * @param {string} placeholder
   * @param {'text' | 'date'} [type]
   */
  filter(name, label, placeholder, type = 'text') {
    return field(this.form, {
      name,
      label,
      type,
      placeholder,
      // None of them is needed, and five times "optional" says nothing.
      required: true,
      changed: (value) => {
        clearTimeout(this.typing);
        this.typing = setTimeout(() => setQuery({ [name]: value }), TYPING_MILLIS);
      },
    });
  }

  clear() {
    setQuery(Object.fromEntries(FILTERS.map((name) => [name, ''])));
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.typing);
  }
}

/** @type {import('../components/table.js').Column[]} */
const COLUMNS = [
  { title: 'Time', cell: (row) => html`<span class="nowrap">${at(row.ts)}</span>` },
  { title: 'Actor', cell: (row) => html`<span class="mono nowrap">${row.actor}</span>` },
  { title: 'Action', cell: (row) => html`<span class="mono nowrap">${row.action}</span>` },
  { title: 'Subject', cell: (row) => html`<span class="nowrap">${row.subject}</span>` },
  { title: 'Detail', cell: (row) => html`<span class="small">${row.detail}</span>` },
];

customElements.define('bourse-trail', Trail);
export default Trail;
