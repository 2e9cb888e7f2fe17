import { html, nothing } from 'lit';
import { OperatorPage } from '../lib/operator-page.js';
import { CallError, call, isUnknownOutcome, request, soon } from '../lib/client.js';
import { micros } from '../lib/format.js';
import { at, badge, empty, figure, money, tabs } from '../components/parts.js';
import { askFirst, dialogHost, openDialog } from '../components/dialog.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import { toast } from '../components/toast.js';
import '../components/table.js';

const UNKNOWN_BOOKING =
  'No answer came, so it is unknown whether this was booked; the ledger shows it. You can press the button again: the same booking is made once.';

const OTHER_BOOKING =
  'An earlier booking, whose answer was lost, was made with another amount; the ledger shows it. Nothing was booked now. To book this amount, too, close this question and book again.';

const BOOKED_BEFORE = 'This was booked before, when the answer was lost. Nothing was booked now. To book the same amount once more, book again.';

/** Loaded when something is asked. */
const questions = () => import('../lib/organization-questions.js');

/** Loaded with the parts that show money. */
const bills = () => import('../components/bills.js');

const TABS = [
  { show: '', text: 'Money' },
  { show: 'ledger', text: 'Ledger' },
  { show: 'usage', text: 'Usage' },
  { show: 'statements', text: 'Statements' },
  { show: 'clusters', text: 'Clusters' },
  { show: 'members', text: 'Members' },
  { show: 'tokens', text: 'Tokens' },
];

/** @typedef {'creditBilling' | 'payBilling'} Booking */

/**
 * The idempotency keys of bookings that were sent and whose outcome is unknown, by organization and operation. They
 * outlive the page and a reload, because the operator may leave or reload it before the answer comes.
 */
const sentKeys = {
  /** @param {string} org @param {Booking} operation */
  place: (org, operation) => `bourse-booking-${org}-${operation}`,

  /** Returns the key of the booking that was sent last, or a new one. @param {string} org @param {Booking} operation */
  find: (org, operation) => sessionStorage.getItem(sentKeys.place(org, operation)) ?? crypto.randomUUID(),

  /** @param {string} org @param {Booking} operation @param {string} key */
  keep: (org, operation, key) => sessionStorage.setItem(sentKeys.place(org, operation), key),

  /** Forgets a key whose outcome is known; one that replaced it stays. @param {string} org @param {Booking} operation @param {string} key */
  drop(org, operation, key) {
    if (sentKeys.find(org, operation) === key) {
      sessionStorage.removeItem(sentKeys.place(org, operation));
    }
  },
};

/** One customer: what it owes and may spend, its clusters, members and tokens. */
class Organization extends OperatorPage {
  constructor() {
    super();
    this.limit = new Form(this, { limit_usd: '' });
    this.hold = new Form(this, { stage: 'notice', reason: '' });
    /** @type {{org: string, values: Record<string, string>} | null} the standing hold that the form was filled with */
    this.standing = null;
    this.money = new Form(this, { amount_usd: '', memo: '' });
  }

  /** @override */
  get heading() {
    return this.data?.org.display ?? this.params.org;
  }

  get tab() {
    return this.query.get('show') ?? '';
  }

  get path() {
    return { org: this.params.org };
  }

  /** @override */
  headActions() {
    return this.mayWrite && this.data && !this.data.org.retired_at
      ? html`<button type="button" class="quiet small" id="retire-org" @click=${() => this.retire()}>Retire</button>`
      : nothing;
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const { path, tab } = this;
    const org = await call('readOrg', { path, signal });
    if (tab === 'clusters') {
      return { org, tab, rows: (await call('listClusters', { query: { org: path.org, limit: 500 }, signal })).clusters };
    }
    if (tab === 'members') {
      return { org, tab, rows: (await call('listOrgMembers', { path, query: { limit: 500 }, signal })).members };
    }
    if (tab === 'tokens') {
      return { org, tab, rows: (await call('listOrgTokens', { path, query: { limit: 500 }, signal })).tokens };
    }
    if (tab === 'ledger') {
      return { org, tab, bills: await bills(), page: await call('listOrgLedger', { path, query: { limit: 100 }, signal }) };
    }
    if (tab === 'usage') {
      return { org, tab, bills: await bills(), page: await call('listOrgUsage', { path, query: { limit: 100 }, signal }) };
    }
    if (tab === 'statements') {
      const month = this.query.get('month');
      const [{ statements }, statement] = await Promise.all([
        call('listOrgStatements', { path, signal }),
        month ? call('readOrgStatement', { path: { ...path, month }, signal }) : null,
      ]);
      return { org, tab, bills: await bills(), rows: statements, statement };
    }
    const billing = await call('readBilling', { path, signal });
    if (!signal.aborted) {
      this.fillHold(path.org, billing.operator_hold);
    }
    return { org, tab, billing };
  }

