/** What the market will take of a cluster, and the price that keeps its nodes. */
import { html, nothing } from 'lit';
import { CallError, call } from './client.js';
import { dollars, lossTitle } from './format.js';

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
 * What the market takes and what keeps it, in words; null for what does not happen.
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
