import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { whole } from '../lib/format.js';
import { badge, empty } from '../components/parts.js';
import '../components/chart.js';
import '../components/countdown.js';
import '../components/table.js';

/** An agent reports each 30 seconds. */
const AGAIN_MILLIS = 30_000;

/** What a chart shows of each GPU of a node: the field of the series, its label and how its values are written. */
const CHARTS = [
  { field: 'utilization_percent', label: 'Utilization', format: (/** @type {number} */ value) => `${whole(value)} %` },
  { field: 'memory_used_mib', label: 'Memory', format: (/** @type {number} */ value) => `${whole(value)} MiB` },
  { field: 'temperature_c', label: 'Temperature', format: (/** @type {number} */ value) => `${whole(value)} °C` },
  { field: 'power_w', label: 'Power', format: (/** @type {number} */ value) => `${whole(value)} W` },
  { field: 'ecc_uncorrected', label: 'Uncorrected memory errors', format: (/** @type {number} */ value) => whole(value) },
];

/** The measurements of a cluster's GPUs: all nodes, or the last hour of one. */
class Gpus extends Page {
  /** @override */
  get heading() {
    return `GPUs of ${this.params.cluster}`;
  }

  get node() {
    return this.query.get('node') ?? undefined;
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.every(AGAIN_MILLIS, () => this.refresh());
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    return call('readMetrics', { query: { cluster: this.params.cluster, node: this.node }, signal });
  }

  async more() {
    const page = await call('readMetrics', { query: { cluster: this.params.cluster, after: this.data.next } });
    this.data = { ...page, nodes: [...this.data.nodes, ...page.nodes] };
  }

  /** @override */
  view(/** @type {any} */ { nodes, more }) {
    const here = `/console/clusters/${encodeURIComponent(this.params.cluster)}/gpus`;
    const rows = nodes.flatMap((/** @type {any} */ node) => node.gpus.map((/** @type {any} */ gpu) => ({ node, ...gpu })));
    return html`${this.node ? html`<p><a href=${here}>All nodes</a></p>` : nothing}
      <section class="sheet" aria-labelledby="latest"><h2 id="latest">Latest</h2>
        <p class="hint">The last report of each node's agent. A dash is an unknown value.</p>
        <bourse-table caption="GPUs" .columns=${columns(here)} .rows=${rows} .key=${(/** @type {any} */ row) => `gpu-${row.node.public_ip}-${row.index}`}
          ?more=${more} @more=${() => this.more()} .empty=${empty('No node is held', 'Its GPUs are shown here once it has reported.')}></bourse-table>
      </section>
      ${this.node ? nodes.map(hour) : nothing}`;
  }
}

/**
 * One value of all GPUs for each time; null where none is known.
 * @param {any[]} gpus @param {string} field @param {(known: number[]) => number} reduce
 * @returns {(number | null)[]}
 */
function over(gpus, field, reduce) {
  return gpus[0][field].map((/** @type {unknown} */ _, /** @type {number} */ i) => {
    const known = gpus.map((gpu) => gpu[field][i]).filter((value) => value !== null);
    return known.length === 0 ? null : reduce(known);
  });
}

/** @param {number[]} known */
function mean(known) {
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}

/** The charts of a node's last hour: the mean of its GPUs and the highest of them. @param {any} node */
function hour({ series }) {
  return html`<section class="sheet" aria-labelledby="hour"><h2 id="hour">The last hour</h2><div class="columns-2">
    ${CHARTS.map(
      ({ field, label, format }) => html`<bourse-chart label=${label} .start=${series.t0} .step=${series.step} .format=${format}
        .series=${[
          { name: 'mean', values: over(series.gpus, field, mean), tone: 'first' },
          { name: 'highest', values: over(series.gpus, field, (known) => Math.max(...known)), tone: 'second' },
        ]}></bourse-chart>`,
    )}</div></section>`;
}

/** @param {string} here @returns {import('../components/table.js').Column[]} */
function columns(here) {
  const number = (/** @type {string} */ title, /** @type {string} */ unit, /** @type {string} */ field) => ({
    title,
    unit,
    numeric: true,
    value: (/** @type {any} */ row) => row[field],
    cell: (/** @type {any} */ row) => whole(row[field]),
  });
  return [
    { title: 'Node', value: (row) => row.node.public_ip, cell: (row) => html`<a href=${`${here}?node=${encodeURIComponent(row.node.public_ip)}`}>${row.node.public_ip}</a>` },
    { title: 'GPU', numeric: true, value: (row) => row.index, cell: (row) => whole(row.index) },
    number('Utilization', '%', 'utilization_percent'),
    {
      title: 'Memory',
      unit: 'MiB',
      numeric: true,
      value: (row) => row.memory_used_mib,
      cell: (row) => html`${whole(row.memory_used_mib)} of ${whole(row.memory_total_mib)}`,
    },
    number('Temperature', '°C', 'temperature_c'),
    number('Power', 'W', 'power_w'),
    {
      title: 'Memory errors',
      numeric: true,
      value: (row) => row.ecc_uncorrected,
      cell: (row) => (row.ecc_uncorrected > 0 ? badge(whole(row.ecc_uncorrected), 'bad') : whole(row.ecc_uncorrected)),
    },
    {
      title: 'Reported',
      value: (row) => row.node.heard_at,
      cell: (row) => (row.node.heard_at ? html`<bourse-ago at=${row.node.heard_at}></bourse-ago>` : html`<span class="faint">–</span>`),
    },
  ];
}

customElements.define('bourse-gpus', Gpus);
export default Gpus;
