/**
 * Describes what a declaration destroys: protection that ends, nodes that go, and when. The source is the preview of the
 * declaration; if the preview fails, the question shows the cluster's last known state. Also describes what the market will
 * take of a cluster without a change, by its outlook.
 */
import { html, nothing } from 'lit';
import { CallError } from './client.js';
import { clock, count, dollars, lossTitle, nodeName } from './format.js';

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
  return html`<ul class="plain mono">${nodes.map((node) => html`<li>${nodeName(node) ?? 'a node without an address yet'}</li>`)}</ul>`;
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
 * The ends that a body adds or makes tighter, a sentence each.
 * @param {any} before the standing declaration; null for none
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
  return nodes.map((node) => nodeName(node) ?? '').sort();
}

/** The ceiling of a declaration or a bid. @param {any} body */
function priceOf(body) {
  return body.max_price_per_gpu_hour ?? body.limit_price_per_gpu_hour;
}

/** @param {{allocations: any[]}} state */
function heldOf(state) {
  return state.allocations.filter((/** @type {any} */ one) => one.state !== 'reclaiming');
}

/** Whether a notice runs already and ends no later, so that a declaration does not cause it. @param {any} state @param {any} loss */
function isRunning(state, loss) {
  const held = state.allocations.find((/** @type {any} */ one) => nodeName(one) !== null && nodeName(one) === nodeName(loss));
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
        : `Declare ${count(body.max_gpus, 'GPU')} at ${dollars(priceOf(body))}?`,
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
  const isCheaper = before && priceOf(body) < before.max_price_per_gpu_hour;
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
 * The losses of an outlook and the ceiling that avoids them, in words; null for a sentence that does not apply.
 * @param {any} outlook
 * @param {number} pending nodes pending now; a grant may have come since the outlook was read
 */
export function outlookWords(outlook, pending) {
  const { losses, keep_price_per_gpu_hour: keep, pending_price_per_gpu_hour: price } = outlook;
  const taken = losses.filter(
    (/** @type {any} */ loss) => loss.by === 'market' && !(loss.reclaim_at && Date.parse(loss.reclaim_at) < Date.now()),
  );
  return {
    losses:
      taken.length === 0
        ? null
        : `${lossTitle(taken, `once ${taken.length === 1 ? 'it is' : 'they are'} active`)}. ${keep === null ? 'No ceiling keeps all of them.' : `A ceiling of ${dollars(keep)} keeps all nodes.`}`,
    pending:
      price === null || pending === 0 || (taken.length > 0 && keep !== null && keep >= price)
        ? null
        : `A ceiling of ${dollars(price)} wins all pending nodes at the next tick.`,
  };
}

/**
 * @param {any} outlook null for none
 * @param {number} pending as of `outlookWords`
 */
export function outlookText(outlook, pending) {
  const words = outlook && outlookWords(outlook, pending);
  return html`
    ${words?.losses ? html`<p class="notice warn" id="outlook">${words.losses}</p>` : nothing}
    ${words?.pending ? html`<p class="notice" id="outlook-pending">${words.pending}</p>` : nothing}`;
}
