import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { count, dollars, whole } from '../lib/format.js';
import { setQuery } from '../lib/router.js';
import { badge, empty, figure, tabs } from '../components/parts.js';
import '../components/table.js';
import '../components/chart.js';
import '../components/depth.js';
import '../components/quote.js';

const SPANS = [
  { hours: '0.5', text: '30 min' },
  { hours: '24', text: 'Day' },
  { hours: '168', text: 'Week' },
  { hours: '720', text: 'Month' },
  { hours: '8760', text: 'Year' },
];

/** A tick's prices are there a moment after it. */
const AFTER_TICK_MILLIS = 500;

/** What every pool costs and who wants it: as of the last tick, and before. */
class Market extends Page {
  /** @override */
  get heading() {
    return 'Market';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const feed = await call('readMarketFeed', { signal });
    const pool = this.query.get('pool') ?? feed.pools[0]?.pool;
    const hours = this.query.get('hours') ?? '24';
    if (!pool) {
      return { feed, pool, hours, depth: null, history: null };
    }
    const [depth, history] = await Promise.all([
      call('readMarketDepth', { query: { pool }, signal }),
      call('readMarketHistory', { query: { pool, hours }, signal }),
    ]);
    this.afterTick(feed, pool);
    return { feed, pool, hours, depth, history };
  }

  /** The next tick changes what is shown, and nothing does before. @param {any} feed @param {string} pool */
  afterTick(feed, pool) {
    clearTimeout(this.timer);
    const next = Date.parse(feed.pools.find((/** @type {any} */ one) => one.pool === pool)?.next_tick_at ?? '');
    const wait = Number.isNaN(next) ? 10_000 : Math.max(1000, next - Date.now() + AFTER_TICK_MILLIS);
    this.timer = setTimeout(() => {
      if (document.hidden) {
        this.afterTick(feed, pool);
      } else {
        this.refresh();
      }
    }, wait);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

  /** @override */
  view(/** @type {any} */ { feed, pool, hours, depth, history }) {
    if (!pool) {
      return empty('There is no pool yet', 'An operator opens pools of machines; their prices are shown here.');
    }
    const shown = feed.pools.find((/** @type {any} */ one) => one.pool === pool);
    return html`
      <bourse-table caption="Pools" .columns=${COLUMNS} .rows=${feed.pools} .key=${(/** @type {any} */ row) => `pool-${row.pool}`} ?search=${feed.pools.length > 8}></bourse-table>
      ${shown ? this.details(shown, hours, depth, history) : nothing}`;
  }

  /** @param {any} shown @param {string} hours @param {any} depth @param {any} history */
  details(shown, hours, depth, history) {
    return html`<section class="sheet" aria-labelledby="pool-name">
      <div class="sheet-head"><h2 id="pool-name">${shown.pool}</h2>
        <span class="muted small">next tick in <bourse-countdown until=${shown.next_tick_at ?? ''} over="a moment"></bourse-countdown></span></div>
      <dl class="figures-row">
        ${figure('Clearing price', dollars(shown.clearing_price_per_gpu_hour), 'a GPU-hour, what holders pay')}
        ${figure('To be admitted', dollars(shown.admission_price_per_gpu_hour), 'the lowest ceiling that takes a node')}
        ${figure('Reserve', dollars(shown.reserve_price_per_gpu_hour), 'nothing is sold below it')}
        ${figure('Free', whole(shown.free_nodes), `of ${count(shown.usable_nodes, 'node')}`)}
        ${figure('Wanted', whole(shown.demand_nodes), 'nodes, held ones among them')}
      </dl>
      ${tabs('Span of the chart', SPANS.map((span) => ({
        href: `/console/market?pool=${encodeURIComponent(shown.pool)}&hours=${span.hours}`,
        text: span.text,
        current: span.hours === hours,
      })))}
      <bourse-chart label="Price of a GPU-hour" .start=${history.t0} .step=${history.step} .format=${dollars}
        .series=${[
          { name: 'clearing', values: history.clearing_price, tone: 'first' },
          { name: 'admission', values: history.admission_price, tone: 'second', stepped: true },
        ]}></bourse-chart>
    </section>
    <bourse-quote .pool=${shown}></bourse-quote>
    <section class="sheet" aria-labelledby="depth">
      <h2 id="depth">Demand by price</h2>
      <p class="muted small">How many nodes are wanted at a price or above, all bidders together, in steps of 5 %.</p>
      ${depth.levels.length === 0
        ? empty('Nobody bids here now', `A node can be had at the reserve price, ${dollars(shown.reserve_price_per_gpu_hour)} a GPU-hour.`)
        : html`<bourse-depth label="Demand by price" .depth=${depth} .clearing=${shown.clearing_price_per_gpu_hour}></bourse-depth>
          <details class="chart-table"><summary>As a table</summary>
            <bourse-table caption="Demand by price" .columns=${DEPTH_COLUMNS} .rows=${depth.levels}></bourse-table>
          </details>`}
    </section>`;
  }
}

/** @type {import('../components/table.js').Column[]} */
const COLUMNS = [
  {
    title: 'Pool',
    value: (row) => row.pool,
    cell: (row) => html`<a href=${`/console/market?pool=${encodeURIComponent(row.pool)}`}
      @click=${(/** @type {Event} */ e) => { e.preventDefault(); setQuery({ pool: row.pool }); }}>${row.pool}</a>`,
  },
  { title: 'GPU', value: (row) => row.gpu_model, cell: (row) => `${row.gpus_per_node} × ${row.gpu_vendor} ${row.gpu_model ?? ''}` },
  { title: 'Site', value: (row) => row.site, cell: (row) => row.site },
  { title: 'Clearing', unit: 'a GPU-hour', numeric: true, value: (row) => row.clearing_price_per_gpu_hour, cell: (row) => dollars(row.clearing_price_per_gpu_hour) },
  { title: 'Admission', unit: 'a GPU-hour', numeric: true, value: (row) => row.admission_price_per_gpu_hour, cell: (row) => dollars(row.admission_price_per_gpu_hour) },
  {
    title: 'Free',
    unit: 'nodes',
    numeric: true,
    value: (row) => row.free_nodes,
    cell: (row) => (row.free_nodes > 0 ? badge(whole(row.free_nodes), 'good') : badge('none', 'warn')),
  },
  { title: 'All', unit: 'nodes', numeric: true, value: (row) => row.usable_nodes, cell: (row) => whole(row.usable_nodes) },
];

/** @type {import('../components/table.js').Column[]} */
const DEPTH_COLUMNS = [
  { title: 'Price of a GPU-hour', numeric: true, cell: (row) => dollars(row.price_per_gpu_hour) },
  { title: 'Nodes wanted', numeric: true, cell: (row) => whole(row.nodes) },
];

customElements.define('bourse-market', Market);
export default Market;
