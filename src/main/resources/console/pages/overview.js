import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { CallError, call } from '../lib/client.js';
import { count, dollars, roughly, whole } from '../lib/format.js';
import { KINDS } from '../lib/kinds.js';
import { outlookWords } from '../lib/losses.js';
import { why, wishOfListed } from '../lib/why.js';
import { badge, empty, figure, money } from '../components/parts.js';
import '../components/table.js';

/** Some ticks. */
const AGAIN_MILLIS = 30_000;

/** Each outlook is one of the page's requests and a search in the service, so only the clusters with most nodes have one here. */
const MOST_OUTLOOKS = 3;

/** An outlook is read again after this time, or when what it depends on has changed: each read is a row of the trail. */
const OUTLOOK_MILLIS = 60_000;

/**
 * @typedef {object} Look
 * @property {any} outlook what the market will take; null before the first answer
 * @property {string} basis what the outlook depends on and the page knows
 * @property {number} staleAt when it is read again if the basis stays
 * @property {number} refusedUntil when it may be read again if the service refused it
 */

/** What every cluster wants, holds and costs, and why something is pending. */
class Overview extends Page {
  static properties = { ...Page.properties, looks: { state: true } };

  constructor() {
    super();
    /** @type {Record<string, Look>} by cluster */
    this.looks = {};
  }

  /** @override */
  get heading() {
    return 'Overview';
  }

  connectedCallback() {
    super.connectedCallback();
    this.every(AGAIN_MILLIS, () => this.refresh());
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const [clusters, outlook, keys] = await Promise.all([
      listClusters(signal),
      call('readSpendLimit', { signal }),
      call('listSshKeys', { path: { org: this.session.org_id }, signal }),
    ]);
    const rows = clusters.map((cluster) => row(cluster, outlook));
    this.look(rows, signal);
    return { rows, outlook, keys: keys.keys };
  }

  /**
   * Reads the outlooks that are due, one after the other; the page does not wait for them. If the service refuses one, the
   * earlier one stays; its losses are shown until they are reclaimed.
   * @param {any[]} rows
   * @param {AbortSignal} signal
   */
  async look(rows, signal) {
    const seen = foreseen(rows);
    this.looks = Object.fromEntries(seen.flatMap(({ name }) => (this.looks[name] ? [[name, this.looks[name]]] : [])));
    for (const row of seen) {
      const last = this.looks[row.name];
      const basis = basisOf(row);
      const now = Date.now();
      if (last && (now < last.refusedUntil || (now < last.staleAt && last.basis === basis))) {
        continue;
      }
      const look = { basis, staleAt: now + OUTLOOK_MILLIS, refusedUntil: 0 };
      try {
        const outlook = await row.kind.outlook(row.name, { quiet: true, signal });
        this.looks = { ...this.looks, [row.name]: { ...look, outlook } };
      } catch (failure) {
        if (signal.aborted || !(failure instanceof CallError)) {
          return;
        }
        const wait = (failure.answer.retry_after_s ?? 0) * 1000;
        this.looks = { ...this.looks, [row.name]: { ...look, outlook: last?.outlook ?? null, staleAt: 0, refusedUntil: now + wait } };
      }
    }
  }

  /** @override */
  view(/** @type {any} */ { rows, outlook, keys }) {
    return html`
      <dl class="figures-row">
        ${figure('Costs now', money(outlook.rate_micros_per_hour), 'an hour, all clusters')}
        ${figure('This month', money(outlook.month_usage_micros), 'so far')}
        ${figure('At this rate', money(outlook.month_at_this_rate_micros), 'by the end of the month')}
        ${figure('Spend limit', money(outlook.limit_micros), limitNote(outlook))}
      </dl>
      ${rows.length === 0 || keys.length === 0 ? firstSteps(rows, keys) : nothing}
      ${rows.length === 0
        ? nothing
        : html`<bourse-table caption="Clusters" .columns=${COLUMNS} .rows=${rows.map((/** @type {any} */ r) => ({ ...r, outlook: this.looks[r.name]?.outlook }))} .key=${(/** @type {any} */ r) => `cluster-${r.name}`} ?search=${rows.length > 8}></bourse-table>
            ${rows.filter(isAtStake).length > MOST_OUTLOOKS ? html`<p class="muted small">What the market will take is shown for the ${MOST_OUTLOOKS} clusters that hold most nodes; open a cluster for its own.</p>` : nothing}`}`;
  }
}

