import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { dollars, micros, roughly } from '../lib/format.js';
import { soon } from '../lib/losses.js';
import { at, badge, empty, figure, money, tabs } from '../components/parts.js';
import { askFirst, confirm, dialogHost, openDialog } from '../components/dialog.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import { toast } from '../components/toast.js';
import '../components/table.js';

const TABS = [
  { show: '', text: 'Money' },
  { show: 'clusters', text: 'Clusters' },
  { show: 'members', text: 'Members' },
  { show: 'tokens', text: 'Tokens' },
];

/** One customer: what it owes and may spend, its clusters, members and tokens. */
class Organization extends Page {
  constructor() {
    super();
    this.limit = new Form(this, { limit_usd: '' });
    this.money = new Form(this, { amount_usd: '', memo: '', idempotency_key: crypto.randomUUID() });
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
    return this.data && !this.data.org.retired_at
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
    return { org, tab, billing: await call('readBilling', { path, signal }) };
  }

  /** @override */
  view(/** @type {any} */ { org, tab, rows, billing }) {
    const base = `/operator/organizations/${org.org_id}`;
    return html`
      <p class="muted"><span class="mono">${org.org_id}</span> · ${org.kind === 'public_research' ? 'public research' : 'standard'} ·
        at most ${org.max_clusters} clusters · ${org.gid ? `group id ${org.gid} · ` : ''}since ${at(org.created_at)}
        ${org.retired_at ? badge('retired', 'warn') : nothing}
        · <a href=${`/operator/trail?org=${org.org_id}`}>Trail</a></p>
      ${tabs('Parts of this page', TABS.map(({ show, text }) => ({ href: show ? `${base}?show=${show}` : base, text, current: show === tab })))}
      ${billing ? this.billing(billing) : tab === 'clusters' ? this.clusters(rows) : tab === 'members' ? this.members(rows) : this.tokens(rows)}`;
  }

  /** @param {any} billing */
  billing(billing) {
    return html`
      <dl class="figures-row">
        ${figure('Balance', money(billing.balance_micros), html`as of ${at(billing.as_of)}`)}
        ${figure(`Usage in ${billing.month}`, money(billing.month_usage_micros))}
        ${figure('Spend limit', billing.spend_limit_micros === null ? 'none' : money(billing.spend_limit_micros), limitNote(billing))}
        ${figure('Hold', billing.hold ? badge(billing.hold.stage, billing.hold.stage === 'grace' ? 'warn' : 'bad') : badge('none', 'good'), billing.hold ? billing.hold.reason : nothing)}
      </dl>
      ${billing.operator_hold ? html`<p class="notice bad" role="status">Held by an operator in stage ${billing.operator_hold.stage}, because: ${billing.operator_hold.reason}.</p>` : nothing}
      <form class="sheet" @submit=${onSubmit(() => this.setLimit())}><h2>Operator’s spend limit</h2>
        ${field(this.limit, { name: 'limit_usd', label: 'A month', type: 'number', unit: '$', step: '0.01', required: true })}
        ${formFault(this.limit)}
        <div class="actions">${submitButton(this.limit, 'Set limit')}
          ${billing.spend_limit_operator_micros === null ? nothing : html`<button type="button" class="quiet" @click=${() => this.clearLimit()}>Delete limit</button>`}</div>
      </form>
      <form class="sheet" @submit=${onSubmit(() => this.book('creditBilling'))}><h2>Credit or payment</h2>
        <div class="fields-row">
          ${field(this.money, { name: 'amount_usd', label: 'Amount', type: 'number', unit: '$', step: '0.01', required: true })}
          ${field(this.money, { name: 'memo', label: 'Memo' })}
        </div>
        ${formFault(this.money)}
        <div class="actions">${submitButton(this.money, 'Book a credit')}
          <button type="button" class="quiet" @click=${() => this.book('payBilling')}>Book a payment</button></div>
      </form>`;
  }

  /**
   * Asks before money is booked or limited, with the balance and the usage as they are then. Without a sum the service
   * says what it expects.
   * @param {Form} form
   * @param {string} sum the name of its field
   * @param {(billing: any) => import('../components/dialog.js').Asked} question
   * @param {() => Promise<unknown>} work
   */
  async askForMoney(form, sum, question, work) {
    if (form.values[sum] === '') {
      await form.submit(work);
      return false;
    }
    const typed = JSON.stringify(form.values);
    const left = new AbortController();
    this.atEnd(() => left.abort());
    return askFirst(
      {
        ask: async (signal) => {
          const billing = await call('readBilling', { path: this.path, signal: soon(signal) });
          if (JSON.stringify(form.values) !== typed) {
            toast('The form changed during the check. Nothing was booked.');
            left.abort();
          }
          return question(billing);
        },
        work,
        form,
      },
      left.signal,
    );
  }