  /**
   * Fills the form with the standing hold; what was typed for the same organization stays.
   * @param {string} org
   * @param {any} hold null for none
   */
  fillHold(org, hold) {
    const { values } = this.hold;
    const { standing } = this;
    this.standing = { org, values: { stage: hold?.stage ?? 'notice', reason: hold?.reason ?? '' } };
    const isTyped = standing?.org === org && JSON.stringify(values) !== JSON.stringify(standing.values);
    if (!isTyped && JSON.stringify(values) !== JSON.stringify(this.standing.values)) {
      this.hold.reset(this.standing.values);
    }
  }

  moreLedger() {
    return this.showMore(async (data) => {
      const next = await call('listOrgLedger', { path: this.path, query: { limit: 500, after: data.page.next } });
      return { ...data, page: { ...next, transactions: [...data.page.transactions, ...next.transactions] } };
    });
  }

  moreUsage() {
    return this.showMore(async (data) => {
      const next = await call('listOrgUsage', { path: this.path, query: { limit: 500, after: data.page.next } });
      return { ...data, page: { ...next, lines: [...data.page.lines, ...next.lines] } };
    });
  }

  /** @override */
  view(/** @type {any} */ data) {
    const { org, tab } = data;
    const base = `/operator/organizations/${org.org_id}`;
    return html`
      <p class="muted"><span class="mono">${org.org_id}</span> · ${org.kind === 'public_research' ? 'public research' : 'standard'} ·
        at most ${org.max_clusters} clusters · ${org.gid ? `group id ${org.gid} · ` : ''}since ${at(org.created_at)}
        ${org.retired_at ? badge('retired', 'warn') : nothing}
        · <a href=${`/operator/trail?org=${org.org_id}`}>Trail</a></p>
      ${tabs('Parts of this page', TABS.map(({ show, text }) => ({ href: show ? `${base}?show=${show}` : base, text, current: show === tab })))}
      ${this.tabView(data, base)}`;
  }

  /** @param {any} data @param {string} base the address of the page */
  tabView({ org, tab, rows, page, statement, billing, bills }, base) {
    switch (tab) {
      case 'clusters':
        return this.clusters(rows);
      case 'members':
        return this.members(rows);
      case 'tokens':
        return this.tokens(rows);
      case 'ledger':
        return html`<bourse-table caption="Ledger" .columns=${bills.LEDGER} .rows=${page.transactions} .key=${(/** @type {any} */ row) => `transaction-${row.id}`}
          ?more=${page.more} @more=${() => this.moreLedger()}
          .empty=${empty('No money has moved', 'Payments, credits and usage are listed here.')}></bourse-table>`;
      case 'usage':
        return html`<p class="muted">Usage of this month by hour and cluster.</p>
          <bourse-table caption="Usage by hour" .columns=${bills.HOURS} .rows=${page.lines} .key=${(/** @type {any} */ row) => `line-${row.cluster}-${row.hour}`}
            ?more=${page.more} @more=${() => this.moreUsage()}
            .empty=${empty('Nothing was used', 'An hour in which a cluster held an active node is one line.')}></bourse-table>`;
      case 'statements':
        return html`${statement ? bills.statementSheet(statement) : nothing}
          <bourse-table caption="Statements" .columns=${bills.statementColumns(`${base}?show=statements`)} .rows=${rows} .key=${(/** @type {any} */ row) => `statement-${row.month}`}
            .empty=${empty('No statement yet', 'Each month in which money moves has one.')}></bourse-table>`;
      default:
        return this.billing(org, billing);
    }
  }

  /** @param {any} org @param {any} billing */
  billing(org, billing) {
    return html`
      <dl class="figures-row">
        ${figure('Balance', money(billing.balance_micros), html`as of ${at(billing.as_of)}`)}
        ${figure(`Usage in ${billing.month}`, money(billing.month_usage_micros))}
        ${figure('Spend limit', billing.spend_limit_micros === null ? 'none' : money(billing.spend_limit_micros), limitNote(billing))}
        ${figure('Hold', billing.hold ? badge(billing.hold.stage, billing.hold.stage === 'grace' ? 'warn' : 'bad') : badge('none', 'good'), billing.hold ? billing.hold.reason : nothing)}
      </dl>
      ${billing.operator_hold
        ? html`<div class="notice bad" role="status"><p>Held by an operator in stage ${billing.operator_hold.stage} since ${at(billing.operator_hold.since)}, because: ${billing.operator_hold.reason}</p>
            ${this.ifWriting(() => html`<button type="button" class="quiet small" id="lift-hold" @click=${() => this.lift(org)}>Lift hold</button>`)}</div>`
        : nothing}
      ${org.retired_at ? nothing : this.ifWriting(() => this.forms(org, billing))}`;
  }

