import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { at, badge, empty, tabs } from '../components/parts.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import { confirm, dialogHost, openDialog } from '../components/dialog.js';
import { toast } from '../components/toast.js';
import '../components/table.js';
import '../components/copy.js';

/** @typedef {'capacity:read' | 'capacity:write' | 'bid:read' | 'bid:write' | 'billing:read'} Scope */

/** @type {{name: Scope, text: string}[]} */
const SCOPES = [
  { name: 'capacity:read', text: 'See clusters, their nodes and what they cost' },
  { name: 'capacity:write', text: 'Raise, lower and swap capacity, which spends money and can end running work' },
  { name: 'bid:read', text: 'See bids of Kubernetes clusters' },
  { name: 'bid:write', text: 'Place and change bids, which spends money' },
  { name: 'billing:read', text: 'See bills' },
];

/** How far a token's declarations may go. @type {{name: string, label: string, placeholder: string}[]} */
const LIMITS = [
  { name: 'max_gpus', label: 'GPUs a cluster', placeholder: '16' },
  { name: 'max_price_per_gpu_hour', label: '$ a GPU-hour', placeholder: '3.50' },
  { name: 'max_hourly_usd', label: '$ an hour, all its clusters', placeholder: '48' },
  { name: 'max_lease', label: 'How far ahead', placeholder: '8h' },
];

/** The organization's API tokens, which programs act with. */
class Tokens extends Page {
  /** @override */
  get heading() {
    return 'Tokens';
  }

  /** @override */
  headActions() {
    return html`<button type="button" id="mint" @click=${() => this.mint()}>Mint a token</button>`;
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const { tokens, next } = await call('listConsoleTokens', { query: { limit: 500 }, signal });
    return { tokens, next };
  }

  async more() {
    const { tokens, next } = this.data;
    const page = await call('listConsoleTokens', { query: { limit: 500, after: next } });
    this.data = { tokens: [...tokens, ...page.tokens], next: page.next };
  }

  /** @override */
  view(/** @type {any} */ { tokens, next }) {
    const all = this.query.get('show') === 'all';
    const rows = all ? tokens : tokens.filter(isLive);
    return html`
      ${tabs('Which tokens', [
        { href: '/console/tokens', text: 'Live', current: !all },
        { href: '/console/tokens?show=all', text: 'All', current: all },
      ])}
      <section class="sheet" aria-label="API tokens">
        <bourse-table caption="API tokens" ?search=${rows.length > 8} ?more=${Boolean(next)} @more=${() => this.more()}
          .rows=${rows} .key=${(/** @type {any} */ row) => `token-${row.token_id}`} .columns=${this.columns()}
          .empty=${empty(all ? 'No token was minted yet' : 'No token is live', 'Programs act for the organization with a token. It may do what it is minted for and nothing else.',
            html`<button type="button" @click=${() => this.mint()}>Mint a token</button>`)}></bourse-table>
      </section>`;
  }

  /** @returns {import('../components/table.js').Column[]} */
  columns() {
    return [
      {
        title: 'Name',
        value: (row) => `${row.name} ${row.token_id}`,
        cell: (row) => html`<span>${row.name} <span class="faint mono">${row.token_id}</span></span>`,
      },
      { title: 'State', value: state, cell: (row) => badge(state(row), isLive(row) ? 'good' : 'calm') },
      { title: 'May', value: (row) => row.scopes.join(' '), cell: (row) => (row.scopes.length > 0 ? html`<span class="mono">${row.scopes.join(' ')}</span>` : html`<span class="faint">read the market</span>`) },
      { title: 'Cluster', value: (row) => row.cluster, cell: (row) => (row.cluster ? html`<span class="nowrap">${row.cluster}</span>` : html`<span class="faint">all</span>`) },
      { title: 'Limits', value: limited, cell: (row) => (row.limits ? html`<span class="mono">${limited(row)}</span>` : html`<span class="faint">none</span>`) },
      { title: 'Minted by', value: (row) => row.created_by, cell: (row) => html`<span><span class="mono">${row.created_by}</span> <span class="nowrap">${at(row.created_at, 'ago')}</span></span>` },
      { title: 'Last used', value: (row) => row.last_used_at, cell: (row) => at(row.last_used_at, 'ago') },
      { title: 'Expires', value: (row) => row.expires_at, cell: (row) => (row.expires_at ? at(row.expires_at, 'ago') : html`<span class="faint">never</span>`) },
      {
        title: 'Actions',
        isAction: true,
        cell: (row) => html`<a href=${`/console/trail?token=${encodeURIComponent(row.token_id)}`} aria-label=${`Trail of ${row.name}`}>Trail</a>
          ${isLive(row)
            ? html`<button type="button" class="quiet tiny" aria-label=${`Rename ${row.name}`} @click=${() => this.rename(row)}>Rename</button>
              ${spends(row.scopes) ? html`<button type="button" class="quiet tiny" aria-label=${`Narrow ${row.name}`} @click=${() => this.narrow(row)}>Narrow</button>` : nothing}
              <button type="button" class="quiet tiny" aria-label=${`Revoke ${row.name}`} @click=${() => this.revoke(row)}>Revoke</button>`
            : nothing}`,
      },
    ];
  }

