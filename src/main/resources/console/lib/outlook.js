/** What a cluster will lose while nobody bids anew, and the price that keeps it. */
import { html, nothing } from 'lit';
import { CallError, call } from './client.js';
import { dollars } from './format.js';
import { lossTitle } from './losses.js';

/**
 * Reads a cluster's outlook; null if the service is too busy for one, because a page is of use without it.
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

/** @param {any} outlook null for none */
export function outlookText(outlook) {
  const taken = (outlook?.losses ?? []).filter((/** @type {any} */ loss) => loss.by === 'market');
  const { keep_price_per_gpu_hour: keep, pending_nodes: pending, pending_price_per_gpu_hour: price } = outlook ?? {};
  return html`
    ${taken.length === 0
      ? nothing
      : html`<p class="notice warn" id="outlook">${lossTitle(taken, 'once they are active')}.
          ${keep === null ? 'No ceiling keeps all of them.' : `A ceiling of ${dollars(keep)} keeps all nodes.`}</p>`}
    ${pending > 0 && price !== null
      ? html`<p class="notice" id="outlook-pending">A ceiling of ${dollars(price)} wins all pending nodes at the next tick.</p>`
      : nothing}`;
}
