import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { address, call } from '../lib/client.js';
import { micros, roughly, second, utc, whole } from '../lib/format.js';
import { setQuery } from '../lib/router.js';
import { at, empty, figure, money, tabs } from '../components/parts.js';
import { CLUSTER, HOURS, LEDGER, USED, gpuHours, statementColumns, statementSheet } from '../components/bills.js';
import { openDialog } from '../components/dialog.js';
import '../components/table.js';

const TABS = [
  { tab: '', text: 'This month' },
  { tab: 'lines', text: 'Usage by hour' },
  { tab: 'statements', text: 'Statements' },
  { tab: 'ledger', text: 'Ledger' },
  { tab: 'limit', text: 'Spend limit' },
];

/** What was used, what it costs, and every movement of money. */
class Billing extends Page {
  /** @override */
  get heading() {
    return 'Billing';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const tab = this.query.get('tab') ?? '';
    const reading = READ[tab] ?? READ[''];
    return { tab, ...(await reading(this.query, signal)) };
  }

  /** @override */
  view(/** @type {any} */ data) {
    const show = { lines: () => this.lines(data), statements: () => statements(data), ledger: () => this.ledger(data), limit: () => limit(data) }[
      /** @type {string} */ (data.tab)
    ];
    return html`
      ${tabs('Parts of billing', TABS.map((one) => ({
        href: one.tab ? `/console/billing?tab=${one.tab}` : '/console/billing',
        text: one.text,
        current: one.tab === data.tab,
      })))}
      ${show ? show() : month(data)}`;
  }

  /** @param {any} data */
  lines({ usage, clusters }) {
    const query = this.query;
    const asked = { cluster: query.get('cluster') ?? '', from: query.get('from') ?? '', to: query.get('to') ?? '' };
    return html`
      <form class="filters" aria-label="Which lines" @submit=${(/** @type {Event} */ e) => e.preventDefault()}>
        <div class="field"><label for="of-cluster">Cluster</label>
          <select id="of-cluster" @change=${(/** @type {Event} */ e) => setQuery({ cluster: valueOf(e) })}>
            <option value="" ?selected=${!asked.cluster}>All</option>
            ${clusters.map((/** @type {any} */ one) => html`<option value=${one.name} ?selected=${one.name === asked.cluster}>${one.name}</option>`)}
          </select></div>
        ${dayField('from', 'From', asked.from)}
        ${dayField('to', 'Before', asked.to)}
        <a class="button quiet" download href=${address('exportUsageCsv', { query: bounds(asked) })}>Download CSV</a>
      </form>
      <bourse-table caption="Usage by hour" .columns=${LINES} .rows=${usage.lines} .key=${(/** @type {any} */ row) => `line-${row.cluster}-${row.hour}`}
        ?more=${usage.more} @more=${() => this.moreLines(asked)}
        .empty=${empty('Nothing was used', 'An hour in which a cluster held an active node is one line.')}></bourse-table>`;
  }

  /** @param {any} asked */
  async moreLines(asked) {
    const { usage } = this.data;
    const next = await call('listUsage', { query: { ...bounds(asked), after: usage.next } });
    this.data = { ...this.data, usage: { ...next, lines: [...usage.lines, ...next.lines] } };
  }

  /** @param {any} data */
  ledger({ ledger }) {
    return html`<p class="muted">Every movement of the organization's money, the newest first.</p>
      <bourse-table caption="Ledger" .columns=${LEDGER} .rows=${ledger.transactions} .key=${(/** @type {any} */ row) => `transaction-${row.id}`}
        ?more=${ledger.more} @more=${() => this.moreLedger()}
        .empty=${empty('No money has moved', 'Payments, credits and usage are listed here.')}></bourse-table>`;
  }

  async moreLedger() {
    const { ledger } = this.data;
    const next = await call('listLedger', { query: { after: ledger.next } });
    this.data = { ...this.data, ledger: { ...next, transactions: [...ledger.transactions, ...next.transactions] } };
  }
}