  /** What an operator may change. @param {any} org @param {any} billing */
  forms(org, billing) {
    return html`
      <form class="sheet" @submit=${onSubmit(() => this.book('creditBilling'))}><h2>Credit or payment</h2>
        <div class="fields-row">
          ${field(this.money, { name: 'amount_usd', label: 'Amount', type: 'number', unit: '$', step: '0.01', required: true, hint: 'A negative credit takes money back.' })}
          ${field(this.money, { name: 'memo', label: 'Memo', hint: 'The organization reads it.' })}
        </div>
        ${formFault(this.money)}
        <div class="actions">${submitButton(this.money, 'Book a credit')}
          <button type="button" class="quiet" @click=${() => this.book('payBilling')}>Book a payment</button></div>
      </form>
      <form class="sheet" @submit=${onSubmit(() => this.setLimit())}><h2>Operator’s spend limit</h2>
        ${field(this.limit, { name: 'limit_usd', label: 'A month', type: 'number', unit: '$', step: '0.01', required: true })}
        ${formFault(this.limit)}
        <div class="actions">${submitButton(this.limit, 'Set limit')}
          ${billing.spend_limit_operator_micros === null ? nothing : html`<button type="button" class="quiet" @click=${() => this.clearLimit()}>Delete limit</button>`}</div>
      </form>
      <form class="sheet" @submit=${onSubmit(() => this.putOnHold(org))}><h2>${billing.operator_hold ? 'Change the hold' : 'Hold'}</h2>
        <div class="fields-row">
          ${field(this.hold, { name: 'stage', label: 'Stage', type: 'select', required: true, options: [
            { value: 'notice', text: 'Notice: no more nodes are granted' },
            { value: 'enforce', text: 'Enforce: its nodes are reclaimed too' },
          ] })}
          ${field(this.hold, { name: 'reason', label: 'Reason', required: true, hint: 'The organization reads it.' })}
        </div>
        ${formFault(this.hold)}
        <div class="actions">${submitButton(this.hold, billing.operator_hold ? 'Change hold' : 'Put on hold', { danger: true })}</div>
      </form>`;
  }

  /** @param {any} org */
  async lift(org) {
    const { liftQuestion } = await questions();
    await this.ask(liftQuestion(org.org_id, org.display));
  }

  /** @param {any} org */
  async putOnHold(org) {
    const { stage, reason } = this.hold.values;
    const path = this.path;
    const body = { stage, reason };
    const work = () => call('holdOrg', { path, body });
    if (reason.trim() === '') {
      await this.hold.submit(work);
      return;
    }
    if (await this.askForForm(this.hold, async (signal) => (await questions()).holdQuestion(org, body, signal), work)) {
      toast(`${org.display} is on hold`);
      await this.refresh();
    }
  }

  /**
   * Asks before a form is sent, and asks nothing any more once it was edited during the check.
   * @param {Form} form
   * @param {(signal: AbortSignal) => Promise<import('../components/dialog.js').Asked>} question
   * @param {() => Promise<unknown>} work
   */
  askForForm(form, question, work) {
    const typed = JSON.stringify(form.values);
    const left = new AbortController();
    this.atEnd(() => left.abort());
    return askFirst(
      {
        ask: async (signal) => {
          const asked = await question(signal);
          if (JSON.stringify(form.values) !== typed) {
            toast('The form changed during the check. Nothing was sent.');
            left.abort();
          }
          return asked;
        },
        work,
        form,
      },
      left.signal,
    );
  }

  /**
   * Asks before money is booked or limited, with the balance and the usage as they are then. Without a sum the service
   * says what it expects.
   * @param {Form} form
   * @param {string} sum the name of its field
   * @param {(asking: Awaited<ReturnType<typeof questions>>, billing: any) => import('../components/dialog.js').Asked} question
   * @param {() => Promise<unknown>} work
   */
  async askForMoney(form, sum, question, work) {
    if (form.values[sum] === '') {
      await form.submit(work);
      return false;
    }
    return this.askForForm(form, async (signal) => question(...(await Promise.all([questions(), call('readBilling', { path: this.path, signal: soon(signal) })]))), work);
  }

