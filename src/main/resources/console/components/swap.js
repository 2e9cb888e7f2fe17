import { html } from 'lit';
import { confirm } from './dialog.js';

/**
 * Asks before a node is swapped, and swaps it.
 * @param {string} node its address or its name
 * @param {() => Promise<unknown>} work requests the swap
 * @returns {Promise<boolean>} whether the swap was requested
 */
export function confirmSwap(node, work) {
  return confirm({
    title: `Swap ${node} for another machine?`,
    text: html`<p>Another machine is granted first. Once it is active, ${node} is taken back and what is stored on it is lost.
      Without a replacement within an hour it stays.</p>`,
    action: 'Swap',
    danger: true,
    work,
  });
}
