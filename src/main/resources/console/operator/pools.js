import { html, nothing } from 'lit';
import { OperatorPage } from '../lib/operator-page.js';
import { call } from '../lib/client.js';
import { dollars, duration } from '../lib/format.js';
import { navigate } from '../lib/router.js';
import { badge, empty } from '../components/parts.js';
import { dialogHost, openDialog } from '../components/dialog.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import '../components/table.js';

/** The markets and their terms. */
class Pools extends OperatorPage {
  /** @override */
  get heading() {
    return 'Pools';
  }

  /** @override */
  headActions() {
    return this.mayWrite && !this.session.site ? html`<button type="button" id="create-pool" @click=${() => this.create()}>Create a pool</button>` : nothing;
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    return call('listPools', { query: { limit: 500 }, signal });
  }

  /** @override */
  view(/** @type {any} */ { pools }) {
    return html`<bourse-table caption="Pools" ?search=${pools.length > 8} .rows=${pools} .columns=${COLUMNS}
      .key=${(/** @type {any} */ pool) => `pool-${pool.name}`}
      .empty=${empty('No pool yet', 'A pool is a market for machines of one kind at one site. Create it, then add its nodes.')}></bourse-table>`;
  }

  async create() {
    /** @type {Form | null} */
    let form = null;
    const name = await openDialog((/** @type {(name?: string) => void} */ close, redraw) => {
      form ??= new Form(dialogHost(redraw), { ...NEW });
      const current = form;
      const send = onSubmit(async () => {
        const made = await current.submit(() => call('createPool', { body: /** @type {any} */ (bodyOf(current.values)) }));
        if (made) {
          close(made.name);
        }
      });
      return html`<form @submit=${send}><h2>Create a pool</h2>
        <p>A pool cannot be removed. Its name, site, provider, vendor, GPUs of a node and ssh login cannot be changed.</p>
        <div class="fields-row">
          ${field(current, { name: 'name', label: 'Name', required: true, autofocus: true, hint: 'Such as north-h100.' })}
          ${field(current, { name: 'site', label: 'Site', required: true })}
          ${field(current, { name: 'provider', label: 'Machines', type: 'select', required: true, options: [
            { value: 'ssh', text: 'Real, over ssh' },
            { value: 'simulated', text: 'Simulated' },
          ] })}
        </div>
        <div class="fields-row">
          ${field(current, { name: 'gpu_vendor', label: 'GPU vendor', required: true })}
          ${field(current, { name: 'gpu_model', label: 'GPU model' })}
          ${field(current, { name: 'gpus_per_node', label: 'GPUs of a node', type: 'number', min: 1, step: 1, required: true })}
        </div>
        <div class="fields-row">
          ${field(current, { name: 'reserve_price_per_gpu_hour', label: 'Reserve price', type: 'number', unit: '$ per GPU-hour', step: '0.01', required: true })}
          ${field(current, { name: 'max_price_cap_per_gpu_hour', label: 'Highest price', type: 'number', unit: '$ per GPU-hour', step: '0.01', required: true })}
        </div>
        <div class="fields-row">
          ${field(current, { name: 'ssh_user', label: 'Login of tenants', required: true })}
          ${field(current, { name: 'ssh_port', label: 'Port of ssh', type: 'number', min: 1, step: 1, required: true })}
          ${field(current, { name: 'tenants', label: 'Tenants', type: 'select', required: true, options: [
            { value: 'login', text: 'Login only: cleaned after each' },
            { value: 'root', text: 'Root: a new image after each' },
          ] })}
        </div>
        ${field(current, { name: 'self_service', label: 'Members create clusters here by themselves', type: 'checkbox' })}
        ${formFault(current)}
        <div class="actions">${submitButton(current, 'Create pool')}<button type="button" class="quiet" @click=${() => close()}>Cancel</button></div></form>`;
    }, { wide: true });
    if (name) {
      navigate(`/operator/pools/${encodeURIComponent(name)}`);
    }
  }
}

/** What the form of a new pool holds at first. */
const NEW = {
  name: '',
  site: '',
  provider: 'ssh',
  gpu_vendor: 'NVIDIA',
  gpu_model: '',
  gpus_per_node: 8,
  reserve_price_per_gpu_hour: '',
  max_price_cap_per_gpu_hour: '',
  ssh_user: 'tenant',
  ssh_port: 22,
  tenants: 'login',
  self_service: false,
};

const NUMBERS = ['gpus_per_node', 'reserve_price_per_gpu_hour', 'max_price_cap_per_gpu_hour', 'ssh_port'];

/** The fields as the interface takes them; the service says what is missing. @param {Record<string, any>} values */
function bodyOf(values) {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [name, NUMBERS.includes(name) ? Number(value) : value]),
  );
}

/** @type {import('../components/table.js').Column[]} */
const COLUMNS = [
  { title: 'Pool', value: (pool) => pool.name, cell: (pool) => html`<a href=${`/operator/pools/${pool.name}`}>${pool.name}</a>` },
  { title: 'Site', value: (pool) => pool.site, cell: (pool) => pool.site },
  { title: 'GPUs', value: (pool) => pool.gpu_model, cell: (pool) => `${pool.gpus_per_node} × ${pool.gpu_vendor} ${pool.gpu_model ?? ''}` },
  { title: 'Reserve price', numeric: true, value: (pool) => pool.reserve_price_per_gpu_hour, cell: (pool) => dollars(pool.reserve_price_per_gpu_hour) },
  { title: 'Highest price', numeric: true, value: (pool) => pool.max_price_cap_per_gpu_hour, cell: (pool) => dollars(pool.max_price_cap_per_gpu_hour) },
  { title: 'Notice', numeric: true, value: (pool) => pool.notice_ms, cell: (pool) => (pool.notice_ms === null ? html`<span class="faint">as the service</span>` : duration(pool.notice_ms)) },
  { title: 'Market', value: (pool) => String(pool.paused), cell: (pool) => (pool.paused ? html`${badge('paused', 'bad')} ${pool.pause_reason}` : badge('goes on', 'good')) },
  { title: 'Self-service', value: (pool) => String(pool.self_service), cell: (pool) => (pool.self_service ? badge('open', 'good') : badge('closed')) },
];

customElements.define('bourse-pools', Pools);
export default Pools;