  async setLimit() {
    const { limit_usd: typed } = this.limit.values;
    const limit = typed === '' ? NaN : Number(typed);
    const path = this.path;
    const done = await this.askForMoney(
      this.limit,
      'limit_usd',
      (questions, billing) => questions.limitQuestion(this.heading, limit, billing),
      () => call('limitBilling', { path, body: { limit_usd: limit } }),
    );
    if (done) {
      this.limit.reset({ limit_usd: '' });
      toast('The spend limit is set');
      await this.refresh();
    }
  }

  async clearLimit() {
    await this.ask({
      title: `Delete the operator’s spend limit of ${this.params.org}?`,
      text: html`<p>Then only its balance and the limit that its members set, if any, bound what it spends.</p>`,
      action: 'Delete limit',
      work: () => call('unlimitBilling', { path: this.path }),
    });
  }

  /** @param {Booking} operation */
  async book(operation) {
    const { values } = this.money;
    const amount = values.amount_usd === '' ? NaN : Number(values.amount_usd);
    const path = this.path;
    const key = sentKeys.find(path.org, operation);
    const body = { amount_usd: amount, idempotency_key: key, ...(values.memo ? { memo: values.memo } : {}) };
    let isNew = true;
    const done = await this.askForMoney(
      this.money,
      'amount_usd',
      (questions, billing) => questions.bookingQuestion(operation, this.heading, amount, billing),
      async () => {
        sentKeys.keep(path.org, operation, key);
        try {
          const { response } = await request(operation, { path, body });
          isNew = response.status === 201;
          sentKeys.drop(path.org, operation, key);
        } catch (failure) {
          if (isUnknownOutcome(failure)) {
            throw new CallError(0, { error: failure.code, detail: UNKNOWN_BOOKING });
          }
          if (failure instanceof CallError && failure.answer.reason === 'exists') {
            sentKeys.drop(path.org, operation, key);
            throw new CallError(failure.status, { ...failure.answer, detail: OTHER_BOOKING });
          }
          // Other refusals keep the key: an earlier request with it may have been booked.
          throw failure;
        }
      },
    );
    if (done) {
      this.money.reset({ amount_usd: '', memo: '' });
      toast(!isNew ? BOOKED_BEFORE : operation === 'payBilling' ? 'The payment is booked' : amount < 0 ? 'The debit is booked' : 'The credit is booked');
      await this.refresh();
    }
  }

  /** @param {any[]} rows */
  clusters(rows) {
    return html`<bourse-table caption="Clusters" .rows=${rows} .key=${(/** @type {any} */ row) => `cluster-${row.name}`} .columns=${[
      { title: 'Cluster', value: (/** @type {any} */ row) => row.name, cell: (/** @type {any} */ row) => html`<a href=${`/operator/clusters/${row.name}`}>${row.name}</a>` },
      { title: 'Pool', value: (/** @type {any} */ row) => row.pool, cell: (/** @type {any} */ row) => html`<a href=${`/operator/pools/${row.pool}`}>${row.pool}</a>` },
      { title: 'Nodes held', numeric: true, value: (/** @type {any} */ row) => row.held_nodes, cell: (/** @type {any} */ row) => row.held_nodes },
    ]} .empty=${empty('No cluster yet', 'Its members create some in a pool that is open to them, or bourse admin clusters create does.')}></bourse-table>`;
  }

  /** @param {any[]} rows */
  members(rows) {
    return html`<section class="sheet" aria-labelledby="members"><div class="sheet-head"><h2 id="members">Members</h2>
        ${this.ifWriting(() => html`<button type="button" class="small" id="invite" @click=${() => this.invite()}>Invite</button>`)}</div>
      <bourse-table caption="Members" ?search=${rows.length > 8} .rows=${rows} .key=${(/** @type {any} */ row) => `member-${row.username}`} .columns=${[
        { title: 'Name', value: (/** @type {any} */ row) => row.name, cell: (/** @type {any} */ row) => html`${row.name} <span class="faint mono">${row.username}</span> ${row.suspended_at ? badge('suspended', 'warn') : nothing}` },
        { title: 'E-mail', value: (/** @type {any} */ row) => row.email, cell: (/** @type {any} */ row) => row.email },
        { title: 'Last sign-in', value: (/** @type {any} */ row) => row.last_login_at, cell: (/** @type {any} */ row) => at(row.last_login_at, 'ago') },
        { title: 'Actions', isAction: true, cell: (/** @type {any} */ row) => this.memberActions(row) },
      ]} .empty=${empty('No member yet', 'Invite the first; the others they invite by themselves.')}></bourse-table></section>`;
  }

