/** Operators' actions that take a node from its cluster. Each asks first and names the cluster. */
import { html, nothing } from 'lit';
import { call, soon } from './client.js';
import { count, dollars } from './format.js';
import { toast } from '../components/toast.js';

/** @typedef {import('../components/dialog.js').Task & {ask: NonNullable<import('../components/dialog.js').Task['ask']>}} Task */

/**
 * Returns the cluster that loses a node now.
 * @param {string} nodeId
 * @param {boolean} isOfSite whether the operator may not read clusters
 * @param {AbortSignal} signal
 */
async function readHolder(nodeId, isOfSite, signal) {
  const node = await call('readNode', { path: { node_id: nodeId }, signal: soon(signal) });
  const cluster = node.cluster && !isOfSite ? await call('readCluster', { path: { cluster: node.cluster }, signal: soon(signal) }) : null;
  return { node, cluster };
}

/** @param {any} node @param {any} cluster */
function loss(node, cluster) {
  if (!node.cluster) {
    return html`<p>No cluster holds it.</p>`;
  }
  if (node.state === 'reclaiming' || node.state === 'reimaging') {
    return html`<p>It is being taken back from <span class="mono">${node.cluster}</span> already.</p>`;
  }
  return html`<p><strong><span class="mono">${node.cluster}</span>${cluster ? html` of ${cluster.org}` : nothing} loses the node at once</strong>, with what is stored on it.
    ${cluster ? html`It holds ${count(cluster.held_nodes, 'node')}${cluster.declared ? html` and declares ${count(cluster.declared.max_gpus, 'GPU')} at ${dollars(cluster.declared.max_price_per_gpu_hour)}` : nothing}.` : nothing}</p>`;
}

/** @param {any} node */
function identity(node) {
  return JSON.stringify([node.cluster, node.state]);
}

/**
 * Takes a node from the cluster that holds it.
 * @param {string} nodeId
 * @param {boolean} isOfSite
 * @returns {Task}
 */
export function evictTask(nodeId, isOfSite) {
  /** @type {any} */
  let held;
  return {
    ask: async (signal) => {
      const { node, cluster } = await readHolder(nodeId, isOfSite, signal);
      held = node.cluster;
      return {
        title: `Evict ${nodeId}?`,
        text: html`${loss(node, cluster)}
          <p>The cluster goes on bidding and may get another node, or this one once it is clean. Cordon the node first to keep it out.</p>`,
        action: 'Evict',
        danger: true,
        fill: { name: 'reason', label: 'Reason', hint: 'It stands in the platform’s trail.' },
        losses: identity(node),
      };
    },
    // Refused if another cluster holds it by then.
    work: async (_, reason) => {
      await call('evictNode', { path: { node_id: nodeId }, body: { reason, ...(held ? { cluster: held } : {}) } });
      toast(`${nodeId} is taken back`);
    },
  };
}

/**
 * Retires a node for good.
 * @param {string} nodeId
 * @param {boolean} isOfSite
 * @returns {Task}
 */
export function retireTask(nodeId, isOfSite) {
  return {
    ask: async (signal) => {
      const { node, cluster } = await readHolder(nodeId, isOfSite, signal);
      return {
        title: `Retire ${nodeId}?`,
        text: html`${loss(node, cluster)}<p>It leaves the pool for good. The machine is not contacted: a tenant’s keys and sessions stay on it.</p>`,
        action: 'Retire',
        danger: true,
        typed: nodeId,
        losses: identity(node),
      };
    },
    work: async () => {
      await call('retireNode', { path: { node_id: nodeId } });
      toast(`${nodeId} is retired`);
    },
  };
}
