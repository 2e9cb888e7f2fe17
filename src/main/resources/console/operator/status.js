import { html, nothing } from 'lit';
import { OperatorPage } from '../lib/operator-page.js';
import { call } from '../lib/client.js';
import { bytes, count, dollars, duration, roughly, whole } from '../lib/format.js';
import { at, badge, empty, figure, money } from '../components/parts.js';
import '../components/table.js';

/** Some ticks. */
const AGAIN_MILLIS = 15_000;

/** A tick that is late by more than this is worth a look; a process that does not run the market learns of ticks late. */
const LATE_MILLIS = 30_000;

/** A disk with less than this part free is worth a look. */
const DISK_PART = 0.1;

/** The state of the whole site: what needs an operator first, then figures, pools and queues. */
class Status extends OperatorPage {
  /** @override */
  get heading() {
    return 'Site status';
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.every(AGAIN_MILLIS, () => this.refresh());
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    return call('readStatus', { signal });
  }

  /** @override */
  view(/** @type {any} */ status) {
    const { pools, holds } = status;
    const failed = failedJobs(status);
    const sum = (/** @type {(pool: any) => number} */ of) => pools.reduce((/** @type {number} */ all, /** @type {any} */ pool) => all + of(pool), 0);
    const gpus = sum((pool) => pool.nodes.all * (pool.gpus_per_node ?? 0));
    const held = sum((pool) => pool.nodes.held * (pool.gpus_per_node ?? 0));
    const unhealthy = sum((pool) => pool.unhealthy_nodes ?? 0);
    const onHold = holds.grace + holds.notice + holds.enforce;
    return html`
      ${alerts(status)}
      <dl class="figures-row">
        ${figure('Utilization', gpus === 0 ? '–' : `${Math.round((held / gpus) * 100)} %`, gpus === 0 ? nothing : `${whole(held)} of ${count(gpus, 'GPU')} held`)}
        ${status.month === undefined ? nothing : figure('Revenue', money(sum((pool) => pool.revenue_micros_per_hour ?? 0)), 'an hour at most, at the clearing prices')}
        ${status.month === undefined ? nothing : figure('This month', money(status.month_revenue_micros), `posted in ${status.month}`)}
        ${figure('Demand', count(sum(demand), 'node'), 'that bids ask for, held or not')}
        ${figure('Health', status.failed_jobs === undefined ? 'unknown' : unhealthy === 0 ? badge('no fault found', 'good') : badge(count(unhealthy, 'faulty node'), 'bad'), `${whole(status.quarantined_nodes)} in quarantine`)}
        ${figure('On hold', html`<a href="/operator/holds?held=money" aria-label=${`On hold for money: ${onHold}`}>${whole(onHold)}</a>`, html`for money, ${whole(holds.not_acted_upon)} not enforced; <a href="/operator/holds">${whole(holds.by_operators)} by operators</a>`)}
        ${status.failed_jobs === undefined ? nothing : figure('Jobs', html`<a href="/operator/jobs" aria-label=${`Failed jobs: ${failed.length}`}>${whole(failed.length)}</a>`, 'failed at their last run in this process')}
      </dl>
      <section class="sheet" aria-labelledby="pools"><h2 id="pools">Pools</h2>
        <bourse-table caption="Pools" ?search=${pools.length > 8} .rows=${pools} .columns=${POOLS}
          .key=${(/** @type {any} */ pool) => `pool-${pool.pool}`}
          .empty=${empty('No pool yet', 'A pool is a market for machines of one kind at one site.', html`<a class="button" href="/operator/pools">Create a pool</a>`)}></bourse-table>
        ${status.pools_left_off > 0 ? html`<p class="muted">${count(status.pools_left_off, 'more pool')} <a href="/operator/pools">in the list of pools</a>; the figures above leave them out.</p>` : nothing}
      </section>
      ${status.quarantined_longest.length === 0
        ? nothing
        : html`<section class="sheet" aria-labelledby="quarantine"><h2 id="quarantine">Nodes in quarantine</h2>
            <bourse-table caption="Nodes in quarantine" .rows=${status.quarantined_longest} .columns=${QUARANTINED}
              .key=${(/** @type {any} */ node) => `node-${node.node_id}`}></bourse-table></section>`}
      <div class="columns-2">
        <section class="sheet" aria-labelledby="queues"><h2 id="queues">Queues</h2>
          <bourse-table caption="Queues" .rows=${QUEUES.map((queue) => ({ ...queue, ...status[queue.field] }))} .columns=${QUEUE}></bourse-table></section>
        <section class="sheet" aria-labelledby="process"><h2 id="process">Process</h2>
          <dl class="figures-row">
            ${figure('Version', status.version, `schema ${status.schema}`)}
            ${figure('Processes', whole(status.processes), html`this one is <span class="mono">${status.process}</span>`)}
            ${figure('Disk', status.disk ? bytes(status.disk.free_bytes) : 'unknown', status.disk ? `free of ${bytes(status.disk.total_bytes)}` : nothing)}
            ${figure('Clock', status.clock.confirmed_at ? badge('confirmed', 'good') : badge('in doubt', 'bad'))}
          </dl></section>
      </div>`;
  }
}

/**
 * Nodes that bids ask for, held ones included. Clusters that do not bid hold nodes too, so
 * this number minus the held nodes is not the number of pending nodes.
 * @param {any} pool
 */
function demand(pool) {
  return pool.demand_nodes ?? 0;
}

/** Empty if a process of the previous release answers, which does not list them. @param {any} status */
function failedJobs(status) {
  return status.failed_jobs ?? [];
}

/**
 * Lists the conditions that need an operator, the worst first.
 * @param {any} status
 */
