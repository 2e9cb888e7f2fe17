import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { count } from '../lib/format.js';
import { navigate, setQuery } from '../lib/router.js';
import { at, badge, empty, tabs } from '../components/parts.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import { confirm, dialogHost, openDialog } from '../components/dialog.js';
import { confirmSwap } from '../components/swap.js';
import { toast } from '../components/toast.js';
import '../components/table.js';
import '../components/copy.js';

/** Long enough that a preview is asked for once a word is typed, short enough to seem immediate. */
const PREVIEW_MILLIS = 300;

/** Members a preview names in its sentence. */
const NAMED = 5;

/** Who belongs to the organization, who is invited, and who may join. */
class People extends Page {
  static properties = { ...Page.properties, preview: { state: true } };

  constructor() {
    super();
    this.rule = new Form(this, { kind: 'domain', value: '' });
    /** @type {any} whom the rule that is being typed is about */
    this.preview = null;
    this.previewed = 0;
  }

  /** @override */
  get heading() {
    return 'People';
  }

  get tab() {
    const tab = this.query.get('show');
    return tab === 'invitations' || tab === 'rules' ? tab : 'members';
  }

  /** @override */
  headActions() {
    return html`<button type="button" id="invite" @click=${() => this.invite()}>Invite</button>`;
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const { tab } = this;
    if (tab === 'invitations') {
      return { tab, rows: (await call('listInvitations', { signal })).invitations };
    }
    if (tab === 'rules') {
      const { rules } = await call('listConsoleRules', { signal });
      return { tab, rows: rules.filter((/** @type {any} */ rule) => rule.link_expires_at === null) };
    }
    const { members, next } = await call('listConsoleMembers', { query: { limit: 500 }, signal });
    return { tab, rows: members, next };
  }

  async more() {
    const { rows, next } = this.data;
    const page = await call('listConsoleMembers', { query: { limit: 500, after: next } });
    this.data = { tab: 'members', rows: [...rows, ...page.members], next: page.next };
  }

  /** @override */
  view(/** @type {any} */ { tab, rows, next }) {
    return html`
      ${tabs('Parts of this page', [
        { href: '/console/people', text: 'Members', current: tab === 'members' },
        { href: '/console/people?show=invitations', text: 'Invitations', current: tab === 'invitations' },
        { href: '/console/people?show=rules', text: 'Join rules', current: tab === 'rules' },
      ])}
      ${tab === 'members' ? this.members(rows, next) : tab === 'invitations' ? this.invitations(rows) : this.rules(rows)}`;
  }

  /** @param {any[]} rows @param {string | null} next */
  members(rows, next) {
    return html`<section class="sheet" aria-labelledby="members">
      <h2 id="members">Members</h2>
      <p class="muted">Every member may do everything here: spend, invite, remove, mint tokens.</p>
      <bourse-table caption="Members" ?search=${rows.length > 8} ?more=${Boolean(next)} @more=${() => this.more()}
        .rows=${rows} .key=${(/** @type {any} */ row) => `member-${row.username}`} .columns=${this.memberColumns()}></bourse-table>
    </section>`;
  }

  /** @returns {import('../components/table.js').Column[]} */
  memberColumns() {
    return [
      {
        title: 'Name',
        value: (row) => `${row.name} ${row.username}`,
        cell: (row) => html`<span>${row.name} <span class="faint mono">${row.username}</span>
          ${row.username === this.session.username ? badge('you') : nothing} ${row.suspended ? badge('suspended', 'warn') : nothing}</span>`,
      },
      { title: 'E-mail', value: (row) => row.email, cell: (row) => row.email },
      { title: 'Joined', value: (row) => row.created_at, cell: (row) => at(row.created_at) },
      { title: 'Last sign-in', value: (row) => row.last_login_at, cell: (row) => at(row.last_login_at, 'ago') },
      { title: 'Live tokens', numeric: true, value: (row) => row.live_tokens, cell: (row) => row.live_tokens },
      {
        title: 'Actions',
        isAction: true,
        cell: (row) => html`<button type="button" class="quiet tiny" aria-label=${`Remove ${row.username}`} @click=${() => this.removeMember(row)}>Remove</button>`,
      },
    ];
  }

