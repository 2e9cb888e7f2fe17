/** The questions before an operator holds an organization, lifts its hold, or books or limits its money. */
import { html, nothing } from 'lit';
import { call, soon } from './client.js';
import { count, dollars, roughly } from './format.js';
import { readPages } from './lists.js';
import { amountInWords } from './words.js';
import { toast } from '../components/toast.js';

/**
 * The clusters of an organization that hold nodes, and how many nodes these are.
 * @param {string} org
 * @param {AbortSignal} signal
 */
async function readHoldings(org, signal) {
  const { rows, more } = await readPages(
    (after) => call('listClusters', { query: { org, limit: 500, after }, signal: soon(signal) }),
    (page) => page.clusters,
  );
  const holding = rows.filter((/** @type {any} */ cluster) => cluster.held_nodes > 0);
  const nodes = holding.reduce((/** @type {number} */ sum, /** @type {any} */ cluster) => sum + cluster.held_nodes, 0);
  const list = html`<ul class="plain">${holding.map((/** @type {any} */ cluster) => html`<li><span class="mono">${cluster.name}</span>: ${count(cluster.held_nodes, 'node')} in ${cluster.pool}</li>`)}</ul>`;
  const held = more ? `at least ${count(nodes, 'node')}: it has more clusters than the ${rows.length} counted` : count(nodes, 'node');
  return { mayHold: nodes > 0 || more, held, list, losses: [more, holding.map((/** @type {any} */ cluster) => [cluster.name, cluster.held_nodes])] };
}

/**
 * Describes the losses when an organization is retired.
 * @param {{org_id: string, display: string}} org
 * @param {AbortSignal} signal
 * @returns {Promise<import('../components/dialog.js').Asked>}
 */
export async function retireQuestion(org, signal) {
  const { mayHold, held, list, losses } = await readHoldings(org.org_id, signal);
  return {
    title: `Retire ${org.display}?`,
    text: html`<p><strong>All its tokens stop working, its members are signed out, its files are deleted, and its clusters release every node.</strong> Nothing of it can be changed any more.</p>
      ${mayHold ? html`<p>It holds ${held}:</p>${list}` : html`<p>It holds no node now.</p>`}`,
    action: 'Retire',
    danger: true,
    typed: org.org_id,
    losses: JSON.stringify(losses),
  };
}

/**
 * Reads what a hold takes from an organization, and answers the question to ask.
 * @param {{org_id: string, display: string}} org
 * @param {{stage: string, reason: string}} body as it will be sent
 * @param {AbortSignal} signal
 * @returns {Promise<import('../components/dialog.js').Asked>}
 */
export async function holdQuestion(org, body, signal) {
  const [{ mayHold, held, list, losses }, { operator_hold: standing }] = await Promise.all([
    readHoldings(org.org_id, signal),
    call('readBilling', { path: { org: org.org_id }, signal: soon(signal) }),
  ]);
  const isLoss = body.stage === 'enforce' && mayHold;
  return {
    title: standing ? `Change the hold of ${org.display}?` : `Put ${org.display} on hold?`,
    text: html`
      ${standing ? holdChange(standing, body) : nothing}
      <p>It is granted nothing any more and cannot swap. Its members read the reason: “${body.reason}”.</p>
      ${isLoss
        ? html`<p><strong>All nodes it holds are reclaimed</strong>, with all data on them: ${held}. Nodes of a paused pool are reclaimed when it resumes.</p>
            ${list}`
        : html`<p>${mayHold ? `It keeps its nodes and is billed for them: ${held}.` : 'It holds no node now.'}</p>`}`,
    action: isLoss ? 'Hold and reclaim' : standing ? 'Change hold' : 'Hold',
    danger: true,
    typed: isLoss ? org.org_id : undefined,
    losses: JSON.stringify([standing && [standing.stage, standing.reason], body.stage, isLoss ? losses : []]),
  };
}

