import { html, nothing } from 'lit';
import { call, soon } from '../lib/client.js';
import { dollars, duration, roughly } from '../lib/format.js';
import { isRefusal, reasonOf } from '../lib/losses.js';
import { Element, at, figure, money } from './parts.js';
import { askFirst, confirm } from './dialog.js';
import { Form, field, formFault, onSubmit, submitButton } from './form.js';
import { toast } from './toast.js';

/** How long after the last key a limit is tried out: some keys are pressed one after the other. */
const TYPING_MILLIS = 300;

/** `<bourse-spend-limit .outlook=…>`: the monthly limit, with what it would do while it is typed. */
class SpendLimit extends Element {
  static properties = { outlook: { attribute: false }, tried: { state: true } };

  constructor() {
    super();
    /** @type {any} what `readSpendLimit` told */
    this.outlook = null;
    /** @type {any} the same for what is typed; null while nothing is */
    this.tried = null;
    this.form = new Form(this, { limit_usd: '' });
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {AbortController | null} */
    this.left = null;
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.timer);
    this.left?.abort();
  }

  /** @param {string} value */
  typed(value) {
    clearTimeout(this.timer);
    if (value === '') {
      this.tried = null;
      return;
    }
    this.timer = setTimeout(() => this.tryOut(value), TYPING_MILLIS);
  }

  /** @param {string} value */
  async tryOut(value) {
    try {
      const tried = await call('readSpendLimit', { query: { limit_usd: value } });
      if (this.form.values.limit_usd === value) {
        this.tried = tried;
      }
    } catch (failure) {
      this.tried = null;
      this.form.refuse(failure);
    }
  }

  /** Sets the limit; where it stops what runs, once the reader has agreed. */
  async set() {
    clearTimeout(this.timer);
    const { limit_usd: typed } = this.form.values;
    const body = Object.freeze({ limit_usd: typed === '' ? NaN : Number(typed) });
    const left = new AbortController();
    this.left = left;
    await askFirst({ ask: (signal) => this.question(body, typed, left, signal), work: () => this.send(body), form: this.form }, left.signal);
  }

  /**
   * What to ask before a limit is set; null if it stops nothing.
   * @param {{limit_usd: number}} body
   * @param {string} typed
   * @param {AbortController} left
   * @param {AbortSignal} signal
   * @returns {Promise<import('./dialog.js').Asked | null>}
   */
  async question(body, typed, left, signal) {
    const asked = { title: `Limit the month to ${dollars(body.limit_usd)}?`, action: 'Set the limit', danger: true };
    try {
      const tried = await call('readSpendLimit', { query: { limit_usd: body.limit_usd }, signal: soon(signal) });
      if (this.form.values.limit_usd !== typed) {
        toast('The form changed during the check. No limit was set.');
        left.abort();
      }
      return tried.reached
        ? { ...asked, text: html`<p>${roughly(tried.month_usage_micros)} are used this month. ${course(tried)}</p>`, losses: `reached, ${tried.enforced}` }
        : null;
    } catch (failure) {
      if (signal.aborted || isRefusal(failure)) {
        throw failure;
      }
      return {
        ...asked,
        text: html`<p>The month’s usage cannot be read now: ${reasonOf(failure)} If the usage is above the limit, no more nodes are granted,
          and the held nodes are reclaimed.</p>`,
        losses: 'unknown',
      };
    }
  }

  /** @param {{limit_usd: number}} body */
  async send(body) {
    this.stands(await call('setSpendLimit', { body }));
    toast('The limit is in force from the next tick on');
  }

  async clear() {
    /** @type {any} */
    let cleared;
    const { limit_operator_micros: operators } = this.outlook;
    await confirm({
      title: 'Delete your spend limit?',
      text:
        operators === null
          ? html`<p>Then only the balance and the ceilings bound what the organization spends in a month.</p>`
          : html`<p>Then the operator’s limit of ${roughly(operators)} a month is in force.</p>`,
      action: 'Delete limit',
      danger: true,
      work: async () => (cleared = await call('clearSpendLimit')),
    });
    if (cleared) {
      this.stands(cleared);
      toast('Your spend limit is deleted');
    }
  }

  /** @param {any} outlook */
  stands(outlook) {
    this.outlook = outlook;
    this.tried = null;
    this.form.reset({ limit_usd: '' });
  }

  /** @override */
  render() {
    const { outlook, tried } = this;
    if (!outlook) {
      return nothing;
    }
    return html`
      <section class="sheet" aria-labelledby="limit-now">
        <h2 id="limit-now">${outlook.limit_micros === null ? 'No spend limit is set' : `${roughly(outlook.limit_micros)} a month`}</h2>
        ${outlook.enforced ? nothing : html`<p class="notice warn">The operator does not have spend limits acted upon now: one that is set is recorded, and stops nothing.</p>`}
        ${outlook.limit_operator_micros === null ? nothing : html`<p class="muted">${whose(outlook)}</p>`}
        ${words(outlook)}
        ${outlook.limit_member_micros === null
          ? nothing
          : html`<div class="actions"><button type="button" class="quiet" @click=${() => this.clear()}>Delete your limit</button></div>`}
      </section>
      <form class="sheet" aria-labelledby="limit-new" @submit=${onSubmit(() => this.set())}>
        <h2 id="limit-new">${outlook.limit_member_micros === null ? 'Set a limit' : 'Change your limit'}</h2>
        ${field(this.form, {
          name: 'limit_usd',
          label: 'Limit',
          type: 'number',
          min: 0,
          step: '0.01',
          unit: '$ a calendar month',
          required: true,
          hint: `${roughly(outlook.month_usage_micros)} are used so far. 0 buys nothing.`,
          changed: (value) => this.typed(value),
        })}
        ${tried ? html`<div aria-live="polite"><h3>With ${roughly(tried.limit_micros)}</h3>${words(tried)}</div>` : nothing}
        ${formFault(this.form)}
        <div class="actions">${submitButton(this.form, 'Set the limit')}</div>
      </form>`;
  }
}

