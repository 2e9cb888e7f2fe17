import { html, nothing } from 'lit';
import { OperatorPage } from '../lib/operator-page.js';
import { call } from '../lib/client.js';
import { at, badge } from '../components/parts.js';
import { dialogHost, openDialog } from '../components/dialog.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import '../components/copy.js';
import '../components/table.js';

/** The tokens of those who run the platform. */
class Operators extends OperatorPage {
  /** @override */
  get heading() {
    return 'Operators';
  }

  /** @override */
  headActions() {
    return this.ifWriting(() => html`<button type="button" id="mint-operator" @click=${() => this.mint()}>Mint a token</button>`);
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    return call('listOperators', { query: { limit: 500 }, signal });
  }

  /** @override */
  view(/** @type {any} */ { operators }) {
    return html`<bourse-table caption="Operators' tokens" ?search=${operators.length > 8} .rows=${operators}
      .key=${(/** @type {any} */ row) => `operator-${row.token_id}`} .columns=${this.columns()}></bourse-table>`;
  }

  /** @returns {import('../components/table.js').Column[]} */
  columns() {
    return [
      { title: 'Name', value: (row) => row.name, cell: (row) => html`${row.name} <span class="faint mono">${row.token_id}</span> ${row.token_id === this.session.token_id ? badge('you') : nothing} ${row.read_only ? badge('read-only') : nothing} ${row.site ? badge(`site ${row.site}`) : nothing}` },
      { title: 'Minted by', value: (row) => row.created_by, cell: (row) => row.created_by },
      { title: 'Minted', value: (row) => row.created_at, cell: (row) => at(row.created_at) },
      { title: 'Expires', value: (row) => row.expires_at, cell: (row) => (row.expires_at ? at(row.expires_at, 'ago') : 'never') },
      { title: 'Actions', isAction: true, cell: (row) => (row.revoked_at ? badge('revoked') : this.ifWriting(() => html`<button type="button" class="quiet tiny" aria-label=${`Revoke ${row.name}`} @click=${() => this.revoke(row)}>Revoke</button>`)) },
    ];
  }

  async mint() {
    /** @type {Form | null} */
    let form = null;
    /** @type {any} */
    let minted = null;
    await openDialog((/** @type {(done?: boolean) => void} */ close, redraw) => {
      form ??= new Form(dialogHost(redraw), { name: '' });
      const current = form;
      if (minted) {
        return html`<h2>The token of ${minted.name}</h2><p>It is shown this once. Hand it over safely.</p>
          <p class="mono" id="minted">${minted.token}</p>
          <div class="actions"><bourse-copy .value=${minted.token} label="Copy token"></bourse-copy>
            <button type="button" @click=${() => close(true)}>Done</button></div>`;
      }
      const send = onSubmit(async () => {
        minted = await current.submit(() => call('mintOperator', { body: { name: current.values.name } }));
        redraw();
      });
      return html`<form @submit=${send}><h2>Mint an operator’s token</h2>
        <p>Its bearer runs the platform: every organization, every machine, every switch.</p>
        ${field(current, { name: 'name', label: 'Name', required: true, autofocus: true, hint: 'Whose it is; trails name it.' })}
        ${formFault(current)}
        <div class="actions">${submitButton(current, 'Mint')}<button type="button" class="quiet" @click=${() => close()}>Cancel</button></div></form>`;
    });
    await this.refresh();
  }

  /** @param {any} token */
  async revoke(token) {
    await this.ask({
      title: `Revoke the token of ${token.name}?`,
      text: html`<p>It stops working at once, and so do the sessions of browsers that began with it${token.token_id === this.session.token_id ? html`, <strong>this one too</strong>` : nothing}.</p>`,
      action: 'Revoke',
      danger: true,
      work: () => call('revokeOperator', { path: { token_id: token.token_id } }),
    });
  }
}

customElements.define('bourse-operators', Operators);
export default Operators;
