/**
 * Describes what a declaration destroys: protection that ends, nodes that go, and when. The source is the preview of the
 * declaration; if the preview fails, the question shows the cluster's last known state.
 */
import { html, nothing } from 'lit';
import { CallError } from './client.js';
import { clock, count, dollars, lossTitle } from './format.js';

/** @typedef {import('../components/dialog.js').Asked} Asked */

/**
 * Whether the service would refuse the write for the same reason, so that nobody need be asked.
 * @param {unknown} failure
 */
export function isRefusal(failure) {
  return failure instanceof CallError && failure.status >= 400 && failure.status < 500 && ![408, 429].includes(failure.status);
}

/** @param {unknown} failure */
export function reasonOf(failure) {
  return failure instanceof CallError ? failure.message : 'The service did not answer in time.';
}

/** What a preview says is lost. @param {any} preview */
function lossesOf(preview) {
  /** @param {string} by */
  const by = (by) => preview.losses.filter((/** @type {any} */ loss) => loss.by === by);
  return { taken: by('write'), outbid: by('tick'), noticed: by('notice'), unprotected: preview.unprotected };
}

/**
 * "40 minutes of protection": the longest that is left of some nodes.
 * @param {any[]} nodes
 */
function protection(nodes) {
  const millis = Math.max(...nodes.map(({ protected_until: until }) => (until ? Date.parse(until) - Date.now() : 0)));
  return millis > 0 ? `${count(Math.max(1, Math.round(millis / 60_000)), 'minute')} of protection` : 'the protection';
}

/** @param {any[]} nodes */
function addresses(nodes) {
  return html`<ul class="plain mono">${nodes.map((node) => html`<li>${node.public_ip ?? 'a node without an address yet'}</li>`)}</ul>`;
}

/**
 * What a preview says is lost, a paragraph each; nothing if nothing is.
 * @param {any} preview
 */
export function lossText(preview) {
  const { taken, outbid, noticed, unprotected } = lossesOf(preview);
  return html`
    ${unprotected.length === 0
      ? nothing
      : html`<p>This ends ${protection(unprotected)}${unprotected.length === 1 ? '' : ` on ${count(unprotected.length, 'node')}`}.
          Rivals can take ${unprotected.length === 1 ? 'the node' : 'them'} from the next tick on.</p>`}
    ${taken.length === 0
      ? nothing
      : html`<p>${taken.length === 1 ? 'This node is' : 'These nodes are'} taken back at once. What is stored on
          ${taken.length === 1 ? 'it' : 'them'} is lost:</p>${addresses(taken)}`}
    ${outbid.length === 0
      ? nothing
      : html`<p>${lossTitle(outbid, 'at the next tick')}, with what is stored there:</p>${addresses(outbid)}`}
    ${noticed.length === 0
      ? nothing
      : html`<p>${lossTitle(noticed, `once ${noticed.length === 1 ? 'it is' : 'they are'} active`)}, when the notice is over:</p>
          ${addresses(noticed)}`}`;
}

/**
 * The ends that a body sets anew or tighter than they stand, a sentence each.
 * @param {any} before what stands; null if nothing does
 * @param {any} body
 * @param {number} nodes how many are held
 * @returns {string[]}
 */
function endsOf(before, body, nodes) {
  const ends = [];
  if (nodes > 0) {
    const subject = nodes === 1 ? 'The node is' : `All ${nodes} nodes are`;
    if (body.until && !(before?.until && Date.parse(before.until) <= Date.parse(body.until))) {
      ends.push(`${subject} given back at ${clock(body.until)}.`);
    }
    const { max_spend_usd: budget } = body;
    if (typeof budget === 'number' && !(before?.max_spend_usd != null && before.max_spend_usd <= budget)) {
      ends.push(`${subject} given back when ${dollars(budget)} is spent.`);
    }
  }
  return ends;
}

/** @param {string[]} ends */
function endText(ends) {
  return ends.length === 0 ? nothing : html`<p><strong>${ends.join(' ')}</strong> What is stored there is lost.</p>`;
}

/** @param {any[]} nodes */
function names(nodes) {
  return nodes.map(({ public_ip: address, name }) => name ?? address ?? '').sort();
}

/** @param {{allocations: any[]}} state */
function heldOf(state) {
  return state.allocations.filter((/** @type {any} */ one) => one.state !== 'reclaiming');
}

/** Whether a notice runs already and ends no later, so that a declaration does not cause it. @param {any} state @param {any} loss */
function isRunning(state, loss) {
  const held = state.allocations.find((/** @type {any} */ one) => one.public_ip !== null && one.public_ip === loss.public_ip);
  return Boolean(held?.reclaim_at && loss.reclaim_at && held.reclaim_at <= loss.reclaim_at);
}

/**
 * What to ask before a declaration is sent; null if nothing is lost by it.
 * @param {any} state the cluster as it is declared now
 * @param {any} body as it will be sent
 * @param {any} preview of exactly that body
 * @returns {Asked | null}
 */