  /** @param {any} member */
  async removeMember(member) {
    const isSelf = member.username === this.session.username;
    const path = { username: member.username };
    /** @type {any} */
    let preview;
    try {
      preview = await call('previewConsoleRemoval', { path });
    } catch (fault) {
      toast(fault instanceof Error ? fault.message : String(fault));
      this.refresh();
      return;
    }
    /** @type {any} */
    let removed = null;
    const done = await confirm({
      title: isSelf ? 'Leave this organization?' : `Remove ${member.name}?`,
      text: html`<p>${isSelf ? 'You are' : `${member.name} is`} signed out everywhere. This ends at once:</p>
        ${ending(preview)}
        <p>The username is never given again. Join rules do not admit ${member.email} again; a new invitation does.</p>
        ${keysLeft(preview)}${stillOn(preview)}`,
      action: isSelf ? 'Leave' : 'Remove',
      danger: true,
      typed: member.username,
      work: async () => {
        removed = await call('removeConsoleMember', { path });
      },
    });
    if (done && isSelf) {
      location.assign('/sign-out');
    } else if (done) {
      toast(`${member.name} was removed.`);
      this.refresh();
      if (nodesOf(removed).length > 0 || needsKey(removed)) {
        await this.showRemains(member, removed);
      }
    }
  }

  /** Offers to swap the nodes that still carry a removed key, and to add a key if the last one went. @param {any} member @param {any} removed */
  async showRemains(member, removed) {
    /** @type {Record<string, string>} what became of each swap, by public IP */
    const swaps = {};
    await openDialog((/** @type {() => void} */ close, redraw) => {
      const swap = async (/** @type {any} */ node) => {
        if (await confirmSwap(node.public_ip, () => call('swapNode', { body: { node: node.public_ip, cluster: node.cluster } }))) {
          swaps[node.public_ip] = 'swap requested';
          redraw();
        }
      };
      return html`<form method="dialog">
        <h2>${member.name} was removed</h2>
        <div class="prose">${keysLeft(removed)}
          ${nodesOf(removed).length === 0 ? nothing : html`<p>These nodes were granted with a removed ssh key and still have it.
            A swap gives the node back, <strong>with its local data</strong>, for another one without the key.</p>
          <ul id="still-on">${nodesOf(removed).map((node) => html`<li><a href=${`/console/clusters/${node.cluster}`}>${node.cluster}</a> <span class="mono">${node.public_ip}</span>
            ${swaps[node.public_ip] ?? html`<button type="button" class="quiet tiny" aria-label=${`Swap ${node.public_ip}`} @click=${() => swap(node)}>Swap</button>`}</li>`)}</ul>`}
        </div>
        <div class="actions"><button type="button" @click=${() => close()}>Done</button></div>
      </form>`;
    });
  }

  /** @param {any[]} rows */
  invitations(rows) {
    return html`<section class="sheet" aria-labelledby="invitations">
      <h2 id="invitations">Open invitations</h2>
      <bourse-table caption="Open invitations" .rows=${rows} .key=${(/** @type {any} */ row) => `invitation-${row.rule_id}`}
        .columns=${this.invitationColumns()}
        .empty=${empty('Nobody is invited', 'Who is invited gets a mail with a link that signs them in once, within 3 days.',
          html`<button type="button" @click=${() => this.invite()}>Invite somebody</button>`)}></bourse-table>
    </section>`;
  }