/** Both limits and the one in force, where the operator has set one. @param {any} outlook */
function whose(outlook) {
  const operators = `The operator allows at most ${roughly(outlook.limit_operator_micros)} a month.`;
  const own = outlook.limit_member_micros;
  if (own === null) {
    return operators;
  }
  return `${operators} Your own limit is ${roughly(own)}; the lower one is in force.`;
}

/** What a limit does to what runs. @param {any} outlook */
function words(outlook) {
  if (outlook.limit_micros === null) {
    return html`<p class="muted">At this rate the month comes to ${roughly(outlook.month_at_this_rate_micros)}.</p>`;
  }
  return html`
    <p>${course(outlook)}</p>
    <dl class="figures-row">
      ${figure('Left', money(outlook.remaining_micros), 'to commit to')}
      ${figure('May be passed by', money(outlook.overshoot_micros), 'at the ceilings declared, until all is reclaimed')}
      ${figure('The month at most', money(outlook.month_at_most_micros), outlook.enforced ? 'limit and what it may be passed by' : 'not bounded while limits are not acted upon')}
    </dl>`;
}

/** When it is reached, and what that does. @param {any} outlook */
function course(outlook) {
  const then = outlook.enforced
    ? `Nothing more is granted then, and what is held is reclaimed ${duration(outlook.stop_after_ms)} later.`
    : 'Nothing acts upon that now.';
  if (outlook.reached) {
    return html`<strong>It is reached already.</strong> ${then}`;
  }
  return outlook.reached_at ? html`At this rate it is reached ${at(outlook.reached_at)}. ${then}` : 'At this rate it is not reached this month.';
}

customElements.define('bourse-spend-limit', SpendLimit);
