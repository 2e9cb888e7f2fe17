import { html } from 'lit';
import { OperatorPage } from '../lib/operator-page.js';
import { call } from '../lib/client.js';
import { navigate } from '../lib/router.js';
import { at, badge, empty } from '../components/parts.js';
import { dialogHost, openDialog } from '../components/dialog.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import '../components/table.js';

/** The customers. */
class Organizations extends OperatorPage {
  /** @override */
  get heading() {
    return 'Organizations';
  }

  /** @override */
  headActions() {
    return this.ifWriting(() => html`<button type="button" id="make-org" @click=${() => this.make()}>New organization</button>`);
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    return call('listOrgs', { query: { limit: 500 }, signal });
  }

  more() {
    return this.showMore(async (data) => {
      const page = await call('listOrgs', { query: { limit: 500, after: data.next } });
      return { ...page, orgs: [...data.orgs, ...page.orgs] };
    });
  }

  /** @override */
  view(/** @type {any} */ { orgs, more }) {
    return html`<bourse-table caption="Organizations" ?search=${orgs.length > 8} ?more=${more} @more=${() => this.more()} .rows=${orgs}
      .key=${(/** @type {any} */ org) => `org-${org.org_id}`} .columns=${COLUMNS}
      .empty=${empty('No organization yet', 'Make one, then invite its first member.')}></bourse-table>`;
  }

  async make() {
    /** @type {Form | null} */
    let form = null;
    const made = await openDialog((/** @type {(made?: string) => void} */ close, redraw) => {
      form ??= new Form(dialogHost(redraw), { org_id: '', display: '', kind: 'standard' });
      const current = form;
      const send = onSubmit(async () => {
        const org = await current.submit(() => call('createOrg', { body: /** @type {any} */ (current.values) }), { conflict: 'org_id' });
        if (org) {
          close(org.org_id);
        }
      });
      return html`<form @submit=${send}><h2>New organization</h2>
        ${field(current, { name: 'org_id', label: 'Id', required: true, autofocus: true, hint: 'In every path; it is never given again.' })}
        ${field(current, { name: 'display', label: 'Name for people', required: true })}
        ${field(current, { name: 'kind', label: 'Kind', type: 'select', required: true, options: [
          { value: 'standard', text: 'Standard' },
          { value: 'public_research', text: 'Public research: may publish on the feed' },
        ] })}
        ${formFault(current)}
        <div class="actions">${submitButton(current, 'Make it')}<button type="button" class="quiet" @click=${() => close()}>Cancel</button></div></form>`;
    });
    if (made) {
      navigate(`/operator/organizations/${made}`);
    }
  }
}

/** @type {import('../components/table.js').Column[]} */
const COLUMNS = [
  { title: 'Organization', value: (org) => `${org.display} ${org.org_id}`, cell: (org) => html`<a href=${`/operator/organizations/${org.org_id}`}>${org.display}</a> <span class="faint mono">${org.org_id}</span>` },
  { title: 'Kind', value: (org) => org.kind, cell: (org) => (org.kind === 'public_research' ? 'public research' : 'standard') },
  { title: 'Most clusters', numeric: true, value: (org) => org.max_clusters, cell: (org) => org.max_clusters },
  { title: 'Since', value: (org) => org.created_at, cell: (org) => at(org.created_at) },
  { title: 'State', value: (org) => org.retired_at, cell: (org) => (org.retired_at ? badge('retired', 'warn') : badge('active', 'good')) },
];

customElements.define('bourse-organizations', Organizations);
export default Organizations;
