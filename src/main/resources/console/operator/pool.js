import { html, nothing } from 'lit';
import { OperatorPage } from '../lib/operator-page.js';
import { call, soon } from '../lib/client.js';
import { readPages } from '../lib/lists.js';
import { count, dollars, duration } from '../lib/format.js';
import { at, badge, empty, figure } from '../components/parts.js';
import { askFirst, dialogHost, openDialog } from '../components/dialog.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import { toast } from '../components/toast.js';
import '../components/table.js';

/** @type {Record<string, 'good' | 'held' | 'warn' | 'bad' | 'calm'>} */
const TONES = { free: 'good', held: 'held', unreachable: 'bad', quarantined: 'bad', 'backing-off': 'warn', reclaiming: 'warn', reimaging: 'warn', cordoned: 'warn' };

const TERMS = ['reserve_price_per_gpu_hour', 'max_price_cap_per_gpu_hour'];
const NOTICE = 'notice_ms';
const SWITCHES = ['detector_armed', 'swaps_enabled', 'self_service'];

/** One pool: its terms and its machines. */
class Pool extends OperatorPage {
  constructor() {
    super();
    this.form = new Form(this, {});
    /** @type {any} the pool as it was when the form was filled from it */
    this.base = null;
  }

  /** @override */
  get heading() {
    return this.params.pool;
  }

  /** @override */
  headActions() {
    return this.data && this.mayWrite && !this.session.site
      ? html`<button type="button" class="quiet small" id="pause" @click=${() => this.pause(this.data.pool)}>${this.data.pool.paused ? 'Resume market' : 'Pause market'}</button>`
      : nothing;
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const path = { pool: this.params.pool };
    const [pool, { nodes, next }] = await Promise.all([
      call('readPool', { path, signal }),
      call('listNodes', { path, query: { limit: 500 }, signal }),
    ]);
    // What is being typed stays when the machines are read again.
    if (Object.keys(this.form.values).length === 0) {
      this.begin(pool);
    }
    return { pool, nodes, next };
  }

  more() {
    return this.showMore(async (data) => {
      const page = await call('listNodes', { path: { pool: this.params.pool }, query: { limit: 500, after: data.next } });
      return { ...data, nodes: [...data.nodes, ...page.nodes], next: page.next };
    });
  }

  /** @param {any} pool */
  begin(pool) {
    this.base = pool;
    this.form.reset(Object.fromEntries([...TERMS, NOTICE, ...SWITCHES].map((name) => [name, pool[name] ?? ''])));
  }

  /** @override */
  view(/** @type {any} */ { pool, nodes, next }) {
    const inState = (/** @type {string} */ state) => nodes.filter((/** @type {any} */ node) => node.state === state).length;
    return html`
      ${pool.paused ? html`<p class="notice bad" role="status">The market is paused by ${pool.paused_by}, because: ${pool.pause_reason}. It grants and takes nothing.</p>` : nothing}
      <dl class="figures-row">
        ${figure('GPUs of a node', pool.gpus_per_node, `${pool.gpu_vendor} ${pool.gpu_model ?? ''}`)}
        ${figure('Tenants', pool.tenants === 'root' ? 'root' : 'login only', pool.tenants === 'root' ? 'a new image after each' : 'cleaned after each')}
        ${figure('Notice', pool.notice_ms === null ? 'site default' : pool.notice_ms === 0 ? 'none' : duration(pool.notice_ms), 'before a rival takes a node')}
        ${figure('Free', inState('free'))}${figure('Held', inState('held'))}
        ${figure('Quarantined', inState('quarantined'))}${figure('Unreachable', inState('unreachable'))}
      </dl>
      ${this.session.site ? nothing : this.ifWriting(() => this.terms())}
      <section class="sheet" aria-labelledby="nodes"><div class="sheet-head"><h2 id="nodes">Nodes</h2>
        <div class="actions">${this.ifWriting(() => html`<button type="button" class="small" id="add-node" @click=${() => this.addNode(pool)}>Add a node</button>`)}
          <button type="button" class="quiet small" @click=${() => this.refresh()}>Read again</button></div></div>
        <bourse-table caption="Nodes" ?search=${nodes.length > 8} ?more=${Boolean(next)} @more=${() => this.more()} .rows=${nodes}
          .key=${(/** @type {any} */ node) => `node-${node.node_id}`} .columns=${this.columns()}
          .empty=${empty('No node yet', 'The market grants a node as soon as it is added.')}></bourse-table>
      </section>`;
  }

