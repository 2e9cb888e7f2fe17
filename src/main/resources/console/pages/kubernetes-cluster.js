import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { CallError, call, soon } from '../lib/client.js';
import { dollars, whole } from '../lib/format.js';
import { bidQuestion, isRefusal } from '../lib/losses.js';
import { why, wishOfK8s } from '../lib/why.js';
import { at, badge, empty, figure, health } from '../components/parts.js';
import { ENDINGS, conditionFields, conditionLabel, conditionText, saidOf, unsaid } from '../components/conditions.js';
import { askFirst } from '../components/dialog.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import { toast } from '../components/toast.js';
import '../components/table.js';

/** The field that a refusal is about, where its words do not begin with one. */
const FIELD_OF_CODE = { 'price-above-maximum': 'limit_price_per_gpu_hour', 'price-precision': 'limit_price_per_gpu_hour', 'bid-too-low': 'limit_price_per_gpu_hour' };

/** A tick of most pools: what a bid brought is there by then. */
const AGAIN_MILLIS = 10_000;

/** One Kubernetes cluster: its bid, its nodes and its metrics. */
class KubernetesCluster extends Page {
  static properties = { ...Page.properties, theirs: { state: true } };

  constructor() {
    super();
    /** @type {Form | null} */
    this.form = null;
    this.version = 0;
    /** @type {any} what stands since somebody else changed it, while the form holds something else */
    this.theirs = null;
    /** @type {AbortController | null} */
    this.sending = null;
    /** What the form held when it was sent, and of which cluster. */
    this.sent = '';
  }

  /** @override */
  get heading() {
    return this.params.cluster;
  }

  connectedCallback() {
    super.connectedCallback();
    this.atEnd(() => this.sending?.abort());
    this.every(AGAIN_MILLIS, () => this.refresh());
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const [cluster, metrics, outlook] = await Promise.all([
      call('readK8sCluster', { path: { name: this.params.cluster }, signal }),
      call('readK8sMetrics', { query: { cluster: this.params.cluster }, signal }),
      call('readSpendLimit', { signal }),
    ]);
    this.follow(cluster);
    return { cluster, metrics, outlook };
  }

  /** The form goes with the state for as long as nobody has typed into it. @param {any} cluster */
  follow(cluster) {
    const standing = typed(cluster);
    if (!this.form) {
      this.form = new Form(this, standing);
      this.version = cluster.version;
    } else if (cluster.version !== this.version && !this.isTouched()) {
      this.form.reset(standing);
      this.version = cluster.version;
    }
  }

  isTouched() {
    const { form, data } = this;
    if (!form || !data) {
      return false;
    }
    const standing = typed(data.cluster);
    return form.values.limit_price_per_gpu_hour !== standing.limit_price_per_gpu_hour ||
      form.values.max_gpus !== standing.max_gpus ||
      Object.keys(saidOf(form.values)).length > 0;
  }

  /** The form as it is sent. */
  body() {
    const { values } = /** @type {Form} */ (this.form);
    return {
      cluster: this.data.cluster.cluster,
      limit_price_per_gpu_hour: values.limit_price_per_gpu_hour === '' ? NaN : Number(values.limit_price_per_gpu_hour),
      // An empty size keeps the one that stands.
      ...(values.max_gpus === '' ? {} : { max_gpus: Number(values.max_gpus) }),
      expected_version: this.version,
      ...saidOf(values),
    };
  }

  /** What the form holds, and of which cluster. */
  get typed() {
    return JSON.stringify([this.params.cluster, this.form?.values]);
  }

  /**
   * Sends the bid, after a question if something is lost by it. The cluster is read before the question, and again right
   * before the bid is sent.
   */
  async bid() {
    const form = /** @type {Form} */ (this.form);
    if (form.busy) {
      return;
    }
    if (this.data.cluster.bid && !this.isTouched()) {
      toast('This is in force already');
      return;
    }
    const body = Object.freeze(this.body());
    const sending = new AbortController();
    this.sending = sending;
    this.sent = this.typed;
    await askFirst(
      { ask: (signal) => this.question(body, sending, signal), work: () => this.send(body, sending), form, fieldOfCode: FIELD_OF_CODE },
      sending.signal,
    );
  }

