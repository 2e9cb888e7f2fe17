import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { at, empty } from '../components/parts.js';
import { confirm } from '../components/dialog.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import { toast } from '../components/toast.js';
import '../components/table.js';
import '../components/copy.js';

/** Who is let in to nodes. */
class SshKeys extends Page {
  constructor() {
    super();
    this.form = new Form(this, { name: '', public_key: '', cluster: '' });
  }

  /** @override */
  get heading() {
    return 'SSH keys';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const [keys, page, settings] = await Promise.all([
      call('listSshKeys', { path: { org: this.session.org_id }, signal }),
      call('listConsoleClusters', { query: { state: 'in-use', limit: 500 }, signal }),
      call('readOrgSettings', { signal }),
    ]);
    return {
      keys: keys.keys,
      needsWrite: settings.ssh_keys_need_write,
      clusters: page.clusters.filter((/** @type {any} */ one) => one.kind === 'vm'),
    };
  }

  async add() {
    const { name, public_key, cluster } = this.form.values;
    const added = await this.form.submit(() =>
      call('addSshKey', {
        path: { org: this.session.org_id },
        body: { name, public_key: public_key.trim(), ...(cluster ? { cluster } : {}) },
      }),
    );
    if (added) {
      toast(`${added.name} is let in to nodes granted from now on`);
      this.form.reset({ name: '', public_key: '', cluster: '' });
      this.refresh();
    }
  }

  /** @param {any} key */
  async revoke(key) {
    /** @type {string[]} */
    let stillOn = [];
    const done = await confirm({
      title: `Revoke ${key.name}?`,
      text: html`<p>It is not installed on nodes granted from now on. Nodes that have it keep it until they are given back: swap
        or release them to shut it out.</p><p class="mono small">${key.fingerprint}</p>`,
      action: 'Revoke the key',
      danger: true,
      work: async () => {
        const revoked = await call('revokeSshKey', { path: { org: this.session.org_id, key_id: key.key_id } });
        stillOn = revoked.still_on;
      },
    });
    if (done) {
      toast(stillOn.length === 0 ? `${key.name} is revoked` : `${key.name} is revoked; it is still on ${stillOn.join(', ')}`);
      this.refresh();
    }
  }

  /** @param {boolean} needsWrite whether API tokens need the scope from now on */
  async restrict(needsWrite) {
    const done = await confirm({
      title: needsWrite ? 'Require capacity:write for SSH keys?' : 'Let any API token write SSH keys?',
      text: needsWrite
        ? html`<p>API tokens without <code>capacity:write</code> can no longer add or revoke SSH keys. Members still can.</p>`
        : html`<p>Every live API token of the organization can add and revoke SSH keys, whatever its scopes.</p>`,
      action: needsWrite ? 'Require the scope' : 'Let any token',
      danger: !needsWrite,
      work: async () => {
        await call('setOrgSettings', { body: { ssh_keys_need_write: needsWrite } });
      },
    });
    if (done) {
      toast(needsWrite ? 'API tokens need capacity:write to write SSH keys' : 'Any API token can write SSH keys');
      this.refresh();
    }
  }

  /** @override */
  view(/** @type {any} */ { keys, clusters, needsWrite }) {
    return html`
      <bourse-table caption="SSH keys" .columns=${this.columns()} .rows=${keys} .key=${(/** @type {any} */ row) => row.key_id} ?search=${keys.length > 8}
        .empty=${empty('No key yet', 'Add an SSH key before you request nodes; it is installed when they start. Without a key nothing can be declared.')}></bourse-table>
      <form class="sheet" aria-labelledby="add-key" @submit=${onSubmit(() => this.add())}>
        <h2 id="add-key">Add a key</h2>
        <p class="muted">Installed on every node granted from now on. Nodes that are held already stay as they are.</p>
        <div class="fields-row">
          ${field(this.form, { name: 'name', label: 'Name', required: true, hint: 'What people call it, such as “laptop”.' })}
          ${field(this.form, {
            name: 'cluster',
            label: 'Cluster',
            type: 'select',
            hint: 'One whose nodes alone get it.',
            options: [{ value: '', text: 'All VM clusters' }, ...clusters.map((/** @type {any} */ one) => ({ value: one.name, text: one.name }))],
          })}
        </div>
        ${field(this.form, {
          name: 'public_key',
          label: 'Public key',
          type: 'textarea',
          required: true,
          placeholder: 'ssh-ed25519 AAAA… you@laptop',
          hint: html`One line, as <code>cat ~/.ssh/id_ed25519.pub</code> prints it. Never the private key.`,
        })}
        ${formFault(this.form)}
        <div class="actions">${submitButton(this.form, 'Add the key')}</div>
      </form>
      <section class="sheet" aria-labelledby="key-writers">
        <h2 id="key-writers">API tokens</h2>
        <p class="muted">${needsWrite
          ? html`Only API tokens with <code>capacity:write</code> can add and revoke keys.`
          : 'Any API token of the organization can add and revoke keys.'}</p>
        <div class="actions"><button type="button" class="quiet" @click=${() => this.restrict(!needsWrite)}>${needsWrite ? 'Allow any token' : 'Require capacity:write'}</button></div>
      </section>`;
  }

  /** @returns {import('../components/table.js').Column[]} */
  columns() {
    return [
      { title: 'Name', value: (row) => row.name, cell: (row) => row.name },
      {
        title: 'Fingerprint',
        value: (row) => row.fingerprint,
        cell: (row) => html`<div><span class="mono small">${row.fingerprint}</span> <bourse-copy value=${row.public_key} label=${`the public key ${row.name}`}></bourse-copy></div>`,
      },
      { title: 'Cluster', value: (row) => row.cluster, cell: (row) => row.cluster ?? html`<span class="muted">all</span>` },
      { title: 'Added', value: (row) => row.created_at, cell: (row) => html`<div>${at(row.created_at)} <span class="faint small">${by(row.created_by)}</span></div>` },
      {
        title: 'Actions',
        isAction: true,
        cell: (row) => html`<button type="button" class="quiet tiny" aria-label=${`Revoke ${row.name}`} @click=${() => this.revoke(row)}>Revoke</button>`,
      },
    ];
  }
}

/** @param {string} actor */
function by(actor) {
  return actor ? `by ${actor.replace(/^member:/, '')}` : nothing;
}

customElements.define('bourse-ssh-keys', SshKeys);
export default SshKeys;
