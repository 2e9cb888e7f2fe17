import { html, nothing } from 'lit';
import { CallError } from '../lib/client.js';

/**
 * What was typed into a form, what the server said of it, and whether it is being sent. What was typed stays whatever
 * the server says.
 */
export class Form {
  /**
   * @param {import('lit').ReactiveControllerHost} host rendered again when something changes
   * @param {Record<string, any>} values what the fields hold at first
   */
  constructor(host, values) {
    this.host = host;
    this.values = { ...values };
    /** @type {Record<string, string>} what the server said, by field */
    this.errors = {};
    /** @type {CallError | Error | null} what it said of no field that the form has */
    this.failure = null;
    this.busy = false;
  }

  /**
   * Takes a new value of a field.
   * @param {string} name
   * @param {any} value
   */
  set(name, value) {
    this.values[name] = value;
    if (this.errors[name]) {
      delete this.errors[name];
    }
    this.host.requestUpdate();
  }

  /** Begins anew. @param {Record<string, any>} values */
  reset(values) {
    this.values = { ...values };
    this.errors = {};
    this.failure = null;
    this.host.requestUpdate();
  }

  /**
   * The field of this form that a refusal is about; '' if there is none.
   * @param {unknown} failure
   * @param {Record<string, string>} [fieldOfCode] the field of a code whose words name none
   */
  fieldOf(failure, fieldOfCode = {}) {
    const field = failure instanceof CallError ? (fieldOfCode[failure.code] ?? failure.field) : '';
    return field in this.values ? field : '';
  }

  /**
   * Shows a refusal at the field that it names, or above the form.
   * @param {unknown} failure
   * @param {Record<string, string>} [fieldOfCode] the field of a code whose words name none
   */
  refuse(failure, fieldOfCode = {}) {
    const field = this.fieldOf(failure, fieldOfCode);
    if (field) {
      this.errors = { [field]: /** @type {CallError} */ (failure).detail };
      this.failure = null;
    } else {
      this.failure = /** @type {Error} */ (failure);
    }
    this.host.requestUpdate();
  }

  /**
   * Sends the form.
   * @template T
   * @param {() => Promise<T>} work
   * @param {Record<string, string>} [fieldOfCode] as of `refuse`
   * @returns {Promise<T | undefined>} undefined when it was refused, which the form shows
   */
  async submit(work, fieldOfCode = {}) {
    if (this.busy) {
      return undefined;
    }
    this.busy = true;
    this.errors = {};
    this.failure = null;
    this.host.requestUpdate();
    try {
      return await work();
    } catch (failure) {
      this.refuse(failure, fieldOfCode);
      focusFault(this.host);
      return undefined;
    } finally {
      this.busy = false;
      this.host.requestUpdate();
    }
  }
}

/** Leads the reader to what is wrong. @param {import('lit').ReactiveControllerHost} host */
async function focusFault(host) {
  await host.updateComplete;
  const root = /** @type {unknown} */ (host);
  if (root instanceof HTMLElement) {
    /** @type {HTMLElement | null} */ (root.querySelector('[aria-invalid="true"]'))?.focus();
  }
}

/**
 * @typedef {object} FieldOptions
 * @property {string} name the name of the field at the interface
 * @property {string} label
 * @property {unknown} [hint] what is accepted, before something goes wrong
 * @property {'text' | 'number' | 'email' | 'search' | 'date' | 'datetime-local' | 'password' | 'textarea' | 'select' | 'checkbox'} [type]
 * @property {{value: string, text: string}[]} [options] of a select
 * @property {string} [placeholder]
 * @property {boolean} [required]
 * @property {string | number} [min]
 * @property {string | number} [max]
 * @property {string | number} [step]
 * @property {string} [unit] stands behind the field
 * @property {string} [autocomplete]
 * @property {boolean} [autofocus]
 * @property {number} [rows] of a textarea
 * @property {(value: any) => void} [changed] called after the form has the value
 */

/**
 * A field of a form: label, control, hint and what the server said.
 * @param {Form} form
 * @param {FieldOptions} options
 */
export function field(form, options) {
  const { name, label, hint, type = 'text', unit, required = false } = options;
  const id = `field-${name}`;
  const error = form.errors[name];
  const described = [error ? `${id}-error` : '', hint ? `${id}-hint` : ''].filter(Boolean).join(' ') || nothing;
  /** @param {Event} event */
  const input = (event) => {
    const control = /** @type {HTMLInputElement} */ (event.target);
    const value = type === 'checkbox' ? control.checked : control.value;
    form.set(name, value);
    options.changed?.(value);
  };
  const invalid = error ? 'true' : nothing;
  const value = form.values[name] ?? '';
  const notes = html`
    ${error ? html`<p class="fault" id="${id}-error">${error}</p>` : nothing}
    ${hint ? html`<p class="hint" id="${id}-hint">${hint}</p>` : nothing}`;
  if (type === 'checkbox') {
    return html`<div class="field check">
      <input type="checkbox" id=${id} name=${name} .checked=${Boolean(value)} aria-describedby=${described} aria-invalid=${invalid} @change=${input}>
      <div><label for=${id}>${label}</label>${notes}</div>
    </div>`;
  }
  const control =
    type === 'select'
      ? html`<select id=${id} name=${name} aria-required=${required ? 'true' : nothing} aria-describedby=${described} aria-invalid=${invalid} @change=${input}>
          ${(options.options ?? []).map((o) => html`<option value=${o.value} .selected=${o.value === String(value)}>${o.text}</option>`)}
        </select>`
      : type === 'textarea'
        ? html`<textarea id=${id} name=${name} rows=${options.rows ?? 3} placeholder=${options.placeholder ?? nothing} aria-required=${required ? 'true' : nothing}
            spellcheck="false" aria-describedby=${described} aria-invalid=${invalid} .value=${String(value)} @input=${input}></textarea>`
        : html`<input type=${type} id=${id} name=${name} placeholder=${options.placeholder ?? nothing} aria-required=${required ? 'true' : nothing}
            min=${options.min ?? nothing} max=${options.max ?? nothing} step=${options.step ?? nothing}
            autocomplete=${options.autocomplete ?? 'off'} ?autofocus=${options.autofocus ?? false}
            inputmode=${type === 'number' ? 'decimal' : nothing} spellcheck="false"
            aria-describedby=${described} aria-invalid=${invalid} .value=${String(value)} @input=${input}>`;
  return html`<div class="field">
    <label for=${id}>${label}${required ? nothing : html` <span class="faint">optional</span>`}</label>
    ${unit ? html`<div class="with-unit">${control}<span>${unit}</span></div>` : control}
    ${notes}
  </div>`;
}

/**
 * What the server said of no field.
 * @param {Form} form
 */
export function formFault(form) {
  return form.failure ? html`<p class="notice bad" role="alert">${form.failure.message}</p>` : nothing;
}

/**
 * The button that sends a form.
 * @param {Form} form
 * @param {string} text
 * @param {{danger?: boolean, disabled?: boolean}} [how]
 */
export function submitButton(form, text, { danger = false, disabled = false } = {}) {
  return html`<button type="submit" class=${danger ? 'danger' : ''} ?disabled=${disabled} aria-busy=${form.busy ? 'true' : 'false'}>${text}</button>`;
}

/**
 * A handler for `@submit` that sends by script alone.
 * @param {() => unknown} work
 * @returns {(event: Event) => void}
 */
export function onSubmit(work) {
  return (event) => {
    event.preventDefault();
    work();
  };
}