  /**
   * What to ask before a bid is sent; null if nothing is lost by it.
   * @param {any} body
   * @param {AbortController} sending
   * @param {AbortSignal} signal
   */
  async question(body, sending, signal) {
    const { now, failure } = await this.lookAgain(signal);
    if (!sending.signal.aborted && this.typed !== this.sent) {
      toast('The form changed during the check. Nothing was bid.');
      sending.abort();
    }
    if (!sending.signal.aborted && now.version !== body.expected_version) {
      this.theirs = now;
      sending.abort();
    }
    sending.signal.throwIfAborted();
    return bidQuestion(now, body, failure);
  }

  /** The cluster as it is; as it was shown last, and why, if it cannot be read now. @param {AbortSignal} signal */
  async lookAgain(signal) {
    const { cluster } = this.data;
    try {
      return { now: await call('readK8sCluster', { path: { name: cluster.cluster }, signal: soon(signal), quiet: true }), failure: null };
    } catch (failure) {
      if (signal.aborted || isRefusal(failure)) {
        throw failure;
      }
      return { now: { ...cluster, version: this.version }, failure };
    }
  }

  /** @param {any} body @param {AbortController} sending */
  async send(body, sending) {
    try {
      const state = await call('writeBid', { body });
      if (this.typed === this.sent) {
        this.form?.reset(typed(state));
      }
      this.version = state.version;
      this.theirs = null;
      toast('The bid counts from the next tick on');
      this.refresh();
    } catch (failure) {
      if (failure instanceof CallError && failure.code === 'version-mismatch') {
        this.theirs = await call('readK8sCluster', { path: { name: body.cluster } });
        sending.abort();
      }
      throw failure;
    }
  }

  takeTheirs() {
    this.form?.reset(typed(this.theirs));
    this.version = this.theirs.version;
    this.data = { ...this.data, cluster: this.theirs };
    this.theirs = null;
  }

  keepMine() {
    this.version = this.theirs.version;
    this.theirs = null;
    this.bid();
  }

  /** @override */
  view(/** @type {any} */ { cluster, metrics, outlook }) {
    const reason = why(wishOfK8s(cluster), outlook);
    const { pool } = cluster;
    return html`
      <p>${badge(reason.word, reason.tone)} <span class="muted">${reason.text}</span></p>
      <dl class="figures-row">
        ${figure('Held', whole(metrics.nodes_held), `nodes, ${whole(metrics.gpus)} GPUs`)}
        ${figure('Ready', whole(metrics.nodes_active), 'nodes')}
        ${figure('Pending', whole(metrics.nodes_pending), 'nodes')}
        ${ENDINGS.filter((name) => cluster.bid && cluster.bid[name] !== null).map((name) => figure(conditionLabel(name), conditionText(name, cluster.bid)))}
        ${figure('In use', metrics.utilisation === null ? '–' : `${Math.round(metrics.utilisation * 100)} %`, metrics.utilisation === null ? 'the provider does not tell' : 'of the held GPUs')}
      </dl>
      <div class="columns-2">
        <form class="sheet" aria-labelledby="bid" @submit=${onSubmit(() => this.bid())}>
          <h2 id="bid">Bid</h2>
          ${this.theirs ? this.conflict() : nothing}
          <div class="fields-row">
            ${field(/** @type {Form} */ (this.form), { name: 'limit_price_per_gpu_hour', label: 'Limit price', unit: '$ a GPU-hour', type: 'number', min: 0, step: '0.01', required: true, hint: `${dollars(pool.reserve_price_per_gpu_hour)} to ${dollars(pool.max_price_cap_per_gpu_hour)}` })}
            ${field(/** @type {Form} */ (this.form), { name: 'max_gpus', label: 'GPUs', type: 'number', min: 0, step: cluster.gpus_per_node, required: true, hint: `A multiple of ${cluster.gpus_per_node}; 0 gives all back` })}
          </div>
          ${conditionFields(/** @type {Form} */ (this.form), { names: ENDINGS, declared: cluster.bid, gpusPerNode: cluster.gpus_per_node })}
          ${formFault(/** @type {Form} */ (this.form))}
          <div class="actions">${submitButton(/** @type {Form} */ (this.form), 'Bid')}</div>
          ${cluster.bid ? html`<p class="muted small">Changed ${at(cluster.bid.updated_at, 'ago')} by <span class="mono">${cluster.bid.updated_by}</span></p>` : nothing}
        </form>
        <section class="sheet" aria-labelledby="pool">
          <h2 id="pool"><a href=${`/console/market?pool=${encodeURIComponent(pool.pool)}`}>${pool.pool}</a></h2>
          <dl class="figures-row">
            ${figure('Clears at', dollars(pool.clearing_price_per_gpu_hour), 'what holders pay')}
            ${figure('To be admitted', dollars(pool.admission_price_per_gpu_hour), 'takes a node now')}
          </dl>
        </section>
      </div>
      <bourse-table caption="Nodes" .columns=${NODES} .rows=${cluster.nodes} .key=${(/** @type {any} */ row) => `node-${row.name}`}
        .empty=${empty('It holds no node', 'What is granted is listed here, with until when no rival can take it.')}></bourse-table>`;
  }