  /** @param {any} member */
  memberActions(member) {
    const path = { ...this.path, username: member.username };
    const suspended = !member.suspended_at;
    if (!this.mayWrite) {
      return nothing;
    }
    return html`<button type="button" class="quiet tiny" aria-label=${`${suspended ? 'Suspend' : 'Let in'} ${member.username}`} @click=${() => this.ask({
        title: suspended ? `Suspend ${member.name}?` : `Let ${member.name} in again?`,
        text: suspended ? html`<p>They are signed out everywhere at once, and their applications and publishing credentials end. API tokens they minted keep working.</p>` : html`<p>They may sign in again.</p>`,
        action: suspended ? 'Suspend' : 'Let in',
        work: () => call('updateMember', { path, body: { suspended } }),
      })}>${suspended ? 'Suspend' : 'Let in'}</button>
      <button type="button" class="quiet tiny" aria-label=${`Remove ${member.username}`} @click=${() => this.ask({
        title: `Remove ${member.name}?`,
        text: html`<p><strong>Every API token and ssh key they added is revoked at once</strong>, their webhooks and trail stream are disabled, their applications and publishing credentials end, their open invitations are withdrawn, and they are signed out everywhere. Held nodes keep their keys.</p>`,
        action: 'Remove',
        danger: true,
        work: () => call('removeMember', { path }),
      })}>Remove</button>`;
  }

  async invite() {
    /** @type {Form | null} */
    let form = null;
    const sent = await openDialog((/** @type {(sent?: boolean) => void} */ close, redraw) => {
      form ??= new Form(dialogHost(redraw), { email: '' });
      const current = form;
      const send = onSubmit(async () => {
        if (await current.submit(() => call('inviteMember', { path: this.path, body: { email: current.values.email } }))) {
          close(true);
        }
      });
      return html`<form @submit=${send}><h2>Invite to ${this.heading}</h2>
        ${field(current, { name: 'email', label: 'E-mail', type: 'email', required: true, autofocus: true, hint: 'They are mailed a link that works once, for 3 days.' })}
        ${formFault(current)}
        <div class="actions">${submitButton(current, 'Invite')}<button type="button" class="quiet" @click=${() => close()}>Cancel</button></div></form>`;
    });
    if (sent) {
      toast('The invitation is on its way');
    }
  }

  /** @param {any[]} rows */
  tokens(rows) {
    return html`<bourse-table caption="API tokens" ?search=${rows.length > 8} .rows=${rows} .key=${(/** @type {any} */ row) => `token-${row.token_id}`} .columns=${[
      { title: 'Token', value: (/** @type {any} */ row) => row.name, cell: (/** @type {any} */ row) => html`${row.name} <span class="faint mono">${row.token_id}</span>` },
      { title: 'May', value: (/** @type {any} */ row) => row.scopes.join(' '), cell: (/** @type {any} */ row) => html`<span class="mono small">${row.scopes.join(' ')}</span>` },
      { title: 'Minted by', value: (/** @type {any} */ row) => row.created_by, cell: (/** @type {any} */ row) => row.created_by },
      { title: 'Last used', value: (/** @type {any} */ row) => row.last_used_at, cell: (/** @type {any} */ row) => at(row.last_used_at, 'ago') },
      { title: 'Actions', isAction: true, cell: (/** @type {any} */ row) => row.revoked_at || !this.mayWrite
        ? row.revoked_at ? badge('revoked') : nothing
        : html`<button type="button" class="quiet tiny" aria-label=${`Revoke ${row.name}`} @click=${() => this.ask({
            title: `Revoke ${row.name}?`,
            text: html`<p>Every program that uses it is refused at once.</p>`,
            action: 'Revoke',
            danger: true,
            work: () => call('revokeToken', { path: { ...this.path, token_id: row.token_id } }),
          })}>Revoke</button>` },
    ]} .empty=${empty('No token yet', 'Members mint their own on the console.')}></bourse-table>`;
  }

  async retire() {
    const { retireQuestion } = await questions();
    await this.askWithPreview({
      ask: (signal) => retireQuestion(this.data.org, signal),
      work: () => call('retireOrg', { path: this.path }),
    });
  }
}

/** Both limits where there are two, and whether they are acted upon. @param {any} billing */
function limitNote(billing) {
  const acted = billing.spend_limit_enforced ? 'enforced' : 'recorded only';
  const own = billing.spend_limit_member_micros;
  const operators = billing.spend_limit_operator_micros;
  if (own !== null && operators !== null) {
    return `operator ${micros(operators)}, members ${micros(own)}; ${acted}`;
  }
  return billing.spend_limit_set_by === null ? acted : `set by ${operators === null ? 'members' : 'an operator'}, ${acted}`;
}

customElements.define('bourse-organization', Organization);
export default Organization;
