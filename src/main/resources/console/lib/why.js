/** Why a cluster has not all it asked for, in words, from what the interface serves. */
import { count, dollars, roughly } from './format.js';

/**
 * @typedef {object} Wish
 * @property {number | null} ceiling dollars a GPU-hour; null while nothing is declared
 * @property {number} wanted nodes declared
 * @property {number} pending nodes declared and not granted
 * @property {boolean} tooLow
 * @property {boolean | null} unavailable
 * @property {any} pool its prices
 * @property {any} hold the billing hold in force
 * @property {number} preparing nodes that are being prepared
 */

/**
 * @typedef {object} Spending
 * @property {boolean} enforced
 * @property {number | null} remaining_micros
 */

/** What a cluster wishes. @param {any} market what the list of clusters tells of it @returns {Wish} */
export function wishOfListed(market) {
  return {
    ceiling: market.max_price_per_gpu_hour,
    wanted: market.wanted_nodes,
    pending: market.pending_nodes,
    tooLow: market.bid_too_low,
    unavailable: market.capacity_unavailable,
    pool: market.prices,
    hold: market.billing_hold,
    preparing: market.preparing_nodes,
  };
}

/**
 * What keeps a cluster from what it wants.
 * @param {Wish} wish
 * @param {Spending | null} spending the organization's limit, as `readSpendLimit` tells it
 * @returns {{tone: 'good' | 'warn' | 'bad' | 'calm', word: string, text: string}}
 */
export function why(wish, spending) {
  const held = holdWords(wish.hold);
  if (wish.ceiling === null || wish.wanted === 0) {
    return { tone: 'calm', word: 'idle', text: held ?? 'Nothing is declared for it, so it costs nothing.' };
  }
  if (wish.pending === 0) {
    return wish.preparing > 0
      ? { tone: 'calm', word: 'preparing', text: `${count(wish.preparing, 'node')} of it ${wish.preparing === 1 ? 'is' : 'are'} being prepared; billing begins when it can be used.` }
      : { tone: held ? 'warn' : 'good', word: held ? 'on hold' : 'complete', text: held ?? 'It has all it asked for.' };
  }
  if (held && wish.hold.state === 'hold') {
    return { tone: 'bad', word: 'on hold', text: held };
  }
  return { tone: 'warn', word: `${count(wish.pending, 'node')} pending`, text: shortfall(wish, spending) };
}

/** @param {any} hold */
function holdWords(hold) {
  if (!hold) {
    return null;
  }
  if (hold.reason === 'operator') {
    return hold.stage === 'enforce'
      ? 'All capacity is reclaimed: an operator holds the organization.'
      : 'New capacity is paused: an operator holds the organization.';
  }
  const reason = hold.reason === 'spend-limit' ? 'the monthly spend limit is reached' : 'the balance has run out';
  if (hold.state === 'grace') {
    return `In grace, because ${reason}: nothing is paused yet.`;
  }
  return hold.stage === 'enforce'
    ? `All capacity is reclaimed, because ${reason}.`
    : `New capacity is paused, because ${reason}; then all of it is reclaimed.`;
}

/**
 * @param {Wish} wish
 * @param {Spending | null} spending
 */
function shortfall(wish, spending) {
  const { pool } = wish;
  const admission = pool.admission_price_per_gpu_hour;
  const ceiling = /** @type {number} */ (wish.ceiling);
  if (wish.unavailable) {
    return 'The pool has no machine for it at any price; the market looks again at each tick.';
  }
  if (wish.tooLow || (admission !== null && ceiling < admission)) {
    return admission === null
      ? `Your ceiling of ${dollars(ceiling)} is too low; nothing clears below ${dollars(pool.reserve_price_per_gpu_hour)}.`
      : `${rivals(pool)}${dollars(admission)} would be admitted at the next tick; your ceiling is ${dollars(ceiling)}.`;
  }
  if (spending?.enforced && spending.remaining_micros !== null && spending.remaining_micros !== undefined) {
    return spending.remaining_micros === 0
      ? 'The monthly spend limit leaves nothing to commit to.'
      : `The monthly spend limit leaves ${roughly(spending.remaining_micros)} to commit to; a node that costs more than that waits.`;
  }
  if (admission === null) {
    return 'No price takes a node now: those there are, are protected or pinned.';
  }
  return 'Your ceiling is enough; it waits for the next tick, or for a machine that is being cleaned.';
}

/** @param {any} pool */
function rivals(pool) {
  return pool.clearing_price_per_gpu_hour === null
    ? ''
    : `Rivals bid ${dollars(pool.clearing_price_per_gpu_hour)} and more; `;
}