  conflict() {
    const { theirs } = this;
    const mine = /** @type {Form} */ (this.form).values;
    return html`<div class="notice warn" role="alert">
      <p><strong>Somebody changed this bid</strong>${theirs.bid ? html` ${at(theirs.bid.updated_at, 'ago')} (${theirs.bid.updated_by})` : nothing}.</p>
      <p>Theirs: ${theirs.bid ? `${whole(theirs.bid.max_gpus)} GPUs at ${dollars(theirs.bid.limit_price_per_gpu_hour)}` : 'no bid'}.
        Yours: ${whole(Number(mine.max_gpus))} GPUs at ${dollars(Number(mine.limit_price_per_gpu_hour))}.</p>
      ${ENDINGS.map((name) => {
        const [inForce, wished] = [conditionText(name, theirs.bid), conditionText(name, theirs.bid, saidOf(mine))];
        return inForce === wished ? nothing : html`<p>${conditionLabel(name)}: ${inForce}; yours: ${wished}.</p>`;
      })}
      <div class="actions">
        <button type="button" class="small" @click=${() => this.keepMine()}>Bid mine over it</button>
        <button type="button" class="quiet small" @click=${() => this.takeTheirs()}>Take theirs</button>
      </div>
    </div>`;
  }
}

/** What the form holds of a cluster. @param {any} cluster */
function typed(cluster) {
  return {
    limit_price_per_gpu_hour: cluster.bid ? cluster.bid.limit_price_per_gpu_hour.toFixed(2) : '',
    max_gpus: cluster.bid ? String(cluster.bid.max_gpus) : '',
    ...unsaid(),
  };
}

/** @type {import('../components/table.js').Column[]} */
const NODES = [
  { title: 'Node', value: (row) => row.name, cell: (row) => html`<span class="mono">${row.name}</span>` },
  {
    title: 'State',
    value: (row) => row.state,
    cell: (row) => html`${badge(row.state, /** @type {any} */ ({ active: 'good', provisioning: 'calm', reclaiming: 'warn' })[row.state])}
      ${row.reclaim_at ? html`<span class="small">goes in <bourse-countdown until=${row.reclaim_at} over="a moment"></bourse-countdown></span>` : nothing}`,
  },
  { title: 'Health', value: (row) => row.health.state, cell: (row) => health(row.health) },
  { title: 'Granted', value: (row) => row.granted_at, cell: (row) => at(row.granted_at, 'ago') },
  {
    title: 'Protected for',
    value: (row) => row.protected_until,
    cell: (row) => html`<bourse-countdown until=${row.protected_until ?? ''} over="not protected"></bourse-countdown>`,
  },
];

customElements.define('bourse-kubernetes-cluster', KubernetesCluster);
export default KubernetesCluster;