  async setLimit() {
    const { limit_usd: typed } = this.limit.values;
    const limit = typed === '' ? NaN : Number(typed);
    const path = this.path;
    const done = await this.askForMoney(
      this.limit,
      'limit_usd',
      (billing) => {
        const isUsed = limit * 1e6 <= billing.month_usage_micros;
        return {
          title: `Limit ${this.heading} to ${dollars(limit)} a month?`,
          text: html`<p>${roughly(billing.month_usage_micros)} are used in ${billing.month}. ${isUsed
            ? billing.spend_limit_enforced
              ? html`<strong>It is granted nothing any more, and its nodes are reclaimed.</strong>`
              : 'The limit is reached, but spend limits are not enforced now.'
            : ''}</p>`,
          action: 'Set limit',
          danger: isUsed,
          losses: JSON.stringify([isUsed, billing.spend_limit_enforced]),
        };
      },
      () => call('limitBilling', { path, body: { limit_usd: limit } }),
    );
    if (done) {
      this.limit.reset({ limit_usd: '' });
      toast('The spend limit is set');
      await this.refresh();
    }
  }

  async clearLimit() {
    const done = await confirm({
      title: `Delete the operator’s spend limit of ${this.params.org}?`,
      text: html`<p>Then only its balance and the limit that its members set, if any, bound what it spends.</p>`,
      action: 'Delete limit',
      work: () => call('unlimitBilling', { path: this.path }),
    });
    if (done) {
      await this.refresh();
    }
  }

  /** @param {'creditBilling' | 'payBilling'} operation */
  async book(operation) {
    const { values } = this.money;
    const amount = values.amount_usd === '' ? NaN : Number(values.amount_usd);
    const body = { amount_usd: amount, idempotency_key: values.idempotency_key, ...(values.memo ? { memo: values.memo } : {}) };
    const path = this.path;
    const { title, text, action, done: booked } = bookingWords(operation, amount, this.heading);
    const done = await this.askForMoney(
      this.money,
      'amount_usd',
      ({ balance_micros: balance }) => {
        const after = balance + amount * 1e6;
        return {
          title,
          text: html`<p>${text} Its balance is ${roughly(balance)} now and ${roughly(after)} after it.
              ${after < 0 && after < balance ? html`<strong>A negative balance can put the organization on hold.</strong>` : nothing}</p>
            <p>An entry of the ledger cannot be deleted; another entry corrects it.</p>`,
          action,
          danger: amount < 0,
          losses: String(after < 0),
        };
      },
      () => call(operation, { path, body }),
    );
    if (done) {
      this.money.reset({ amount_usd: '', memo: '', idempotency_key: crypto.randomUUID() });
      toast(booked);
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
        <button type="button" class="small" id="invite" @click=${() => this.invite()}>Invite</button></div>
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
    return html`<button type="button" class="quiet tiny" aria-label=${`${suspended ? 'Suspend' : 'Let in'} ${member.username}`} @click=${() => this.ask({
        title: suspended ? `Suspend ${member.name}?` : `Let ${member.name} in again?`,
        text: suspended ? html`<p>They are signed out everywhere at once. Tokens they minted go on working.</p>` : html`<p>They may sign in again.</p>`,
        action: suspended ? 'Suspend' : 'Let in',
        work: () => call('updateMember', { path, body: { suspended } }),
      })}>${suspended ? 'Suspend' : 'Let in'}</button>
      <button type="button" class="quiet tiny" aria-label=${`Remove ${member.username}`} @click=${() => this.ask({
        title: `Remove ${member.name}?`,
        text: html`<p><strong>Every API token and ssh key they added is revoked at once</strong>, their webhooks and trail stream are disabled, their open invitations are withdrawn, and they are signed out everywhere. Held nodes keep their keys.</p>`,
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
      { title: 'Actions', isAction: true, cell: (/** @type {any} */ row) => row.revoked_at
        ? badge('revoked')
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
    await this.ask({
      title: `Retire ${this.heading}?`,
      text: html`<p><strong>All its tokens stop working, its members are signed out, and its clusters are given back.</strong> Nothing of it can be changed any more.</p>`,
      action: 'Retire',
      danger: true,
      typed: this.params.org,
      work: () => call('retireOrg', { path: this.path }),
    });
  }

  /** @param {import('../components/dialog.js').Question} question */
  async ask(question) {
    if (await confirm(question)) {
      await this.refresh();
    }
  }
}

/**
 * How a booking reads: a negative credit is money taken.
 * @param {'creditBilling' | 'payBilling'} operation
 * @param {number} amount
 * @param {string} org
 */
function bookingWords(operation, amount, org) {
  const sum = dollars(Math.abs(amount));
  if (operation === 'payBilling') {
    const minus = amount < 0 ? '-' : '';
    return { title: `Book a payment of ${minus}${sum} for ${org}?`, text: 'The organization paid this sum.', action: 'Book the payment', done: 'The payment is booked' };
  }
  return amount < 0
    ? { title: `Debit ${org} ${sum}?`, text: 'A negative credit takes money from the organization.', action: `Debit ${sum}`, done: 'The debit is booked' }
    : { title: `Book a credit of ${sum} for ${org}?`, text: 'The organization gets this sum without a payment.', action: 'Book the credit', done: 'The credit is booked' };
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