  /** The terms, which an operator of one site cannot change. */
  terms() {
    return html`<form class="sheet" @submit=${onSubmit(() => this.save())}><h2>Terms</h2>
      <div class="fields-row">
        ${field(this.form, { name: 'reserve_price_per_gpu_hour', label: 'Reserve price', type: 'number', unit: '$ per GPU-hour', step: '0.01', required: true, hint: 'Nothing is sold below it.' })}
        ${field(this.form, { name: 'max_price_cap_per_gpu_hour', label: 'Highest price', type: 'number', unit: '$ per GPU-hour', step: '0.01', required: true, hint: 'No bid may name more.' })}
        ${field(this.form, { name: NOTICE, label: 'Notice', type: 'number', unit: 'ms', min: 0, max: 3_600_000, step: 1, hint: 'Preemption warning before a rival takes a node. 0 for none. Empty: site default (market.notice).' })}
      </div>
      ${field(this.form, { name: 'self_service', label: 'Members create clusters here by themselves', type: 'checkbox' })}
      ${field(this.form, { name: 'swaps_enabled', label: 'Nodes can be swapped', type: 'checkbox' })}
      ${field(this.form, { name: 'detector_armed', label: 'Clusters are told when the site has no capacity', type: 'checkbox' })}
      ${formFault(this.form)}
      <div class="actions">${submitButton(this.form, 'Save terms')}</div>
    </form>`;
  }

  async save() {
    const { base: pool } = this;
    const { values } = this.form;
    /** @type {Record<string, unknown>} */
    const body = {};
    for (const name of TERMS) {
      if (Number(values[name]) !== pool[name]) {
        body[name] = values[name] === '' ? null : Number(values[name]);
      }
    }
    const notice = values[NOTICE] === '' ? null : Number(values[NOTICE]);
    if (notice !== pool[NOTICE]) {
      body[NOTICE] = notice;
    }
    for (const name of SWITCHES) {
      if (values[name] !== pool[name]) {
        body[name] = values[name];
      }
    }
    if (Object.keys(body).length === 0) {
      toast('These are the terms already');
      return;
    }
    const typed = JSON.stringify(values);
    const left = new AbortController();
    this.atEnd(() => left.abort());
    /** @type {any} */
    let now;
    await askFirst(
      {
        ask: async (signal) => {
          now = await call('readPool', { path: { pool: pool.name }, signal: soon(signal) });
          if (JSON.stringify(this.form.values) !== typed) {
            toast('The form changed during the check. Nothing was saved.');
            left.abort();
          }
          return termsQuestion(now, body, await losersOf(now, body, signal));
        },
        work: async () => {
          const saved = await call('updatePool', { path: { pool: pool.name }, body: /** @type {any} */ ({ ...body, expected: termsOf(now, body) }) });
          if (JSON.stringify(this.form.values) === typed) {
            this.begin(saved);
          }
          this.data = { ...this.data, pool: saved };
          toast('The terms are saved');
        },
        form: this.form,
      },
      left.signal,
    );
  }

  /** @returns {import('../components/table.js').Column[]} */
  columns() {
    return [
      { title: 'Node', value: (node) => node.node_id, cell: (node) => html`<span class="mono">${node.node_id}</span>` },
      { title: 'State', value: (node) => node.state, cell: (node) => html`${badge(node.state, TONES[node.state] ?? 'calm')}
          ${node.last_error ? html`<div class="muted small">${node.last_error}</div>` : nothing}` },
      { title: 'Address', value: (node) => node.public_ip, cell: (node) => html`<span class="mono">${node.public_ip}</span>` },
      { title: 'Cluster', value: (node) => node.cluster, cell: (node) => this.holder(node) },
      { title: 'Failures', numeric: true, value: (node) => node.failures, cell: (node) => node.failures },
      { title: 'Last seen', value: (node) => node.last_seen, cell: (node) => at(node.last_seen, 'ago') },
      { title: 'Actions', isAction: true, cell: (node) => this.ifWriting(() => this.nodeActions(node)) },
    ];
  }