/** What each part reads. @type {Record<string, (query: URLSearchParams, signal: AbortSignal) => Promise<any>>} */
const READ = {
  '': async (query, signal) => {
    const [balance, outlook, days] = await Promise.all([
      call('readBalance', { signal }),
      call('readSpendLimit', { signal }),
      call('listUsageDays', { query: { month: query.get('month') ?? undefined }, signal }),
    ]);
    return { balance, outlook, days };
  },
  lines: async (query, signal) => {
    const asked = { cluster: query.get('cluster') ?? '', from: query.get('from') ?? '', to: query.get('to') ?? '' };
    const [usage, page] = await Promise.all([
      call('listUsage', { query: bounds(asked), signal }),
      call('listConsoleClusters', { query: { limit: 500 }, signal }),
    ]);
    return { usage, clusters: page.clusters };
  },
  statements: async (query, signal) => {
    const wanted = query.get('month');
    const [all, one] = await Promise.all([
      call('listStatements', { signal }),
      wanted ? call('readStatement', { path: { month: wanted }, signal }) : null,
    ]);
    return { statements: all.statements, statement: one };
  },
  ledger: async (query, signal) => ({ ledger: await call('listLedger', { signal }), query }),
  limit: async (query, signal) => {
    const [outlook] = await Promise.all([call('readSpendLimit', { signal }), import('../components/spend-limit.js')]);
    return { outlook, query };
  },
};

/** @param {any} data */
function month({ balance, outlook, days }) {
  return html`
    <dl class="figures-row">
      ${figure('Balance', money(balance.balance_micros), balance.accrued_micros > 0 ? `${roughly(balance.accrued_micros)} of usage not posted yet` : nothing)}
      ${figure('This month', money(outlook.month_usage_micros), 'so far')}
      ${figure('Costs now', money(outlook.rate_micros_per_hour), 'an hour')}
      ${figure('At this rate', money(outlook.month_at_this_rate_micros), 'by the end of the month')}
      ${figure('Committed', money(outlook.committed_micros), 'to nodes that are still protected')}
    </dl>
    ${hold(balance)}
    ${balance.operator_hold
      ? html`<div class="notice bad" role="status" id="operator-hold">
          <p><strong>Held by an operator</strong> since ${at(balance.operator_hold.since)}: ${balance.operator_hold.reason}. ${balance.operator_hold.stage === 'enforce' ? 'All capacity is reclaimed.' : 'New capacity is paused.'}</p>
        </div>`
      : nothing}
    <div class="sheet-head"><h2>Usage by day, ${days.month}</h2></div>
    <bourse-table caption=${`Usage by day, ${days.month}`} .columns=${DAYS} .rows=${days.days} .key=${(/** @type {any} */ row) => `day-${row.day}-${row.cluster}`}
      ?search=${days.days.length > 8} .empty=${empty('Nothing was used this month', 'A node is billed from when it can be used until it is given back.')}></bourse-table>
    ${outlook.clusters.length === 0
      ? nothing
      : html`<div class="sheet-head"><h2>What clusters cost an hour</h2></div>
        <bourse-table caption="What clusters cost an hour" .columns=${RATES} .rows=${outlook.clusters} .key=${(/** @type {any} */ row) => `rate-${row.cluster}`}></bourse-table>`}`;
}

/** @param {any} balance */
function hold(balance) {
  const { hold } = balance;
  if (!hold) {
    return nothing;
  }
  const reason = hold.reason === 'balance' ? 'the balance has run out' : 'the monthly spend limit is reached';
  const what = {
    grace: 'Nothing is paused yet.',
    notice: 'New capacity is paused; then all of it is reclaimed.',
    enforce: 'All capacity is reclaimed.',
  }[/** @type {string} */ (hold.stage)];
  return html`<div class="notice ${hold.enforced ? 'bad' : 'warn'}" role="status">
    <p><strong>${hold.stage}</strong> since ${at(hold.since)}, because ${reason}. ${hold.enforced ? what : 'It is recorded and not acted upon.'}</p>
  </div>`;
}

/** @param {any} data */
function statements({ statements, statement }) {
  return html`
    ${statement
      ? statementSheet(statement, html`<a class="button quiet small" download href=${address('exportStatementCsv', { path: { month: statement.month } })}>Download CSV</a>`)
      : nothing}
    <bourse-table caption="Statements" .columns=${statementColumns('/console/billing?tab=statements')} .rows=${statements} .key=${(/** @type {any} */ row) => `statement-${row.month}`}
      .empty=${empty('No statement yet', 'Each month in which money moves has one.')}></bourse-table>`;
}

