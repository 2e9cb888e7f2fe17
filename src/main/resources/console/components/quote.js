import { html, nothing } from 'lit';
import { call } from '../lib/client.js';
import { count, dollars, whole } from '../lib/format.js';
import { Element, figure } from './parts.js';
import { Form, field, formFault, onSubmit, submitButton } from './form.js';

/** `<bourse-quote .pool=…>`: what a bid in a pool would win, before anybody makes it. */
class Quote extends Element {
  static properties = { pool: { attribute: false }, quote: { state: true } };

  constructor() {
    super();
    /** @type {any} the pool as the feed has it */
    this.pool = null;
    /** @type {any} */
    this.quote = null;
    this.form = new Form(this, { gpus: '', price: '' });
  }

  async ask() {
    const { gpus, price } = this.form.values;
    const quote = await this.form.submit(
      () => call('readMarketQuote', { query: { pool: this.pool.pool, gpus, price } }),
      { 'price-precision': 'price', 'price-above-maximum': 'price' },
    );
    this.quote = quote ?? null;
  }

  /** @override */
  render() {
    const { pool, quote, form } = this;
    if (!pool) {
      return nothing;
    }
    return html`<form class="sheet" aria-labelledby="quote" @submit=${onSubmit(() => this.ask())}>
      <h2 id="quote">What a bid would win</h2>
      <div class="fields-row">
        ${field(form, { name: 'gpus', label: 'GPUs', type: 'number', min: pool.gpus_per_node, step: pool.gpus_per_node, required: true, hint: `${pool.gpus_per_node} a node`, changed: () => (this.quote = null) })}
        ${field(form, { name: 'price', label: 'At most', type: 'number', min: 0, max: pool.max_price_cap_per_gpu_hour, step: '0.01', unit: '$ a GPU-hour', required: true, changed: () => (this.quote = null) })}
      </div>
      ${formFault(form)}
      <div class="actions">${submitButton(form, 'Ask for a quote')}</div>
      ${quote && quote.pool === pool.pool ? answer(quote) : nothing}
    </form>`;
  }
}

/** @param {any} quote */
function answer(quote) {
  return html`<dl class="figures-row" aria-live="polite">
    ${figure('Would win', count(quote.nodes_won, 'node'), quote.nodes_unfilled > 0 ? `${whole(quote.nodes_unfilled)} not` : `${whole(quote.nodes_granted)} at the next tick`)}
    ${figure('Clearing price', dollars(quote.clearing_price_per_gpu_hour), `${dollars(quote.cost_per_hour)} an hour in all`)}
    ${figure('Left at this price', count(quote.nodes_left, 'node'), 'beside those')}
    ${figure('Next rival', dollars(quote.rival_price_per_gpu_hour), quote.rival_price_per_gpu_hour === null ? 'nobody else bids' : 'the highest other bid, rounded down')}
  </dl>`;
}

customElements.define('bourse-quote', Quote);
