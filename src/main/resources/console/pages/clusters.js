import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call, soon } from '../lib/client.js';
import { count, dollars, nodeName } from '../lib/format.js';
import { KINDS } from '../lib/kinds.js';
import { reasonOf } from '../lib/losses.js';
import { navigate } from '../lib/router.js';
import { at, badge, empty, tabs } from '../components/parts.js';
import { askFirst, dialogHost, openDialog } from '../components/dialog.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import { toast } from '../components/toast.js';
import '../components/table.js';

/** The organization's clusters: make, describe, retire. */
class Clusters extends Page {
  /** @override */
  get heading() {
    return 'Clusters';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const retired = this.query.get('show') === 'retired';
    const [page, open] = await Promise.all([
      call('listConsoleClusters', { query: { state: stateOf(retired), limit: 500 }, signal }),
      call('listConsolePools', { signal }),
    ]);
    return { clusters: page.clusters, next: page.next, open, retired };
  }

  /** @override */
  headActions() {
    const open = this.data?.open;
    return html`<div class="actions">
      <button type="button" ?disabled=${!open || open.clusters_left === 0 || open.pools.length === 0} @click=${() => this.make()}>New cluster</button>
    </div>`;
  }

  async more() {
    const { data } = this;
    const page = await call('listConsoleClusters', { query: { state: stateOf(data.retired), limit: 500, after: data.next } });
    this.data = { ...data, clusters: [...data.clusters, ...page.clusters], next: page.next };
  }

  async make() {
    const made = await makeCluster(this.data.open);
    if (made) {
      toast(`${made.name} is there. Declare what it wants.`);
      navigate(KINDS[made.kind].address(made.name));
    }
  }

  /** @param {any} cluster */
  async describe(cluster) {
    if (await describeCluster(cluster)) {
      toast('Saved');
      this.refresh();
    }
  }

  /** @param {any} cluster */
  async retire(cluster) {
    const left = new AbortController();
    this.atEnd(() => left.abort());
    if (await retireCluster(cluster, left.signal)) {
      toast(`${cluster.name} is retired`);
      this.refresh();
    }
  }

  /** @override */
  view(/** @type {any} */ { clusters, next, open, retired }) {
    return html`
      <p class="muted">${quotaWords(open)}</p>
      ${tabs('Which clusters', [
        { href: '/console/clusters', text: 'In use', current: !retired },
        { href: '/console/clusters?show=retired', text: 'Retired', current: retired },
      ])}
      <bourse-table caption=${retired ? 'Retired clusters' : 'Clusters in use'} .columns=${retired ? PAST : this.columns()} .rows=${clusters}
        .key=${(/** @type {any} */ row) => `cluster-${row.name}`} ?search=${clusters.length > 8} ?more=${Boolean(next)} @more=${() => this.more()}
        .empty=${retired
          ? empty('None is retired', 'What a retired cluster did can be read here for good.')
          : empty('No cluster yet', 'A cluster bids for nodes in one pool. It costs nothing until you declare for it.')}></bourse-table>`;
  }

  /** @returns {import('../components/table.js').Column[]} */
  columns() {
    return [
      ...BOTH,
      { title: 'Nodes', numeric: true, value: (row) => row.held_nodes, cell: (row) => row.held_nodes },
      {
        title: 'Actions',
        isAction: true,
        cell: (row) => html`
          <button type="button" class="quiet tiny" aria-label=${`Describe ${row.name}`} @click=${() => this.describe(row)}>Describe</button>
          <button type="button" class="quiet tiny" aria-label=${`Retire ${row.name}`} @click=${() => this.retire(row)}>Retire</button>`,
      },
    ];
  }
}

/** @param {boolean} retired @returns {'retired' | 'in-use'} */
function stateOf(retired) {
  return retired ? 'retired' : 'in-use';
}

/** @param {any} open */
function quotaWords(open) {
  if (open.pools.length === 0) {
    return 'No pool is open to self-service now; the operator makes clusters.';
  }
  return open.clusters_left === 0
    ? `The organization may have ${count(open.max_clusters, 'cluster')} and has them; retire one, or ask the operator for more.`
    : `${count(open.clusters_left, 'more cluster', 'more clusters')} of ${open.max_clusters} can be made.`;
}

/** @type {import('../components/table.js').Column[]} */
const BOTH = [
  {
    title: 'Cluster',
    value: (row) => row.name,
    cell: (row) => html`<div><a href=${KINDS[row.kind].address(row.name)}>${row.name}</a>
      ${row.description ? html`<br><span class="muted small">${row.description}</span>` : nothing}</div>`,
  },
  {
    title: 'Kind',
    value: (row) => row.kind,
    cell: (row) => html`<div>${row.kind === 'vm' ? 'VM' : 'Kubernetes'} ${row.posture === 'static' ? badge('operator-managed') : nothing}</div>`,
  },
  { title: 'Pool', value: (row) => row.pool, cell: (row) => html`<a href=${`/console/market?pool=${encodeURIComponent(row.pool)}`}>${row.pool}</a>` },
  { title: 'Made', value: (row) => row.created_at, cell: (row) => at(row.created_at) },
];

/** @type {import('../components/table.js').Column[]} */
const PAST = [...BOTH, { title: 'Retired', value: (row) => row.retired_at, cell: (row) => at(row.retired_at) }];

/**
 * Asks for a new cluster and makes it.
 * @param {any} open the pools, as `listConsolePools` tells them
 * @returns {Promise<any>} the cluster; undefined when nothing was made
 */
