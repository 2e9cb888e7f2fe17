/** What the market will take of a cluster, and the price that keeps its nodes. */
import { html, nothing } from 'lit';
import { CallError, call } from './client.js';
import { dollars } from './format.js';
import { lossTitle } from './losses.js';

/**
 * Reads a cluster's outlook. Returns null if the service refuses it, because the page is useful without it.
 * @param {import('./client.js').Input<'readOutlook'>} options
 */
export async function readOutlook(options) {
  try {
    return await call('readOutlook', options);
  } catch (failure) {
    if (failure instanceof CallError) {
      return null;
    }
    throw failure;
  }
}

/**
 * @param {any} outlook null for none
 * @param {number} pending nodes pending now; a grant may have come since the outlook was read
 */
export function outlookText(outlook, pending) {
  if (!outlook) {
    return nothing;
  }
  const { losses, keep_price_per_gpu_hour: keep, pending_price_per_gpu_hour: price } = outlook;
  const taken = losses.filter(
    (/** @type {any} */ loss) => loss.by === 'market' && !(loss.reclaim_at && Date.parse(loss.reclaim_at) < Date.now()),
  );
  return html`
    ${taken.length === 0
      ? nothing
      : html`<p class="notice warn" id="outlook">${lossTitle(taken, `once ${taken.length === 1 ? 'it is' : 'they are'} active`)}.
          ${keep === null ? 'No ceiling keeps all of them.' : `A ceiling of ${dollars(keep)} keeps all nodes.`}</p>`}
    ${price === null || pending === 0 || (taken.length > 0 && keep !== null && keep >= price)
      ? nothing
      : html`<p class="notice" id="outlook-pending">A ceiling of ${dollars(price)} wins all pending nodes at the next tick.</p>`}`;
}
