import { html } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { dollars, duration } from '../lib/format.js';
import { badge, empty } from '../components/parts.js';
import '../components/table.js';

/** The markets and their terms. */
class Pools extends Page {
  /** @override */
  get heading() {
    return 'Pools';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    return call('listPools', { query: { limit: 500 }, signal });
  }

  /** @override */
  view(/** @type {any} */ { pools }) {
    return html`<bourse-table caption="Pools" ?search=${pools.length > 8} .rows=${pools} .columns=${COLUMNS}
      .key=${(/** @type {any} */ pool) => `pool-${pool.name}`}
      .empty=${empty('No pool yet', html`A pool is made with its machines: <code>bourse admin pools create</code>.`)}></bourse-table>`;
  }
}

/** @type {import('../components/table.js').Column[]} */
const COLUMNS = [
  { title: 'Pool', value: (pool) => pool.name, cell: (pool) => html`<a href=${`/operator/pools/${pool.name}`}>${pool.name}</a>` },
  { title: 'Site', value: (pool) => pool.site, cell: (pool) => pool.site },
  { title: 'GPUs', value: (pool) => pool.gpu_model, cell: (pool) => `${pool.gpus_per_node} × ${pool.gpu_vendor} ${pool.gpu_model ?? ''}` },
  { title: 'Reserve price', numeric: true, value: (pool) => pool.reserve_price_per_gpu_hour, cell: (pool) => dollars(pool.reserve_price_per_gpu_hour) },
  { title: 'Highest price', numeric: true, value: (pool) => pool.max_price_cap_per_gpu_hour, cell: (pool) => dollars(pool.max_price_cap_per_gpu_hour) },
  { title: 'Notice', numeric: true, value: (pool) => pool.notice_ms, cell: (pool) => (pool.notice_ms === null ? html`<span class="faint">as the service</span>` : duration(pool.notice_ms)) },
  { title: 'Market', value: (pool) => String(pool.paused), cell: (pool) => (pool.paused ? html`${badge('paused', 'bad')} ${pool.pause_reason}` : badge('goes on', 'good')) },
  { title: 'Self-service', value: (pool) => String(pool.self_service), cell: (pool) => (pool.self_service ? badge('open', 'good') : badge('closed')) },
];

customElements.define('bourse-pools', Pools);
export default Pools;