  /** @returns {import('../components/table.js').Column[]} */
  invitationColumns() {
    return [
      { title: 'Address', value: (row) => row.email, cell: (row) => row.email },
      { title: 'Invited by', value: (row) => row.created_by, cell: (row) => html`<span class="mono">${row.created_by}</span>` },
      { title: 'Since', value: (row) => row.created_at, cell: (row) => at(row.created_at) },
      {
        title: 'Link works until',
        value: (row) => row.link_expires_at,
        cell: (row) =>
          row.link_expires_at === null
            ? html`<span class="faint">none was mailed</span>`
            : Date.parse(row.link_expires_at) < Date.now()
              ? html`<span>${badge('expired', 'warn')} ${at(row.link_expires_at)}</span>`
              : at(row.link_expires_at, 'ago'),
      },
      {
        title: 'Actions',
        isAction: true,
        cell: (row) => html`<button type="button" class="quiet tiny" aria-label=${`Resend the mail to ${row.email}`} @click=${() => this.resend(row)}>Resend</button>
          <button type="button" class="quiet tiny" aria-label=${`Withdraw the invitation of ${row.email}`} @click=${() => this.withdraw(row)}>Withdraw</button>`,
      },
    ];
  }

  async invite() {
    /** @type {Form | null} */
    let form = null;
    const sent = await openDialog((/** @type {(result?: any) => void} */ close, redraw) => {
      form ??= new Form(dialogHost(redraw), { email: '' });
      const current = form;
      const send = onSubmit(async () => {
        const invitation = await current.submit(() => call('sendInvitation', { body: { email: current.values.email.trim() } }));
        if (invitation) {
          close(invitation);
        }
      });
      return html`<form method="dialog" novalidate @submit=${send}>
        <h2>Invite somebody</h2>
        ${field(current, { name: 'email', label: 'E-mail address', type: 'email', required: true, autofocus: true, hint: 'They get a mail with a link that signs them in once, within 3 days. As a member they may do everything here.' })}
        ${formFault(current)}
        <div class="actions">${submitButton(current, 'Send the invitation')}
          <button type="button" class="quiet" @click=${() => close()}>Cancel</button></div>
      </form>`;
    });
    if (sent) {
      toast(`An invitation is on its way to ${sent.email}.`);
      if (this.tab === 'invitations') {
        this.refresh();
      } else {
        navigate('/console/people?show=invitations');
      }
    }
  }

  /** @param {any} invitation */
  async resend(invitation) {
    const done = await confirm({
      title: `Mail ${invitation.email} again?`,
      text: html`<p>With a new link, for 3 days from now.</p>`,
      action: 'Resend',
      work: () => call('resendInvitation', { path: { rule_id: invitation.rule_id } }),
    });
    if (done) {
      toast(`Another mail is on its way to ${invitation.email}.`);
      this.refresh();
    }
  }

  /** @param {any} invitation */
  async withdraw(invitation) {
    const done = await confirm({
      title: `Withdraw the invitation of ${invitation.email}?`,
      text: html`<p>The links that were mailed work no more.</p>`,
      action: 'Withdraw',
      danger: true,
      work: () => call('withdrawInvitation', { path: { rule_id: invitation.rule_id } }),
    });
    if (done) {
      toast('The invitation is withdrawn.');
      this.refresh();
    }
  }

  /** @param {any[]} rows */
  rules(rows) {
    const { rule } = this;
    return html`<section class="sheet" aria-labelledby="rules">
      <h2 id="rules">Join rules</h2>
      <bourse-table caption="Join rules" .rows=${rows} .key=${(/** @type {any} */ row) => `rule-${row.rule_id}`}
        .columns=${this.ruleColumns()}
        .empty=${empty('No join rule', 'A rule lets everybody with an address of your domain, or one address, become a member by signing in.')}></bourse-table>
    </section>
    <section class="sheet" aria-labelledby="add-rule">
      <h2 id="add-rule">Add a rule</h2>
      <form novalidate @submit=${onSubmit(() => this.addRule())}>
        <div class="fields-row">
          ${field(rule, { name: 'kind', label: 'Admits', type: 'select', required: true, changed: () => this.look(), options: [
            { value: 'domain', text: 'everybody of a domain' },
            { value: 'email', text: 'one address' },
          ] })}
          ${field(rule, { name: 'value', label: rule.values.kind === 'domain' ? 'Domain' : 'Address', required: true, changed: () => this.look(),
            placeholder: rule.values.kind === 'domain' ? 'acme.example' : 'alice@acme.example' })}
        </div>
        <div id="rule-preview" aria-live="polite">${this.preview ? previewed(this.preview) : nothing}</div>
        ${formFault(rule)}
        <div class="actions">${submitButton(rule, 'Add the rule')}</div>
      </form>
    </section>`;
  }

