import { html, nothing } from 'lit';
import { Element, badge } from './parts.js';
import { Form, field, formFault, onSubmit, submitButton } from './form.js';
import { toast } from './toast.js';

/** What each alert tells, by its kind. @type {Record<string, string>} */
const TOLD = {
  rival: 'a rival is near',
  price: 'the price is high',
  supply: 'supply runs short',
  spend: 'money is spent',
  lease: 'the end is near',
};

const FIELDS = ['rival_within_percent', 'price_above_per_gpu_hour', 'supply_under_nodes', 'spend_above_usd', 'lease_ends_within_s'];

/** `<bourse-alerts cluster .kind=… .alerts=…>`: the thresholds of a cluster's alerts. */
class Alerts extends Element {
  static properties = { cluster: {}, kind: { attribute: false }, alerts: { attribute: false } };

  constructor() {
    super();
    this.cluster = '';
    /** @type {import('../lib/kinds.js').Kind} */
    this.kind;
    /** @type {any} as they were read */
    this.alerts = null;
    this.form = new Form(this, values(null));
    /** @type {any} what the form was filled from */
    this.filled = null;
  }

  /** What is typed stands; what another set meanwhile is shown once this one is sent. @override */
  willUpdate() {
    if (this.alerts && !this.filled) {
      this.filled = this.alerts;
      this.form.reset(values(this.alerts));
    }
  }

  async set() {
    /** @type {Record<string, any>} */
    const body = { cluster: this.cluster };
    for (const name of FIELDS) {
      const typed = this.form.values[name];
      body[name] = typed === '' ? null : Number(typed);
    }
    const set = await this.form.submit(() => this.kind.setAlerts(body));
    if (set) {
      this.filled = null;
      this.alerts = set;
      toast('The alerts are in force from the next tick on');
    }
  }

  /** @override */
  render() {
    const { alerts, form } = this;
    if (!alerts) {
      return nothing;
    }
    return html`<form class="sheet" aria-labelledby="alerts" @submit=${onSubmit(() => this.set())}>
      <div class="sheet-head"><h2 id="alerts">Alerts</h2>
        ${alerts.raised.map((/** @type {string} */ kind) => badge(TOLD[kind] ?? kind, 'warn'))}</div>
      <p class="muted small">You are notified once per crossing, here and on the event stream. Leave a field empty to turn it off.</p>
      <div class="fields-row">
        ${field(form, { name: 'rival_within_percent', label: 'A rival’s bid is within', type: 'number', min: 0, max: 100, unit: '% of the ceiling' })}
        ${field(form, { name: 'price_above_per_gpu_hour', label: 'The clearing price is above', type: 'number', min: 0, step: '0.01', unit: '$ a GPU-hour' })}
        ${field(form, { name: 'supply_under_nodes', label: 'The ceiling would win fewer than', type: 'number', min: 1, unit: 'nodes more' })}
        ${field(form, { name: 'spend_above_usd', label: 'The declaration has cost', type: 'number', min: 0, step: '0.01', unit: '$ of its budget' })}
        ${field(form, { name: 'lease_ends_within_s', label: 'The declaration ends within', type: 'number', min: 1, unit: 's' })}
      </div>
      ${formFault(form)}
      <div class="actions">${submitButton(form, 'Set the alerts')}</div>
    </form>`;
  }
}

/** @param {any} alerts @returns {Record<string, any>} */
function values(alerts) {
  return Object.fromEntries(FIELDS.map((name) => [name, alerts?.[name] == null ? '' : String(alerts[name])]));
}

customElements.define('bourse-alerts', Alerts);