/**
 * Describes the change from the present hold.
 * @param {{stage: string, reason: string}} standing
 * @param {{stage: string, reason: string}} body
 */
function holdChange(standing, body) {
  return html`<p>Stage: ${standing.stage === body.stage ? body.stage : html`<strong>from ${standing.stage} to ${body.stage}</strong>`}.
      ${standing.stage === 'enforce' && body.stage === 'notice' ? 'No more of its nodes are reclaimed for this hold.' : ''}
      Reason: ${standing.reason === body.reason ? 'unchanged' : html`from “${standing.reason}” to “${body.reason}”`}.</p>`;
}

/**
 * @param {string} org
 * @param {string} display
 * @returns {import('../components/dialog.js').Question}
 */
export function liftQuestion(org, display) {
  return {
    title: `Lift the operator’s hold of ${display}?`,
    text: html`<p>It can be granted nodes from the next tick on, and spends money then. A hold for money stays.</p>`,
    action: 'Lift the hold',
    work: async () => {
      await call('liftOrg', { path: { org } });
      toast(`The hold of ${display} is lifted`);
    },
  };
}

/**
 * Describes the effect of an operator's spend limit.
 * @param {string} org
 * @param {number} limit dollars a month
 * @param {any} billing as it is now
 * @returns {import('../components/dialog.js').Asked}
 */
export function limitQuestion(org, limit, billing) {
  const isUsed = limit * 1e6 <= billing.month_usage_micros;
  return {
    title: `Limit ${org} to ${dollars(limit)} a month?`,
    text: html`${sum(limit)}
      <p>${roughly(billing.month_usage_micros)} are used in ${billing.month}. ${isUsed
        ? billing.spend_limit_enforced
          ? html`<strong>It is granted nothing any more, and its nodes are reclaimed.</strong>`
          : 'The limit is reached, but spend limits are not enforced now.'
        : ''}</p>`,
    action: 'Set limit',
    danger: isUsed,
    losses: JSON.stringify([isUsed, billing.spend_limit_enforced]),
  };
}

/**
 * Describes the effect of a booking on the balance. A negative credit takes money.
 * @param {'creditBilling' | 'payBilling'} operation
 * @param {string} org
 * @param {number} amount dollars
 * @param {any} billing as it is now
 * @returns {import('../components/dialog.js').Asked}
 */
export function bookingQuestion(operation, org, amount, { balance_micros: balance }) {
  const after = balance + Math.round(amount * 1e6);
  const { title, text, action } = bookingWords(operation, amount, org);
  return {
    title,
    text: html`${sum(amount)}
      <p>${text} Its balance is ${roughly(balance)} now and ${roughly(after)} after it.
        ${after < 0 && after < balance ? html`<strong>A negative balance can put the organization on hold.</strong>` : nothing}</p>
      <p>An entry of the ledger cannot be deleted; another entry corrects it.</p>`,
    action,
    danger: amount < 0,
    losses: String(after < 0),
  };
}

/** An amount in words, below its digits in the title. @param {number} amount */
function sum(amount) {
  return html`<p><strong>${amountInWords(amount)}</strong></p>`;
}

/**
 * @param {'creditBilling' | 'payBilling'} operation
 * @param {number} amount
 * @param {string} org
 */
function bookingWords(operation, amount, org) {
  const sum = dollars(Math.abs(amount));
  if (operation === 'payBilling') {
    const minus = amount < 0 ? '-' : '';
    return { title: `Book a payment of ${minus}${sum} for ${org}?`, text: 'The organization paid this sum.', action: 'Book the payment' };
  }
  return amount < 0
    ? { title: `Debit ${org} ${sum}?`, text: 'A negative credit takes money from the organization.', action: `Debit ${sum}` }
    : { title: `Book a credit of ${sum} for ${org}?`, text: 'The organization gets this sum without a payment.', action: 'Book the credit' };
}
