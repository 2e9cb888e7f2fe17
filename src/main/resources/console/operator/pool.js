import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { duration } from '../lib/format.js';
import { at, badge, empty, figure } from '../components/parts.js';
import { confirm } from '../components/dialog.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import { toast } from '../components/toast.js';
import '../components/table.js';

/** @type {Record<string, 'good' | 'warn' | 'bad' | 'calm'>} */
const TONES = { free: 'good', held: 'good', unreachable: 'bad', quarantined: 'bad', 'backing-off': 'warn', reclaiming: 'warn', cordoned: 'warn' };

const TERMS = ['reserve_price_per_gpu_hour', 'max_price_cap_per_gpu_hour'];
const NOTICE = 'notice_ms';
const SWITCHES = ['detector_armed', 'swaps_enabled', 'self_service'];

/** One pool: its terms and its machines. */
class Pool extends Page {
  constructor() {
    super();
    this.form = new Form(this, {});
  }

  /** @override */
  get heading() {
    return this.params.pool;
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

  async more() {
    const page = await call('listNodes', { path: { pool: this.params.pool }, query: { limit: 500, after: this.data.next } });
    this.data = { ...this.data, nodes: [...this.data.nodes, ...page.nodes], next: page.next };
  }

  /** @param {any} pool */
  begin(pool) {
    this.form.reset(Object.fromEntries([...TERMS, NOTICE, ...SWITCHES].map((name) => [name, pool[name] ?? ''])));
  }

  /** @override */
  view(/** @type {any} */ { pool, nodes, next }) {
    const count = (/** @type {string} */ state) => nodes.filter((/** @type {any} */ node) => node.state === state).length;
    return html`
      ${pool.paused ? html`<p class="notice bad" role="status">The market is paused by ${pool.paused_by}, because: ${pool.pause_reason}. It grants and takes nothing.</p>` : nothing}
      <dl class="figures-row">
        ${figure('GPUs of a node', pool.gpus_per_node, `${pool.gpu_vendor} ${pool.gpu_model ?? ''}`)}
        ${figure('Notice', pool.notice_ms === null ? 'as the service' : pool.notice_ms === 0 ? 'none' : duration(pool.notice_ms), 'before a rival takes a node')}
        ${figure('Free', count('free'))}${figure('Held', count('held'))}
        ${figure('Quarantined', count('quarantined'))}${figure('Unreachable', count('unreachable'))}
      </dl>
      ${this.session.site ? nothing : this.terms(pool)}
      <section class="sheet" aria-labelledby="nodes"><div class="sheet-head"><h2 id="nodes">Nodes</h2>
        <button type="button" class="quiet small" @click=${() => this.refresh()}>Read again</button></div>
        <bourse-table caption="Nodes" ?search=${nodes.length > 8} ?more=${Boolean(next)} @more=${() => this.more()} .rows=${nodes}
          .key=${(/** @type {any} */ node) => `node-${node.node_id}`} .columns=${this.columns()}
          .empty=${empty('No machine yet', html`Machines come in with <code>bourse admin nodes add</code>.`)}></bourse-table>
      </section>`;
  }

  /** An operator of one site keeps its machines, not the terms of its markets. @param {any} pool */
  terms(pool) {
    return html`<form class="sheet" @submit=${onSubmit(() => this.save(pool))}><h2>Terms</h2>
      <div class="fields-row">
        ${field(this.form, { name: 'reserve_price_per_gpu_hour', label: 'Reserve price', type: 'number', unit: '$ per GPU-hour', step: '0.01', required: true, hint: 'Nothing is sold below it.' })}
        ${field(this.form, { name: 'max_price_cap_per_gpu_hour', label: 'Highest price', type: 'number', unit: '$ per GPU-hour', step: '0.01', required: true, hint: 'No bid may name more.' })}
        ${field(this.form, { name: NOTICE, label: 'Notice', type: 'number', unit: 'ms', min: 0, max: 3_600_000, step: 1, hint: 'How long before a node goes to a rival its holder is told; 0: not at all. Empty: as the service has it (market.notice).' })}
      </div>
      ${field(this.form, { name: 'self_service', label: 'Members create clusters here by themselves', type: 'checkbox' })}
      ${field(this.form, { name: 'swaps_enabled', label: 'Nodes can be swapped', type: 'checkbox' })}
      ${field(this.form, { name: 'detector_armed', label: 'Clusters are told when the site has no capacity', type: 'checkbox' })}
      ${formFault(this.form)}
      <div class="actions">${submitButton(this.form, 'Save terms')}</div>
    </form>`;
  }

  /** @param {any} pool */
  async save(pool) {
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
    const saved = await this.form.submit(() => call('updatePool', { path: { pool: pool.name }, body: /** @type {any} */ (body) }));
    if (saved) {
      this.begin(saved);
      this.data = { ...this.data, pool: saved };
      toast('The terms are saved');
    }
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
      { title: 'Actions', isAction: true, cell: (node) => this.nodeActions(node) },
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
          : html`<p>Whoever holds it keeps it. It is granted to nobody else until it is uncordoned.</p>`,
        action: node.cordoned ? 'Uncordon' : 'Cordon',
        work: () => call('updateNode', { path, body: { cordoned: !node.cordoned } }),
      })}>${node.cordoned ? 'Uncordon' : 'Cordon'}</button>
      <button type="button" class="quiet tiny" aria-label=${`Retire ${node.node_id}`} @click=${() => this.ask({
        title: `Retire ${node.node_id}?`,
        text: html`<p>${node.cluster ? html`<strong>It is taken from ${node.cluster} and its data is lost.</strong> ` : nothing}It leaves the pool for good.</p>`,
        action: 'Retire',
        danger: true,
        typed: node.node_id,
        work: () => call('retireNode', { path }),
      })}>Retire</button>`;
  }

  /** @param {import('../components/dialog.js').Question} question */
  async ask(question) {
    if (await confirm(question)) {
      await this.refresh();
    }
  }
}

customElements.define('bourse-pool', Pool);
export default Pool;