/** @param {any} outlook */
function limitNote(outlook) {
  if (outlook.limit_micros === null) {
    return html`<a href="/console/billing?tab=limit">none is set</a>`;
  }
  return html`<a href="/console/billing?tab=limit">${outlook.reached ? 'reached' : `${roughly(outlook.remaining_micros)} left`}${outlook.enforced ? '' : ', not acted upon'}</a>`;
}

/** All that are in use; one request for as many as most organizations may have. @param {AbortSignal} signal @returns {Promise<any[]>} */
async function listClusters(signal) {
  /** @type {any[]} */
  const all = [];
  let after;
  do {
    /** @type {any} */
    const page = await call('listConsoleClusters', { query: { state: 'in-use', limit: 500, after }, signal });
    all.push(...page.clusters);
    after = page.next ?? undefined;
  } while (after);
  return all;
}

/**
 * @param {any} cluster
 * @param {any} outlook
 */
function row(cluster, outlook) {
  const kind = KINDS[cluster.kind];
  const wish = wishOfListed(cluster.market);
  const cost = outlook.clusters.find((/** @type {any} */ one) => one.cluster === cluster.name);
  return {
    name: cluster.name,
    description: cluster.description,
    address: kind.address(cluster.name),
    kind,
    held: cluster.held_nodes,
    rate: cost?.rate_micros_per_hour ?? 0,
    wish,
    state: why(wish, outlook),
  };
}

/** Whether a cluster can lose nodes or waits for some. @param {any} row */
function isAtStake(row) {
  return row.held > 0 || row.wish.pending > 0;
}

/** The clusters whose outlook is read. @param {any[]} rows */
function foreseen(rows) {
  return rows.filter(isAtStake).sort((a, b) => b.held - a.held).slice(0, MOST_OUTLOOKS);
}

/** What the outlook of a cluster depends on, as far as the page knows it. @param {any} row */
function basisOf({ held, wish }) {
  return JSON.stringify([held, wish.wanted, wish.ceiling, wish.pending, wish.preparing, wish.hold?.stage, wish.pool.clearing_price_per_gpu_hour]);
}

/** @param {any} row */
function foreseenText(row) {
  const words = row.outlook && outlookWords(row.outlook, row.wish.pending);
  return [words?.losses, words?.pending].filter(Boolean).map((text) => html`<br><span class="small">${text}</span>`);
}

/** @param {any[]} rows @param {any[]} keys */
function firstSteps(rows, keys) {
  return empty(
    rows.length === 0 ? 'Begin with a key and a cluster' : 'Add an ssh key',
    html`${keys.length === 0 ? 'Add an SSH key before you request nodes; it is installed when they start. ' : ''}
      ${rows.length === 0 ? 'A cluster bids for nodes in one pool. It costs nothing until you declare how many GPUs it wants, and up to what price.' : ''}`,
    html`${keys.length === 0 ? html`<a class="button" href="/console/ssh-keys">Add an ssh key</a> ` : nothing}
      ${rows.length === 0 ? html`<a class="button" href="/console/clusters">Make a cluster</a>` : nothing}`,
  );
}

/** @type {import('../components/table.js').Column[]} */
const COLUMNS = [
  {
    title: 'Cluster',
    value: (row) => row.name,
    cell: (row) => html`<div><a href=${row.address}>${row.name}</a> <span class="faint small">${row.kind.isVm ? 'VM' : 'Kubernetes'}</span>
      ${row.description ? html`<br><span class="muted small">${row.description}</span>` : nothing}</div>`,
  },
  { title: 'Wants', numeric: true, value: (row) => row.wish.wanted, cell: (row) => count(row.wish.wanted, 'node') },
  { title: 'Holds', unit: 'nodes', numeric: true, value: (row) => row.held, cell: (row) => whole(row.held) },
  { title: 'Ceiling', unit: 'a GPU-hour', numeric: true, value: (row) => row.wish.ceiling, cell: (row) => dollars(row.wish.ceiling) },
  { title: 'Clears at', unit: 'a GPU-hour', numeric: true, value: (row) => row.wish.pool.clearing_price_per_gpu_hour, cell: (row) => dollars(row.wish.pool.clearing_price_per_gpu_hour) },
  { title: 'Costs', unit: 'an hour', numeric: true, value: (row) => row.rate, cell: (row) => money(row.rate) },
  {
    title: 'State',
    value: (row) => row.state.word,
    cell: (row) => html`<div>${badge(row.state.word, row.state.tone)} <span class="muted small">${row.state.text}</span>${foreseenText(row)}</div>`,
  },
];

customElements.define('bourse-overview', Overview);
export default Overview;
