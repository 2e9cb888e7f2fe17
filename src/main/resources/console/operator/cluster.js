import { html, nothing } from 'lit';
import { OperatorPage } from '../lib/operator-page.js';
import { call } from '../lib/client.js';
import { dollars } from '../lib/format.js';
import { badge, empty, figure } from '../components/parts.js';
import '../components/table.js';

/** One cluster as operators see it: what it holds, and what they let it do. */
class Cluster extends OperatorPage {
  /** @override */
  get heading() {
    return this.params.cluster;
  }

  get path() {
    return { cluster: this.params.cluster };
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    return call('readCluster', { path: this.path, signal });
  }

  /** @override */
  view(/** @type {any} */ cluster) {
    const { declared } = cluster;
    const nodes = cluster.nodes ?? [];
    return html`
      <p class="muted"><a href=${`/operator/organizations/${cluster.org}`}>${cluster.org}</a> · ${cluster.kind} ·
        <a href=${`/operator/pools/${cluster.pool}`}>${cluster.pool}</a> ${cluster.retired_at ? badge('retired') : nothing}</p>
      <dl class="figures-row">
        ${figure('Wants', declared ? `${declared.max_gpus} GPUs` : 'nothing', declared ? `at most ${dollars(declared.max_price_per_gpu_hour)}, by ${declared.updated_by}` : nothing)}
        ${figure('Nodes held', cluster.held_nodes)}${figure('Nodes pending', cluster.pending)}
        ${figure('Highest price', dollars(cluster.effective_max_price_cap_per_gpu_hour))}
        ${figure('Hold', cluster.billing_hold ? badge(cluster.billing_hold.stage, 'bad') : badge('none', 'good'), cluster.billing_hold?.reason ?? nothing)}
      </dl>
      <section class="sheet" aria-labelledby="may"><h2 id="may">What it may do</h2>
        ${this.toggle('Capacity writes', cluster.writes_armed, { writes_armed: !cluster.writes_armed }, 'Its organization declares and swaps.', 'Every capacity write is answered 503; what it holds stays.')}
        ${this.toggle('Maintenance', cluster.maintenance, { maintenance: !cluster.maintenance }, 'Swaps are refused, as the cluster is worked on.', 'Nothing is held back.')}
      </section>
      <section class="sheet" aria-labelledby="nodes"><h2 id="nodes">Nodes</h2>
        <bourse-table caption="Nodes" .rows=${nodes} .key=${(/** @type {any} */ node) => `node-${node.node_id ?? node.public_ip}`} .columns=${this.columns(cluster)}
          .empty=${empty('It holds no node', 'What it is granted stands here.')}></bourse-table></section>`;
  }

  /** @param {string} title @param {boolean} isOn @param {Record<string, boolean>} body @param {string} on @param {string} off */
  toggle(title, isOn, body, on, off) {
    return html`<div class="sheet-head"><p><b>${title}</b> ${badge(isOn ? 'on' : 'off', isOn ? 'good' : 'calm')}<br><span class="muted">${isOn ? on : off}</span></p>
      ${this.ifWriting(() => html`<button type="button" class="quiet small" aria-label=${`Turn ${isOn ? 'off' : 'on'} ${title.toLowerCase()}`} @click=${() => this.ask({
        title: `Turn ${title.toLowerCase()} ${isOn ? 'off' : 'on'} for ${this.params.cluster}?`,
        text: html`<p>${isOn ? off : on}</p>`,
        action: `Turn ${isOn ? 'off' : 'on'}`,
        work: () => call('updateCluster', { path: this.path, body: /** @type {any} */ (body) }),
      })}>Turn ${isOn ? 'off' : 'on'}</button>`)}</div>`;
  }

  /** @param {any} cluster @returns {import('../components/table.js').Column[]} */
  columns(cluster) {
    const pins = cluster.pins ?? [];
    return [
      { title: 'Node', value: (node) => node.node_id, cell: (node) => html`<span class="mono">${node.node_id ?? '–'}</span>` },
      { title: 'Address', value: (node) => node.public_ip, cell: (node) => html`<span class="mono">${node.public_ip ?? '–'}</span> ${pins.includes(node.public_ip) ? badge('pinned', 'warn') : nothing}` },
      { title: 'State', value: (node) => node.state, cell: (node) => badge(node.state ?? 'held', node.state === 'active' ? 'good' : 'calm') },
      { title: 'Actions', isAction: true, cell: (node) => this.ifWriting(() => html`${node.public_ip ? this.pin(node.public_ip, pins.includes(node.public_ip)) : nothing}
          ${node.node_id ? html`<button type="button" class="quiet tiny" aria-label=${`Evict ${node.node_id}`} @click=${() => this.evict(node.node_id)}>Evict</button>` : nothing}`) },
    ];
  }

  /** @param {string} address @param {boolean} isPinned */
  pin(address, isPinned) {
    const path = { ...this.path, public_ip: address };
    return html`<button type="button" class="quiet tiny" aria-label=${`${isPinned ? 'Unpin' : 'Pin'} ${address}`} @click=${() => this.ask({
      title: `${isPinned ? 'Unpin' : 'Pin'} ${address}?`,
      text: isPinned ? html`<p>Rivals may take it again, and it may be swapped.</p>` : html`<p>No rival takes it and nobody swaps it until it is unpinned.</p>`,
      action: isPinned ? 'Unpin' : 'Pin',
      work: () => call(isPinned ? 'unpinNode' : 'pinNode', { path }),
    })}>${isPinned ? 'Unpin' : 'Pin'}</button>`;
  }
}

customElements.define('bourse-operator-cluster', Cluster);
export default Cluster;
