import { html } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { whole } from '../lib/format.js';
import { badge, empty } from '../components/parts.js';
import '../components/table.js';

/** The organization's Kubernetes clusters. */
class Kubernetes extends Page {
  /** @override */
  get heading() {
    return 'Kubernetes';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    return call('listK8sClusters', { query: { limit: 500 }, signal });
  }

  async more() {
    const page = await call('listK8sClusters', { query: { limit: 500, after: this.data.next } });
    this.data = { ...page, clusters: [...this.data.clusters, ...page.clusters] };
  }

  /** @override */
  view(/** @type {any} */ { clusters, more }) {
    return html`<bourse-table caption="Kubernetes clusters" .columns=${COLUMNS} .rows=${clusters} .key=${(/** @type {any} */ row) => `cluster-${row.cluster}`}
      ?search=${clusters.length > 8} ?more=${more} @more=${() => this.more()}
      .empty=${empty(
        'No Kubernetes cluster yet',
        'Its nodes join a Kubernetes cluster of yours. It bids for them as a VM cluster does.',
        html`<a class="button" href="/console/clusters">Make one</a>`,
      )}></bourse-table>`;
  }
}

/** @type {import('../components/table.js').Column[]} */
const COLUMNS = [
  {
    title: 'Cluster',
    value: (row) => row.cluster,
    cell: (row) => html`<div><a href=${`/console/kubernetes/${encodeURIComponent(row.cluster)}`}>${row.cluster}</a>
      ${row.posture === 'static' ? badge('operator-managed') : ''}</div>`,
  },
  { title: 'GPU', value: (row) => row.gpu_model, cell: (row) => `${row.gpus_per_node} × ${row.gpu_vendor} ${row.gpu_model ?? ''}` },
  { title: 'Held', numeric: true, value: (row) => row.nodes_held, cell: (row) => whole(row.nodes_held) },
  {
    title: 'Pending',
    numeric: true,
    value: (row) => row.nodes_pending,
    cell: (row) => (row.nodes_pending > 0 ? badge(whole(row.nodes_pending), 'warn') : whole(0)),
  },
];

customElements.define('bourse-kubernetes', Kubernetes);
export default Kubernetes;