  async mint() {
    const { clusters } = await call('whoami', { quiet: true });
    /** @type {Form | null} */
    let form = null;
    const minted = await openDialog((/** @type {(result?: any) => void} */ close, redraw) => {
      form ??= new Form(dialogHost(redraw), { name: '', cluster: '', expires_at: '', ...Object.fromEntries(LIMITS.map((limit) => [limit.name, ''])) });
      const current = form;
      const send = onSubmit(async () => {
        const token = await current.submit(() => call('mintConsoleToken', { body: order(current.values) }));
        if (token) {
          close(token);
        }
      });
      return html`<form method="dialog" novalidate @submit=${send}>
        <h2>Mint a token</h2>
        ${field(current, { name: 'name', label: 'Name', required: true, autofocus: true, placeholder: 'night job', hint: 'A label for people.' })}
        <fieldset><legend>It may</legend>
          ${SCOPES.map((scope) => field(current, { name: scope.name, type: 'checkbox', label: scope.text, hint: html`<span class="mono">${scope.name}</span>` }))}
        </fieldset>
        <div class="fields-row">
          ${field(current, { name: 'cluster', label: 'On the cluster', type: 'select', options: [
            { value: '', text: 'all of them' },
            ...clusters.map((/** @type {any} */ one) => ({ value: one.name, text: one.name })),
          ] })}
          ${field(current, { name: 'expires_at', label: 'Expires after', type: 'date' })}
        </div>
        ${spends(SCOPES.map((scope) => scope.name).filter((name) => current.values[name])) ? limitFields(current, 'What it may declare at most') : nothing}
        ${formFault(current)}
        <p class="muted small">It is yours: when you are removed, it stops working.</p>
        <div class="actions">${submitButton(current, 'Mint')}
          <button type="button" class="quiet" @click=${() => close()}>Cancel</button></div>
      </form>`;
    });
    if (minted) {
      await this.show(minted);
      this.refresh();
    }
  }

  /** Shows a secret, this once. @param {any} minted */
  async show(minted) {
    await openDialog(
      (close) => html`<form method="dialog" @submit=${onSubmit(() => close())}>
        <h2>The token ${minted.name}</h2>
        <p><strong>This is the only time it is shown.</strong> It is stored nowhere and cannot be read again.</p>
        <p class="secret"><code id="minted-token">${minted.token}</code> <bourse-copy value=${minted.token} label="the token"></bourse-copy></p>
        <p class="muted small">Programs send it as <code>Authorization: Bearer …</code>.</p>
        <div class="actions"><button type="submit">I have kept it</button></div>
      </form>`,
      { mayEscape: false },
    );
  }

  /** @param {any} token */
  async rename(token) {
    /** @type {Form | null} */
    let form = null;
    const renamed = await openDialog((/** @type {(result?: any) => void} */ close, redraw) => {
      form ??= new Form(dialogHost(redraw), { name: token.name });
      const current = form;
      const send = onSubmit(async () => {
        const answer = await current.submit(() =>
          call('renameConsoleToken', { path: { token_id: token.token_id }, body: { name: current.values.name } }));
        if (answer) {
          close(answer);
        }
      });
      return html`<form method="dialog" novalidate @submit=${send}>
        <h2>Rename ${token.name}</h2>
        ${field(current, { name: 'name', label: 'Name', required: true, autofocus: true })}
        ${formFault(current)}
        <div class="actions">${submitButton(current, 'Rename')}
          <button type="button" class="quiet" @click=${() => close()}>Cancel</button></div>
      </form>`;
    });
    if (renamed) {
      toast(`The token is called ${renamed.name} now.`);
      this.refresh();
    }
  }