export function declarationQuestion(state, body, preview) {
  const { taken, outbid, noticed, unprotected } = lossesOf(preview);
  const before = state.declared?.max_gpus ?? 0;
  const news = noticed.filter((/** @type {any} */ loss) => !isRunning(state, loss));
  const kept = heldOf(preview.state);
  const ends = endsOf(state.declared, body, kept.length);
  if (body.max_gpus >= before && taken.length + outbid.length + news.length + unprotected.length + ends.length === 0) {
    return null;
  }
  const isAll = body.max_gpus === 0;
  return {
    title: isAll
      ? `Release everything of ${state.cluster}?`
      : taken.length > 0
        ? `Release ${count(taken.length, 'node')}?`
        : `Declare ${count(body.max_gpus, 'GPU')} at ${dollars(body.max_price_per_gpu_hour)}?`,
    text: html`${lossText(preview)}${endText(ends)}
      ${body.max_gpus < before && taken.length === 0
        ? html`<p>${count(body.max_gpus, 'GPU')} ${body.max_gpus === 1 ? 'is' : 'are'} wanted instead of ${before}. No node is taken back for that.</p>`
        : nothing}`,
    action: isAll ? 'Release everything' : taken.length > 0 ? `Release ${count(taken.length, 'node')}` : 'Declare anyway',
    danger: true,
    // Without the times: that of the next tick moves with each tick.
    losses: JSON.stringify([names(taken), names(outbid), names(noticed), names(unprotected), ends, ends.length > 0 && names(kept)]),
  };
}

/**
 * What to ask before a declaration is sent whose preview failed.
 * @param {any} state the cluster as last told
 * @param {any} body as it will be sent
 * @param {unknown} failure of the preview
 * @returns {Asked}
 */
export function unseenQuestion(state, body, failure) {
  const before = state.declared;
  const held = heldOf(state);
  const surplus = held.length - Math.floor(body.max_gpus / state.gpus_per_node);
  const isCheaper = before && body.max_price_per_gpu_hour < before.max_price_per_gpu_hour;
  const ends = endsOf(before, body, Math.min(held.length, held.length - surplus));
  return {
    title: `Declare ${count(body.max_gpus, 'GPU')} without a preview?`,
    text: html`<p>The preview failed: ${reasonOf(failure)}</p>
      <p>${state.cluster} holds ${count(held.length, 'node')}${before ? html` and declares ${count(before.max_gpus, 'GPU')} at ${dollars(before.max_price_per_gpu_hour)}` : nothing}.</p>
      ${surplus > 0 ? html`<p><strong>${count(surplus, 'node')} ${surplus === 1 ? 'is' : 'are'} taken back at once</strong>, with what is stored there.</p>` : nothing}
      ${endText(ends)}
      ${isCheaper && held.length > 0 ? html`<p>The lower ceiling can end protection, and rivals can take nodes from the next tick on.</p>` : nothing}`,
    action: 'Declare anyway',
    danger: true,
    losses: JSON.stringify(['no preview', names(held), surplus, ends, isCheaper]),
  };
}

/**
 * What to ask before a bid of a Kubernetes cluster is sent; null if nothing is lost by it.
 * @param {any} cluster as it is, or as last told if the read failed
 * @param {any} body as it will be sent
 * @param {unknown} [failure] of the read
 * @returns {Asked | null}
 */
export function bidQuestion(cluster, body, failure) {
  const before = cluster.bid;
  const standing = before?.max_gpus ?? 0;
  const gpus = body.max_gpus ?? standing;
  const lost = cluster.planned_release.slice(0, Math.max(0, cluster.planned_release.length - Math.floor(gpus / cluster.gpus_per_node)));
  const kept = cluster.nodes.filter((/** @type {any} */ node) => node.state !== 'reclaiming' && !lost.includes(node.name));
  const exposed = before && body.limit_price_per_gpu_hour < before.limit_price_per_gpu_hour ? kept : [];
  // A node that is being prepared has no protection yet, and would get it when it is active.
  const shielded = exposed.filter((/** @type {any} */ node) => node.state === 'provisioning' || Date.parse(node.protected_until ?? '') > Date.now());
  const ends = endsOf(before, body, kept.length);
  if (!failure && lost.length + exposed.length + ends.length === 0 && gpus >= standing) {
    return null;
  }
  return {
    title: gpus < standing
      ? `Lower ${cluster.cluster} to ${count(gpus, 'GPU')}?`
      : `Bid ${count(gpus, 'GPU')} at ${dollars(body.limit_price_per_gpu_hour)}?`,
    text: html`${failure ? html`<p>The cluster cannot be read now: ${reasonOf(failure)} This is its state at the last read.</p>` : nothing}
      ${exposed.length > 0
        ? html`<p>${shielded.length > 0 ? `The lower limit price ends up to ${protection(shielded)} on ${count(shielded.length, 'node')}. ` : nothing}
            At the lower limit price rivals can take ${count(exposed.length, 'node')} from the next tick on.</p>`
        : nothing}
      ${endText(ends)}
      ${lost.length > 0
        ? html`<p>${lost.length === 1 ? 'This node is' : 'These nodes are'} taken back at once. What is stored on ${lost.length === 1 ? 'it' : 'them'} is lost:</p>
            <ul class="plain mono">${lost.map((/** @type {string} */ name) => html`<li>${name}</li>`)}</ul>`
        : html`<p>No node is taken back at once.</p>`}`,
    action: gpus < standing ? 'Lower the bid' : 'Bid anyway',
    danger: true,
    losses: JSON.stringify([Boolean(failure), [...lost].sort(), names(exposed), names(shielded), ends, ends.length > 0 && names(kept)]),
  };
}