  /** @param {any} node */
  holder(node) {
    if (!node.cluster) {
      return html`<span class="faint">–</span>`;
    }
    return this.session.site ? node.cluster : html`<a href=${`/operator/clusters/${node.cluster}`}>${node.cluster}</a>`;
  }

  /** @param {any} node */
  nodeActions(node) {
    const path = { node_id: node.node_id };
    if (node.state === 'retired') {
      return nothing;
    }
    return html`
      ${node.state === 'quarantined'
        ? html`<button type="button" class="quiet tiny" aria-label=${`Release ${node.node_id}`} @click=${() => this.ask({
            title: `Release ${node.node_id} from quarantine?`,
            text: html`<p>It goes back to the market. Make sure that what was wrong with it is mended.</p>`,
            action: 'Release',
            work: () => call('releaseNode', { path }),
          })}>Release</button>`
        : nothing}
      ${node.state === 'backing-off' || node.state === 'unreachable'
        ? html`<button type="button" class="quiet tiny" aria-label=${`Try ${node.node_id} again`} @click=${() => this.ask({
            title: `Try ${node.node_id} again now?`,
            text: html`<p>It waits no longer for its next try.</p>`,
            action: 'Try again',
            work: () => call('retryNode', { path }),
          })}>Try again</button>`
        : nothing}
      <button type="button" class="quiet tiny" aria-label=${`${node.cordoned ? 'Uncordon' : 'Cordon'} ${node.node_id}`} @click=${() => this.ask({
        title: node.cordoned ? `Grant ${node.node_id} again?` : `Grant ${node.node_id} no more?`,
        text: node.cordoned
          ? html`<p>It takes part in the market from the next tick.</p>`
          : html`<p>Its holder keeps it. It is not granted again until it is uncordoned.</p>`,
        action: node.cordoned ? 'Uncordon' : 'Cordon',
        work: () => call('updateNode', { path, body: { cordoned: !node.cordoned } }),
      })}>${node.cordoned ? 'Uncordon' : 'Cordon'}</button>
      ${node.state === 'held'
        ? html`<button type="button" class="quiet tiny" aria-label=${`Evict ${node.node_id}`}
            @click=${() => this.evict(node.node_id)}>Evict</button>`
        : nothing}
      <button type="button" class="quiet tiny" aria-label=${`Retire ${node.node_id}`}
        @click=${() => this.retire(node.node_id)}>Retire</button>`;
  }

  /** @param {string} nodeId */
  async retire(nodeId) {
    const { retireTask } = await import('../lib/nodes.js');
    await this.askWithPreview(retireTask(nodeId, Boolean(this.session.site)));
  }

  /** @param {any} pool */
  async pause(pool) {
    const path = { pool: pool.name };
    await this.ask(pool.paused
      ? {
          title: `Resume the market of ${pool.name}?`,
          text: html`<p>The next tick does what is due: <strong>organizations on hold and clusters that are outbid lose nodes</strong>, the latter after a notice of full length.</p>`,
          action: 'Resume',
          danger: true,
          work: () => call('updatePool', { path, body: { paused: false } }),
        }
      : {
          title: `Pause the market of ${pool.name}?`,
          text: html`<p>It grants nothing and takes nothing, not from organizations on hold either. Notices that run are withdrawn. What is held is billed on.</p>`,
          action: 'Pause',
          danger: true,
          fill: { name: 'pause_reason', label: 'Reason', hint: 'Tenants read it.' },
          work: (_, reason) => call('updatePool', { path, body: { paused: true, pause_reason: reason } }),
        });
  }