  /** @returns {import('../components/table.js').Column[]} */
  ruleColumns() {
    return [
      {
        title: 'Admits',
        value: (row) => row.value,
        cell: (row) => (row.kind === 'domain' ? html`<span>everybody at <strong>${row.value}</strong></span>` : html`<strong>${row.value}</strong>`),
      },
      {
        title: 'State',
        value: (row) => row.state,
        cell: (row) => (row.state === 'pending' ? html`<div>${badge('pending', 'warn')} ${dnsRecord(row)}</div>` : badge('active', 'good')),
      },
      { title: 'Added by', value: (row) => row.created_by, cell: (row) => html`<span class="mono">${row.created_by}</span>` },
      { title: 'Since', value: (row) => row.created_at, cell: (row) => at(row.created_at) },
      {
        title: 'Actions',
        isAction: true,
        cell: (row) => html`${row.state === 'pending' ? html`<button type="button" class="quiet tiny" aria-label=${`Verify ${row.value}`} @click=${() => this.verify(row)}>Verify</button>` : nothing}
          <button type="button" class="quiet tiny" aria-label=${`Remove the rule for ${row.value}`} @click=${() => this.removeRule(row)}>Remove</button>`,
      },
    ];
  }

  /** Asks whom the rule would be about, once typing pauses. */
  look() {
    clearTimeout(this.timer);
    const asked = ++this.previewed;
    this.preview = null;
    const { kind, value } = this.rule.values;
    if (value.trim().length < 3) {
      return;
    }
    this.timer = setTimeout(async () => {
      try {
        const preview = await call('previewConsoleRule', { query: { kind, value: value.trim() }, quiet: true });
        if (asked === this.previewed) {
          this.preview = preview;
        }
      } catch {
        // What is typed is no domain yet; sending it says so at the field.
      }
    }, PREVIEW_MILLIS);
  }

  async addRule() {
    const { kind, value } = this.rule.values;
    const added = await this.rule.submit(() => call('addConsoleRule', { body: { kind, value: value.trim() } }), { conflict: 'value' });
    if (added) {
      this.rule.reset({ kind, value: '' });
      this.preview = null;
      this.previewed++;
      toast(added.state === 'pending' ? `Add the DNS record for ${added.value}, then press Verify.` : `${added.value} may join by signing in.`);
      this.refresh();
    }
  }

  /** @param {any} rule */
  async verify(rule) {
    const done = await confirm({
      title: `Verify ${rule.value}?`,
      text: html`<p>This TXT record must be in DNS:</p>${dnsRecord(rule)}
        <p>When it is, everybody who can read mail at <strong>${rule.value}</strong> may join and do everything here.
        DNS can take some minutes to serve a new record; try again if it is not found.</p>`,
      action: 'Verify',
      work: () => call('verifyConsoleRule', { path: { rule_id: rule.rule_id } }),
    });
    if (done) {
      toast(`${rule.value} is verified.`);
      this.refresh();
    }
  }

  /** @param {any} rule */
  async removeRule(rule) {
    const done = await confirm({
      title: `Remove the rule for ${rule.value}?`,
      text: html`<p>Nobody joins by it any more. Who has joined stays a member.</p>`,
      action: 'Remove',
      danger: true,
      work: () => call('removeConsoleRule', { path: { rule_id: rule.rule_id } }),
    });
    if (done) {
      toast('The rule is removed.');
      this.refresh();
    }
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }
}

