import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { navigate } from '../lib/router.js';
import { at, badge, empty } from '../components/parts.js';
import { confirm } from '../components/dialog.js';
import { toast } from '../components/toast.js';
import { edit, showSecret, state } from '../components/webhook.js';
import '../components/table.js';

/** How often what has come of deliveries that wait is read anew. */
const AGAIN_MILLIS = 10_000;

/** One endpoint and what was sent to it. */
class Webhook extends Page {
  /** @override */
  get heading() {
    return 'Webhook';
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.every(AGAIN_MILLIS, () => {
      if (this.data?.deliveries.some((/** @type {any} */ one) => one.state === 'pending')) {
        this.refresh();
      }
    });
  }

  get path() {
    return { endpoint_id: this.params.endpoint };
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const [endpoint, page] = await Promise.all([
      call('readWebhook', { path: this.path, signal }),
      call('listWebhookDeliveries', { path: this.path, query: { limit: 50 }, signal }),
    ]);
    return { endpoint, deliveries: page.deliveries, next: page.next };
  }

  async more() {
    const { endpoint, deliveries, next } = this.data;
    const page = await call('listWebhookDeliveries', { path: this.path, query: { limit: 50, after: next } });
    this.data = { endpoint, deliveries: [...deliveries, ...page.deliveries], next: page.next };
  }

  /** @override */
  headActions() {
    const endpoint = this.data?.endpoint;
    return endpoint
      ? html`<button type="button" @click=${() => this.test()}>Send a test</button>
          <button type="button" class="quiet" @click=${() => this.change(endpoint)}>Change</button>
          <button type="button" class="quiet" @click=${() => this.enable(endpoint)}>${endpoint.enabled ? 'Switch off' : 'Switch on'}</button>
          <button type="button" class="quiet" @click=${() => this.rotate()}>Rotate the secret</button>
          <button type="button" class="danger" @click=${() => this.forget(endpoint)}>Delete</button>`
      : nothing;
  }

  /** @override */
  view(/** @type {any} */ { endpoint, deliveries, next }) {
    return html`
      <section class="sheet" aria-label="The endpoint">
        <p><span class="mono">${endpoint.url}</span> ${state(endpoint)}</p>
        ${endpoint.description ? html`<p>${endpoint.description}</p>` : nothing}
        <p class="muted">${endpoint.format === 'slack' ? 'Receives Slack messages. ' : nothing}Told of <span class="mono">${endpoint.kinds.join(' ')}</span>${endpoint.clusters ? ` of ${endpoint.clusters.join(', ')}` : ''}.
          ${endpoint.disabled_at ? html`Switched off ${at(endpoint.disabled_at, 'ago')}.` : nothing}
          ${endpoint.old_secret_until ? html`The secret before signs too until ${at(endpoint.old_secret_until)}.` : nothing}</p>
      </section>
      <section class="sheet" aria-label="Deliveries">
        <bourse-table caption="Deliveries of the last seven days" ?more=${Boolean(next)} @more=${() => this.more()} .rows=${deliveries}
          .key=${(/** @type {any} */ row) => `delivery-${row.delivery_id}`} .columns=${this.columns()}
          .empty=${empty('Nothing was sent yet', 'Send a test to try the endpoint out.')}></bourse-table>
      </section>`;
  }

  /** @returns {import('../components/table.js').Column[]} */
  columns() {
    return [
      { title: 'Event', value: (row) => row.type, cell: (row) => html`<span title=${JSON.stringify(row.body)}>${row.type} <span class="faint mono">${row.message_id}</span></span>` },
      { title: 'Cluster', value: (row) => row.cluster, cell: (row) => row.cluster ?? html`<span class="faint">none</span>` },
      { title: 'State', value: (row) => row.state, cell: (row) => badge(row.state, row.state === 'delivered' ? 'good' : row.state === 'pending' ? 'calm' : 'bad') },
      { title: 'Attempts', numeric: true, value: (row) => row.attempts, cell: (row) => row.attempts },
      { title: 'What was wrong', cell: (row) => row.fault ?? html`<span class="faint">nothing</span>` },
      { title: 'Last attempt', value: (row) => row.last_attempt_at, cell: (row) => at(row.last_attempt_at, 'ago') },
      { title: 'Next attempt', value: (row) => row.next_attempt_at, cell: (row) => at(row.next_attempt_at, 'ago') },
      {
        title: 'Actions',
        isAction: true,
        cell: (row) => (row.state === 'pending'
          ? nothing
          : html`<button type="button" class="quiet tiny" aria-label=${`Send again ${row.message_id}`} @click=${() => this.resend(row)}>Send again</button>`),
      },
    ];
  }

  async test() {
    await this.send(() => call('testWebhook', { path: this.path }));
  }

  /** @param {any} delivery */
  async resend(delivery) {
    await this.send(() => call('resendWebhookDelivery', { path: { ...this.path, delivery_id: delivery.delivery_id } }));
  }

  /** Sends an event and says what came of it. @param {() => Promise<any>} work */
  async send(work) {
    try {
      const delivery = await work();
      toast(delivery.fault ? `It was not taken: ${delivery.fault}` : `It was taken with status ${delivery.response_status}.`);
    } catch (failure) {
      toast(/** @type {Error} */ (failure).message);
    }
    this.refresh();
  }

  /** @param {any} endpoint */
  async change(endpoint) {
    if (await edit(endpoint)) {
      toast('The endpoint is changed.');
      this.refresh();
    }
  }

  /** @param {any} endpoint */
  async enable(endpoint) {
    const done = await confirm({
      title: endpoint.enabled ? 'Switch the endpoint off?' : 'Switch the endpoint on?',
      text: endpoint.enabled ? html`<p>Nothing is sent to it any more, and what waits is given up.</p>` : html`<p>It is told of what happens from now on. What was given up can be sent again.</p>`,
      action: endpoint.enabled ? 'Switch off' : 'Switch on',
      work: () => call('changeWebhook', { path: this.path, body: { enabled: !endpoint.enabled } }),
    });
    if (done) {
      this.refresh();
    }
  }

  async rotate() {
    /** @type {any} */
    let rotated = null;
    const done = await confirm({
      title: 'Rotate the secret?',
      text: html`<p>The present one signs beside the new one for 24 hours. One from a rotation before ends at once.</p>`,
      action: 'Rotate',
      work: async () => {
        rotated = await call('rotateWebhookSecret', { path: this.path });
      },
    });
    if (done && rotated) {
      await showSecret(rotated);
      this.refresh();
    }
  }

  /** @param {any} endpoint */
  async forget(endpoint) {
    const done = await confirm({
      title: 'Delete the endpoint?',
      text: html`<p>Nothing is sent to <span class="mono">${endpoint.url}</span> any more, and what was sent is shown no longer.</p>`,
      action: 'Delete',
      danger: true,
      work: () => call('deleteWebhook', { path: this.path }),
    });
    if (done) {
      toast('The endpoint is deleted.');
      navigate('/console/webhooks');
    }
  }
}

customElements.define('bourse-webhook', Webhook);
export default Webhook;
