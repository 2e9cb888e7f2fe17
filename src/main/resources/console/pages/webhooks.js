import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { at, empty } from '../components/parts.js';
import { edit, showSecret, state, withoutKey } from '../components/webhook.js';
import '../components/table.js';

/** Where the organization is told of what happens. */
class Webhooks extends Page {
  /** @override */
  get heading() {
    return 'Webhooks';
  }

  /** @override */
  headActions() {
    return !this.data || !this.data.available || this.data.endpoints.length >= this.data.max_endpoints
      ? nothing
      : html`<button type="button" id="add-webhook" @click=${() => this.add()}>Add an endpoint</button>`;
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    return call('listWebhooks', { signal });
  }

  /** @override */
  view(/** @type {any} */ { endpoints, available }) {
    return html`${available ? nothing : withoutKey('Webhooks')}
      <section class="sheet" aria-label="Webhook endpoints">
      <p class="muted">What happens is sent to these addresses, signed. See the <a href="/docs/guides/webhooks">guide</a>.</p>
      <bourse-table caption="Webhook endpoints" .rows=${endpoints} .key=${(/** @type {any} */ row) => row.endpoint_id} .columns=${this.columns()}
        .empty=${empty('No endpoint yet', 'A program of yours can be told of grants, notices, reclaims and more as they happen.',
          available ? html`<button type="button" @click=${() => this.add()}>Add an endpoint</button>` : nothing)}></bourse-table>
    </section>`;
  }

  /** @returns {import('../components/table.js').Column[]} */
  columns() {
    return [
      {
        title: 'Address',
        value: (row) => row.url,
        cell: (row) => html`<span><a class="mono" href=${`/console/webhooks/${encodeURIComponent(row.endpoint_id)}`}>${row.url}</a> <span class="faint">${row.description}</span></span>`,
      },
      { title: 'State', value: (row) => row.disabled_reason ?? '', cell: (row) => state(row) },
      { title: 'Told of', cell: (row) => html`<span class="mono">${row.kinds.join(' ')}</span>` },
      { title: 'Clusters', cell: (row) => (row.clusters ? row.clusters.join(', ') : html`<span class="faint">all</span>`) },
      { title: 'Made by', value: (row) => row.created_by, cell: (row) => html`<span><span class="mono">${row.created_by}</span> <span class="nowrap">${at(row.created_at, 'ago')}</span></span>` },
    ];
  }

  async add() {
    const made = await edit(null);
    if (made) {
      await showSecret(made);
      this.refresh();
    }
  }
}

customElements.define('bourse-webhooks', Webhooks);
export default Webhooks;