  /** @param {any} pool */
  async addNode(pool) {
    const isReal = pool.provider === 'ssh';
    /** @type {Form | null} */
    let form = null;
    const added = await openDialog((/** @type {(id?: string) => void} */ close, redraw) => {
      form ??= new Form(dialogHost(redraw), { node_id: '', public_ip: '', ssh_port: '', ...(isReal ? { host_key: '' } : {}) });
      const current = form;
      const send = onSubmit(async () => {
        const { ssh_port: port, ...texts } = current.values;
        const body = { ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== '')), ...(port === '' ? {} : { ssh_port: Number(port) }) };
        const node = await current.submit(() => call('addNode', { path: { pool: pool.name }, body: /** @type {any} */ (body) }));
        if (node) {
          close(node.node_id);
        }
      });
      return html`<form @submit=${send}><h2>Add a node to ${pool.name}</h2>
        <p>The market may grant it as soon as the machine answers that it holds no allocation.</p>
        ${field(current, { name: 'node_id', label: 'Name', required: true, autofocus: true })}
        ${field(current, { name: 'public_ip', label: 'Address', required: isReal, hint: isReal ? 'Where tenants reach it.' : 'Empty: the next free one.' })}
        ${field(current, { name: 'ssh_port', label: 'Port of ssh', type: 'number', min: 1, step: 1, hint: `Empty: ${pool.ssh_port}, as the pool has it.` })}
        ${isReal ? field(current, { name: 'host_key', label: 'Host key', type: 'textarea', required: true, hint: 'Type and base64 as ssh-keyscan prints them, without the address.' }) : nothing}
        ${formFault(current)}
        <div class="actions">${submitButton(current, 'Add node')}<button type="button" class="quiet" @click=${() => close()}>Cancel</button></div></form>`;
    });
    if (added) {
      toast(`${added} is in the pool`);
      await this.refresh();
    }
  }
}

/**
 * The terms that a change is based on.
 * @param {any} pool as it was read last
 * @param {Record<string, unknown>} body
 */
function termsOf(pool, body) {
  return Object.fromEntries(Object.keys(body).map((name) => [name, pool[name]]));
}

/**
 * The clusters that bid less than the new reserve price and hold nodes. Static clusters and those whose hold is enforced do
 * not bid.
 * @param {any} pool as it is now
 * @param {Record<string, any>} body
 * @param {AbortSignal} signal
 * @returns {Promise<{clusters: any[], read: number, more: boolean} | null>} null if the reserve price does not rise; `more`
 *     if the pool has more clusters than the `read` ones
 */
async function losersOf(pool, body, signal) {
  const reserve = body.reserve_price_per_gpu_hour;
  if (!(reserve > pool.reserve_price_per_gpu_hour)) {
    return null;
  }
  const { rows, more } = await readPages(
    (after) => call('listClusters', { query: { pool: pool.name, limit: 500, after }, signal: soon(signal) }),
    (page) => page.clusters,
  );
  const clusters = rows.filter(
    (/** @type {any} */ cluster) =>
      cluster.held_nodes > 0 &&
      cluster.posture === 'market' &&
      cluster.billing_hold?.stage !== 'enforce' &&
      cluster.declared?.max_price_per_gpu_hour < reserve,
  );
  return { clusters, read: rows.length, more };
}

/** @param {Awaited<ReturnType<typeof losersOf>>} losers */
function losersText(losers) {
  if (!losers) {
    return nothing;
  }
  const { clusters, read, more } = losers;
  return html`
    ${clusters.length === 0
      ? more ? nothing : html`<p>No cluster that holds nodes has a ceiling under the new reserve price now.</p>`
      : html`<p><strong>These clusters have a ceiling under the reserve price and lose their nodes</strong>, with what is stored there:</p>
          <ul class="plain">${clusters.map((cluster) => html`<li><span class="mono">${cluster.name}</span> of ${cluster.org}: ${count(cluster.held_nodes, 'node')}, at most ${dollars(cluster.declared.max_price_per_gpu_hour)}</li>`)}</ul>`}
    ${more ? html`<p><strong>Only the first ${count(read, 'cluster')} of the pool were checked.</strong> Others may lose nodes, too.</p>` : nothing}`;
}

/**
 * @param {any} pool as it is now
 * @param {Record<string, any>} body
 * @param {Awaited<ReturnType<typeof losersOf>>} losers
 * @returns {import('../components/dialog.js').Asked}
 */
function termsQuestion(pool, body, losers) {
  const changes = Object.entries(body).map(([name, value]) => [name, `${pool[name] ?? 'none'} to ${value ?? 'none'}`]);
  return {
    title: `Change the terms of ${pool.name}?`,
    text: html`<p>They are in force for everybody in the pool from the next tick on:</p>
      <ul class="plain">${changes.map(([name, change]) => html`<li><span class="mono">${name}</span>: ${change}</li>`)}</ul>
      ${losersText(losers)}`,
    action: 'Change the terms',
    danger: true,
    losses: JSON.stringify([changes, losers?.clusters.map((cluster) => [cluster.name, cluster.held_nodes]), losers?.more]),
  };
}

customElements.define('bourse-pool', Pool);
export default Pool;
