/** How usage, statements and ledgers are shown: to members their own, to operators those of every organization. */
import { html, nothing } from 'lit';
import { at, badge, empty, figure, money } from './parts.js';
import './table.js';

/** @typedef {import('./table.js').Column} Column */

const HOUR_MILLIS = 3_600_000;

/** @param {number} gpuMillis */
export function gpuHours(gpuMillis) {
  return (gpuMillis / HOUR_MILLIS).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

/** @type {Column[]} */
export const USED = [
  { title: 'GPU-hours', numeric: true, value: (row) => row.gpu_millis, cell: (row) => gpuHours(row.gpu_millis) },
  { title: 'Amount', numeric: true, value: (row) => row.amount_micros, cell: (row) => money(row.amount_micros) },
];

/** @type {Column} */
export const CLUSTER = { title: 'Cluster', value: (row) => row.cluster, cell: (row) => row.cluster };

/** Lines of usage. @type {Column[]} */
export const HOURS = [
  { title: 'Hour', value: (row) => row.hour, cell: (row) => at(row.hour) },
  CLUSTER,
  ...USED,
  { title: 'Posted', value: (row) => String(row.posted), cell: (row) => (row.posted ? badge('final', 'good') : badge('may grow')) },
];

/** @type {Column[]} */
export const LEDGER = [
  { title: 'When', value: (row) => row.at, cell: (row) => at(row.at) },
  { title: 'For', value: (row) => row.effective_at, cell: (row) => at(row.effective_at) },
  { title: 'Kind', value: (row) => row.kind, cell: (row) => html`<div>${row.kind} ${row.reverses === null ? nothing : html`<span class="faint small">gives back ${row.reverses}</span>`}</div>` },
  { title: 'Memo', value: (row) => row.memo, cell: (row) => html`<div>${row.memo} <span class="faint small">${row.actor}</span></div>` },
  { title: 'Amount', numeric: true, value: (row) => row.amount_micros, cell: (row) => money(row.amount_micros) },
];

/**
 * @param {string} address of the page, with a query, to which the month is added
 * @returns {Column[]}
 */
export function statementColumns(address) {
  return [
    {
      title: 'Month',
      value: (row) => row.month,
      cell: (row) => html`<div><a href=${`${address}&month=${row.month}`}>${row.month}</a> ${row.final ? nothing : badge('not final')}</div>`,
    },
    { title: 'Opening', numeric: true, value: (row) => row.opening_micros, cell: (row) => money(row.opening_micros) },
    { title: 'Usage', numeric: true, value: (row) => row.usage_micros, cell: (row) => money(-row.usage_micros) },
    { title: 'Credits', numeric: true, value: (row) => row.credit_micros, cell: (row) => money(row.credit_micros) },
    { title: 'Payments', numeric: true, value: (row) => row.payment_micros, cell: (row) => money(row.payment_micros) },
    { title: 'Closing', numeric: true, value: (row) => row.closing_micros, cell: (row) => money(row.closing_micros) },
  ];
}

/**
 * The statement of one month.
 * @param {any} one
 * @param {unknown} [action] beside its heading
 */
export function statementSheet(one, action = nothing) {
  return html`<section class="sheet" aria-labelledby="statement">
    <div class="sheet-head"><h2 id="statement">${one.month} ${one.final ? nothing : badge('not final')}</h2>${action}</div>
    <dl class="figures-row">
      ${figure('Opening', money(one.opening_micros))}
      ${figure('Usage', money(-one.usage_micros))}
      ${figure('Credits', money(one.credit_micros))}
      ${figure('Payments', money(one.payment_micros))}
      ${figure('Adjustments', money(one.adjustment_micros))}
      ${figure('Closing', money(one.closing_micros))}
    </dl>
    <bourse-table caption=${`Clusters of ${one.month}`} .columns=${[CLUSTER, ...USED]} .rows=${one.clusters} .empty=${empty('Nothing was used', '')}></bourse-table>
  </section>`;
}