  /** Makes its limits narrower; they cannot be made wider. @param {any} token */
  async narrow(token) {
    /** @type {Form | null} */
    let form = null;
    const narrowed = await openDialog((/** @type {(result?: any) => void} */ close, redraw) => {
      form ??= new Form(dialogHost(redraw), Object.fromEntries(LIMITS.map((limit) => [limit.name, token.limits?.[limit.name] ?? ''])));
      const current = form;
      const send = onSubmit(async () => {
        const answer = await current.submit(() =>
          call('renameConsoleToken', { path: { token_id: token.token_id }, body: { limits: limits(current.values) } }));
        if (answer) {
          close(answer);
        }
      });
      return html`<form method="dialog" novalidate @submit=${send}>
        <h2>Narrow ${token.name}</h2>
        ${limitFields(current, 'What it may declare at most')}
        ${formFault(current)}
        <p class="muted small">In force at once. What is empty stays as it is, and nothing can be made wider: mint another token for that.</p>
        <div class="actions">${submitButton(current, 'Narrow')}
          <button type="button" class="quiet" @click=${() => close()}>Cancel</button></div>
      </form>`;
    });
    if (narrowed) {
      toast(`${narrowed.name} is held to ${limited(narrowed) || 'no limits'}.`);
      this.refresh();
    }
  }

  /** @param {any} token */
  async revoke(token) {
    const done = await confirm({
      title: `Revoke ${token.name}?`,
      text: html`<p>Every program that uses it is refused at once${token.last_used_at ? html`; it was last used ${at(token.last_used_at, 'ago')}` : '; it was never used'}. It cannot be undone.</p>`,
      action: 'Revoke',
      danger: true,
      work: () => call('revokeConsoleToken', { path: { token_id: token.token_id } }),
    });
    if (done) {
      toast(`${token.name} is revoked.`);
      this.refresh();
    }
  }
}

/** What is sent to mint a token. @param {Record<string, any>} values */
function order(values) {
  return {
    name: values.name,
    scopes: SCOPES.map((scope) => scope.name).filter((name) => values[name]),
    ...(values.cluster ? { cluster: values.cluster } : {}),
    ...(Object.keys(limits(values)).length > 0 ? { limits: limits(values) } : {}),
    ...(values.expires_at ? { expires_at: new Date(`${values.expires_at}T23:59:59`).toISOString() } : {}),
  };
}

/** The fields of limits. @param {Form} form @param {string} legend */
function limitFields(form, legend) {
  return html`<fieldset><legend>${legend}</legend>
    <div class="fields-row">${LIMITS.map((limit) => field(form, { name: limit.name, label: limit.label, placeholder: limit.placeholder }))}</div>
    <p class="muted small">Leave empty what is not limited. “How far ahead” is a time such as 90m, 8h or 7d: every declaration must lapse by then.</p>
  </fieldset>`;
}

/** The limits that were typed. @param {Record<string, any>} values @returns {Record<string, any>} */
function limits(values) {
  return Object.fromEntries(
    LIMITS.map(({ name }) => [name, String(values[name] ?? '').trim()])
      .filter(([, text]) => text !== '')
      .map(([name, text]) => [name, name === 'max_lease' || Number.isNaN(Number(text)) ? text : Number(text)]),
  );
}

/** A token's limits on one line; empty for none. @param {any} token */
function limited(token) {
  return LIMITS.filter(({ name }) => (token.limits?.[name] ?? null) !== null)
    .map(({ name }) => `${name}=${token.limits[name]}`)
    .join(' ');
}

/** @param {string[]} scopes */
function spends(scopes) {
  return scopes.some((scope) => scope === 'capacity:write' || scope === 'bid:write');
}

/** @param {any} token */
function state(token) {
  if (token.revoked_at) {
    return 'revoked';
  }
  return token.expires_at && Date.parse(token.expires_at) <= Date.now() ? 'expired' : 'live';
}

/** @param {any} token */
function isLive(token) {
  return state(token) === 'live';
}

customElements.define('bourse-tokens', Tokens);
export default Tokens;