function alerts(status) {
  const { pools, disk, clock } = status;
  const bad = [];
  const warn = [];
  for (const pool of pools) {
    const link = html`<a href=${`/operator/pools/${encodeURIComponent(pool.pool)}`}>${pool.pool}</a>`;
    if (pool.paused_since) {
      warn.push(html`The market of ${link} is paused since ${at(pool.paused_since)}: ${pool.pause_reason}`);
    } else if (!pool.lease) {
      bad.push(html`No process runs the market of ${link}.`);
    } else if (pool.tick_overdue_ms > LATE_MILLIS) {
      bad.push(html`The market of ${link} is ${duration(pool.tick_overdue_ms)} late.`);
    }
    if (pool.unhealthy_nodes > 0) {
      warn.push(html`${count(pool.unhealthy_nodes, 'node')} of ${link} ${pool.unhealthy_nodes === 1 ? 'has' : 'have'} faulty hardware.`);
    }
    if (pool.nodes.unreachable > 0) {
      warn.push(html`${count(pool.nodes.unreachable, 'node')} of ${link} ${pool.nodes.unreachable === 1 ? 'does' : 'do'} not answer.`);
    }
  }
  if (!clock.confirmed_at) {
    bad.push(html`No clock is confirmed: no usage is posted and nothing is deleted. <a href="/operator/switches">Clock</a>`);
  }
  if (disk && disk.free_bytes < disk.total_bytes * DISK_PART) {
    bad.push(html`The disk has ${bytes(disk.free_bytes)} free of ${bytes(disk.total_bytes)}.`);
  }
  for (const job of failedJobs(status)) {
    warn.push(html`The job <a href="/operator/jobs">${job.name}</a> failed: ${job.last_error}`);
  }
  if (status.quarantined_nodes > 0) {
    warn.push(html`${count(status.quarantined_nodes, 'node')} in quarantine ${status.quarantined_nodes === 1 ? 'waits' : 'wait'} for an operator.`);
  }
  if (status.reviews.waiting > 0) {
    warn.push(html`${count(status.reviews.waiting, 'file')} ${status.reviews.waiting === 1 ? 'waits' : 'wait'} for <a href="/operator/reviews">review</a>.`);
  }
  if (bad.length + warn.length === 0) {
    return html`<p class="notice good" role="status" id="alerts">Nothing needs an operator.</p>`;
  }
  return html`<section class="notice ${bad.length > 0 ? 'bad' : 'warn'}" id="alerts" aria-labelledby="attention"><h2 id="attention">Needs attention</h2>
    <ul>${[...bad, ...warn].map((one) => html`<li>${one}</li>`)}</ul></section>`;
}

/** @type {import('../components/table.js').Column[]} */
const POOLS = [
  { title: 'Pool', value: (row) => row.pool, cell: (row) => html`<a href=${`/operator/pools/${encodeURIComponent(row.pool)}`}>${row.pool}</a> <span class="faint">${row.site}</span>` },
  { title: 'Held', unit: 'nodes', numeric: true, value: (row) => row.nodes.held, cell: (row) => `${row.nodes.held} of ${row.nodes.all}` },
  { title: 'Free', numeric: true, value: (row) => row.nodes.free, cell: (row) => whole(row.nodes.free) },
  { title: 'Demand', numeric: true, value: demand, cell: (row) => whole(demand(row)) },
  { title: 'Out of service', numeric: true, value: out, cell: (row) => whole(out(row)) },
  { title: 'Clears at', unit: 'a GPU-hour', numeric: true, value: (row) => row.clearing_price_per_gpu_hour, cell: (row) => dollars(row.clearing_price_per_gpu_hour) },
  { title: 'Revenue', unit: 'an hour', numeric: true, value: (row) => row.revenue_micros_per_hour, cell: (row) => roughly(row.revenue_micros_per_hour) },
  { title: 'Market', value: (row) => market(row)[0], cell: (row) => badge(...market(row)) },
];

/** Nodes that no cluster holds and the market does not grant. @param {any} row */
function out({ nodes }) {
  return nodes.quarantined + nodes.cordoned + nodes.backing_off + nodes.unreachable;
}

/** @param {any} row @returns {[string, 'good' | 'bad' | 'warn']} */
function market(row) {
  if (row.paused_since) {
    return ['paused', 'warn'];
  }
  return !row.lease ? ['no process', 'bad'] : row.tick_overdue_ms > LATE_MILLIS ? ['late', 'bad'] : ['on time', 'good'];
}

/** @type {import('../components/table.js').Column[]} */
const QUARANTINED = [
  { title: 'Node', value: (row) => row.node_id, cell: (row) => html`<span class="mono">${row.node_id}</span>` },
  { title: 'Pool', value: (row) => row.pool, cell: (row) => html`<a href=${`/operator/pools/${encodeURIComponent(row.pool)}`}>${row.pool}</a>` },
  { title: 'Because', value: (row) => row.quarantine_reason, cell: (row) => html`<span class="small">${row.quarantine_reason}</span>` },
  { title: 'Since', value: (row) => row.quarantined_since, cell: (row) => at(row.quarantined_since, 'ago') },
];

const QUEUES = [
  { field: 'reviews', title: 'Reviews', href: '/operator/reviews' },
  { field: 'uploads', title: 'Uploads under way' },
  { field: 'mails', title: 'Mails' },
  { field: 'webhook_deliveries', title: 'Webhook events' },
];

/** @type {import('../components/table.js').Column[]} */
const QUEUE = [
  { title: 'Queue', cell: (row) => (row.href ? html`<a href=${row.href}>${row.title}</a>` : row.title) },
  { title: 'Waiting', numeric: true, cell: (row) => whole(row.waiting) },
  { title: 'Oldest', cell: (row) => at(row.oldest_at, 'ago') },
];

customElements.define('bourse-status', Status);
export default Status;