/** @param {any} data */
function limit({ outlook }) {
  return html`<bourse-spend-limit .outlook=${outlook}></bourse-spend-limit>`;
}

/** @param {any} line */
async function showWorking(line) {
  const working = await call('readUsageWorking', { query: { cluster: line.cluster, hour: line.hour } });
  await openDialog(
    (close) => html`<h2>${line.cluster}, ${at(line.hour)}</h2>
      <p class="muted">Over each stretch in which nothing changed: GPUs × time × the lower of the clearing price and the ceiling. All of it is
      added up and rounded down once.</p>
      <bourse-table caption="Stretches of the hour" .columns=${SPANS} .rows=${working.spans} .empty=${empty('Nothing was billed', '')}></bourse-table>
      <p>${whole(working.cent_gpu_millis)} cent × GPU-milliseconds ÷ 360 = <strong>${micros(working.amount_micros)}</strong></p>
      <div class="actions"><button type="button" class="quiet" @click=${() => close()}>Close</button></div>`,
    { wide: true },
  );
}

/** @param {string} time */
function moment(time) {
  return html`<time datetime=${time} title=${utc(time)}>${second(time)}</time>`;
}

/** @param {{cluster: string, from: string, to: string}} asked days of the filter as moments in UTC */
function bounds({ cluster, from, to }) {
  return {
    cluster: cluster || undefined,
    from: from ? `${from}T00:00:00Z` : undefined,
    to: to ? `${to}T00:00:00Z` : undefined,
  };
}

/** @param {Event} event */
function valueOf(event) {
  return /** @type {HTMLInputElement} */ (event.target).value;
}

/**
 * @param {string} name
 * @param {string} label
 * @param {string} value
 */
function dayField(name, label, value) {
  return html`<div class="field"><label for=${`day-${name}`}>${label} (UTC)</label>
    <input type="date" id=${`day-${name}`} .value=${value} @change=${(/** @type {Event} */ e) => setQuery({ [name]: valueOf(e) })}></div>`;
}

/** @type {import('../components/table.js').Column[]} */
const DAYS = [{ title: 'Day (UTC)', value: (row) => row.day, cell: (row) => html`<span class="figures">${row.day}</span>` }, CLUSTER, ...USED];

/** @type {import('../components/table.js').Column[]} */
const LINES = [
  ...HOURS,
  {
    title: 'Actions',
    isAction: true,
    cell: (row) => html`<button type="button" class="quiet tiny" aria-label=${`How ${row.cluster} at ${row.hour} comes about`} @click=${() => showWorking(row)}>How?</button>`,
  },
];

/** @type {import('../components/table.js').Column[]} */
const RATES = [
  CLUSTER,
  { title: 'Pool', value: (row) => row.pool, cell: (row) => row.pool },
  { title: 'Active GPUs', numeric: true, value: (row) => row.active_gpus, cell: (row) => whole(row.active_gpus) },
  { title: 'Costs now', numeric: true, value: (row) => row.rate_micros_per_hour, cell: (row) => money(row.rate_micros_per_hour) },
  { title: 'At most', numeric: true, value: (row) => row.most_micros_per_hour, cell: (row) => html`<div>${money(row.most_micros_per_hour)} <span class="faint small">${whole(row.max_gpus)} GPUs</span></div>` },
];

/** @type {import('../components/table.js').Column[]} */
const SPANS = [
  { title: 'From', cell: (row) => moment(row.from) },
  { title: 'To', cell: (row) => moment(row.to) },
  { title: 'GPUs', numeric: true, cell: (row) => whole(row.gpus) },
  { title: 'Clearing', numeric: true, cell: (row) => `$${row.clearing_price_per_gpu_hour.toFixed(2)}` },
  { title: 'Ceiling', numeric: true, cell: (row) => `$${row.max_price_per_gpu_hour.toFixed(2)}` },
  { title: 'Rate', numeric: true, cell: (row) => `$${row.price_per_gpu_hour.toFixed(2)}` },
  { title: 'GPU-hours', numeric: true, cell: (row) => gpuHours(row.gpu_millis) },
];

customElements.define('bourse-billing', Billing);
export default Billing;