function makeCluster(open) {
  /** @type {Form | null} */
  let form = null;
  return openDialog((close, redraw) => {
    form ??= new Form(dialogHost(redraw), { name: '', kind: 'vm', pool: open.pools[0].pool, description: '' });
    const current = form;
    const pool = open.pools.find((/** @type {any} */ one) => one.pool === current.values.pool);
    const send = onSubmit(async () => {
      const { name, kind, description } = current.values;
      const made = await current.submit(
        () => call('createConsoleCluster', { body: { name, kind, pool: current.values.pool, ...(description ? { description } : {}) } }),
        { conflict: 'name' },
      );
      if (made) {
        close(made);
      }
    });
    return html`<form method="dialog" @submit=${send}>
      <h2>New cluster</h2>
      ${field(current, { name: 'name', label: 'Name', hint: 'Up to 63 of a-z, 0-9, . and -. It is never used again, by anybody.', required: true, autofocus: true })}
      ${field(current, { name: 'kind', label: 'Kind', type: 'select', required: true, options: [{ value: 'vm', text: 'VMs that you log in to by ssh' }, { value: 'k8s', text: 'Nodes of a Kubernetes cluster' }] })}
      ${field(current, {
        name: 'pool',
        label: 'Pool',
        type: 'select',
        required: true,
        options: open.pools.map((/** @type {any} */ one) => ({ value: one.pool, text: `${one.pool}: ${one.gpus_per_node} × ${one.gpu_vendor} ${one.gpu_model ?? ''} a node, ${one.site}` })),
        hint: poolWords(pool),
      })}
      ${field(current, { name: 'description', label: 'Description', hint: 'For people; one line.' })}
      ${formFault(current)}
      <div class="actions">
        ${submitButton(current, 'Make the cluster')}
        <button type="button" class="quiet" @click=${() => close()}>Cancel</button>
      </div>
    </form>`;
  });
}

/** @param {any} pool */
function poolWords(pool) {
  if (!pool) {
    return '';
  }
  const clears = pool.clearing_price_per_gpu_hour === null ? 'Nobody holds a node' : `Clears at ${dollars(pool.clearing_price_per_gpu_hour)}`;
  return `${clears}; prices from ${dollars(pool.reserve_price_per_gpu_hour)} to ${dollars(pool.max_price_cap_per_gpu_hour)} a GPU-hour.`;
}

/** @param {any} cluster @returns {Promise<any>} */
function describeCluster(cluster) {
  /** @type {Form | null} */
  let form = null;
  return openDialog((close, redraw) => {
    form ??= new Form(dialogHost(redraw), { description: cluster.description ?? '' });
    const current = form;
    const send = onSubmit(async () => {
      const changed = await current.submit(() =>
        call('describeConsoleCluster', { path: { cluster: cluster.name }, body: { description: current.values.description || null } }),
      );
      if (changed) {
        close(changed);
      }
    });
    return html`<form method="dialog" @submit=${send}>
      <h2>Describe ${cluster.name}</h2>
      ${field(current, { name: 'description', label: 'Description', hint: 'For people; one line.', autofocus: true })}
      ${formFault(current)}
      <div class="actions">
        ${submitButton(current, 'Save')}
        <button type="button" class="quiet" @click=${() => close()}>Cancel</button>
      </div>
    </form>`;
  });
}

/**
 * What a cluster holds now, by its nodes' names or addresses.
 * @param {any} cluster
 * @param {AbortSignal} signal
 * @returns {Promise<string[]>}
 */
async function nodesOf(cluster, signal) {
  const { allocations } = await KINDS[cluster.kind].read(cluster.name, { signal: soon(signal) });
  return allocations
    .filter((/** @type {any} */ one) => one.state !== 'reclaiming')
    .map((/** @type {any} */ one) => nodeName(one) ?? 'a node without an address yet');
}

/** @param {any} cluster @param {AbortSignal} left aborted when the page is left */
async function retireCluster(cluster, left) {
  let held = 0;
  try {
    return await askFirst(
      {
        ask: async (signal) => {
          const nodes = await nodesOf(cluster, signal);
          held = nodes.length;
          return retireQuestion(cluster, nodes);
        },
        work: () => call('retireConsoleCluster', { path: { cluster: cluster.name }, query: held > 0 ? { give_back: 'true' } : {} }),
      },
      left,
    );
  } catch (failure) {
    toast(`${cluster.name} is not retired, because what it holds cannot be read now: ${reasonOf(failure)}`);
    return false;
  }
}

/** @param {any} cluster @param {string[]} nodes @returns {import('../components/dialog.js').Asked} */
function retireQuestion(cluster, nodes) {
  const held = nodes.length;
  return {
    title: `Retire ${cluster.name}?`,
    text: html`
      ${held > 0
        ? html`<p><strong>${count(held, 'node')} ${held === 1 ? 'is' : 'are'} reclaimed at once, with all that is on ${held === 1 ? 'it' : 'them'}:</strong></p>
            <ul class="plain mono">${nodes.map((node) => html`<li>${node}</li>`)}</ul>`
        : nothing}
      <p>Nothing can be declared for it any more, and its name is never used again. Tokens bound to it can only read.
      Its activity, history and bills stay.</p>`,
    action: held > 0 ? `Give back ${count(held, 'node')} and retire` : 'Retire the cluster',
    danger: true,
    typed: cluster.name,
    losses: JSON.stringify([...nodes].sort()),
  };
}

customElements.define('bourse-clusters', Clusters);
export default Clusters;
