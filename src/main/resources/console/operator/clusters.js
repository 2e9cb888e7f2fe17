import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { dollars } from '../lib/format.js';
import { badge, empty } from '../components/parts.js';
import '../components/table.js';

/** Clusters of every organization. */
class Clusters extends Page {
  /** @override */
  get heading() {
    return 'Clusters';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    return call('listClusters', { query: { limit: 500, org: this.query.get('org'), pool: this.query.get('pool') }, signal });
  }

  more() {
    return this.showMore(async (data) => {
      const page = await call('listClusters', { query: { limit: 500, after: data.next } });
      return { ...page, clusters: [...data.clusters, ...page.clusters] };
    });
  }

  /** @override */
  view(/** @type {any} */ { clusters, more }) {
    return html`<bourse-table caption="Clusters" ?search=${clusters.length > 8} ?more=${more} @more=${() => this.more()} .rows=${clusters}
      .key=${(/** @type {any} */ row) => `cluster-${row.name}`} .columns=${COLUMNS}
      .empty=${empty('No cluster yet', 'Members create clusters in pools that are open to them.')}></bourse-table>`;
  }
}

/** @type {import('../components/table.js').Column[]} */
const COLUMNS = [
  { title: 'Cluster', value: (row) => row.name, cell: (row) => html`<a href=${`/operator/clusters/${row.name}`}>${row.name}</a>` },
  { title: 'Organization', value: (row) => row.org, cell: (row) => html`<a href=${`/operator/organizations/${row.org}`}>${row.org}</a>` },
  { title: 'Pool', value: (row) => row.pool, cell: (row) => html`<a href=${`/operator/pools/${row.pool}`}>${row.pool}</a>` },
  { title: 'Wants', numeric: true, value: (row) => row.declared?.max_gpus, cell: (row) => (row.declared ? `${row.declared.max_gpus} at ${dollars(row.declared.max_price_per_gpu_hour)}` : '–') },
  { title: 'Nodes held', numeric: true, value: (row) => row.held_nodes, cell: (row) => row.held_nodes },
  { title: 'State', cell: (row) => html`${row.retired_at ? badge('retired') : nothing} ${row.maintenance ? badge('maintenance', 'warn') : nothing}
      ${row.writes_armed ? nothing : badge('writes off', 'warn')} ${row.billing_hold ? badge(row.billing_hold.stage, 'bad') : nothing}` },
];

customElements.define('bourse-operator-clusters', Clusters);
export default Clusters;