/** What a removal ends, as a list. @param {any} preview */
function ending(preview) {
  const parts = [
    ['API token', preview.tokens.map((/** @type {any} */ token) => token.name)],
    ['ssh key', preview.ssh_keys.map((/** @type {any} */ key) => key.name)],
    ['webhook endpoint', preview.webhooks.map((/** @type {any} */ webhook) => webhook.url)],
    ['trail stream', preview.trail_streams.map((/** @type {any} */ stream) => stream.destination)],
    ['application', preview.applications],
    ['publishing credential', preview.credentials],
    ['open invitation', preview.invitations],
    ['proof of a domain', preview.domains, 'proofs of domains'],
  ];
  return html`<ul id="ending"><li>${count(preview.sessions, 'session')}</li>
    ${parts.map(([what, names, many]) => html`<li>${count(names.length, what, many)}${names.length > 0 ? html`: <span class="mono">${names.join(', ')}</span>` : nothing}</li>`)}</ul>`;
}

/** Nodes that still have a removed key, each once. @param {any} removal @returns {any[]} */
function nodesOf(removal) {
  const nodes = removal.ssh_keys.flatMap((/** @type {any} */ key) => key.still_on);
  return [...new Map(nodes.map((/** @type {any} */ node) => [node.public_ip, node])).values()];
}

/** @param {any} removal */
function stillOn(removal) {
  const nodes = nodesOf(removal);
  return nodes.length === 0
    ? nothing
    : html`<p>${count(nodes.length, 'held node')} keeps a removed key until it is swapped or given back:
      <span class="mono">${nodes.map((node) => `${node.cluster} ${node.public_ip}`).join(', ')}</span>. You can swap them after the removal.</p>`;
}

/** Whether the organization's last ssh key goes. @param {any} removal */
function needsKey(removal) {
  return removal.ssh_keys.length > 0 && removal.ssh_keys_left === 0;
}

/** @param {any} removal */
function keysLeft(removal) {
  return needsKey(removal)
    ? html`<div class="notice warn"><p><strong>No other ssh key is registered.</strong> Nobody can log in to nodes granted from then on, and capacity cannot be raised.
      <a href="/console/ssh-keys">Add another key</a>.</p></div>`
    : nothing;
}

/** The record that proves a domain. @param {any} rule */
function dnsRecord({ dns_record: record }) {
  return html`<dl class="small"><dt>TXT record</dt><dd class="mono">${record.name} <bourse-copy value=${record.name} label="the name of the record"></bourse-copy></dd>
    <dt>Value</dt><dd class="mono">${record.value} <bourse-copy value=${record.value} label="the value of the record"></bourse-copy></dd></dl>`;
}

/** Whom a rule would be about, in sentences. @param {any} preview */
function previewed(preview) {
  const names = preview.members.slice(0, NAMED).map((/** @type {any} */ member) => member.username).join(', ');
  const others = preview.member_count - Math.min(NAMED, preview.members.length);
  return html`<div class="notice ${preview.kind === 'domain' ? 'warn' : ''}">
    ${preview.exists ? html`<p><strong>There is this rule already.</strong></p>` : nothing}
    <p>${preview.member_count === 0
      ? 'No member has such an address yet.'
      : html`${count(preview.member_count, 'member')} with such an address: <span class="mono">${names}</span>${others > 0 ? ` and ${others} more` : ''}.`}
      ${preview.invited.length > 0 ? html`Invited already: <span class="mono">${preview.invited.slice(0, NAMED).join(', ')}</span>${preview.invited.length > NAMED ? ` and ${preview.invited.length - NAMED} more` : ''}.` : nothing}
      ${preview.removed_count > 0 ? html`${count(preview.removed_count, 'removed member')} with such an address ${preview.kind === 'domain' ? 'stays out: no rule of a domain lets them back in.' : 'comes back in by this rule.'}` : nothing}</p>
    ${preview.kind === 'domain'
      ? html`<p>Who else can read mail at <strong>${preview.value}</strong> is not known here. <strong>All of them may join</strong> once the domain is verified, and may do everything here.</p>`
      : nothing}
  </div>`;
}

customElements.define('bourse-people', People);
export default People;
