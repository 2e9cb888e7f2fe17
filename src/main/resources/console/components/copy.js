import { html } from 'lit';
import { Element } from './parts.js';

/** `<bourse-copy value="…" label="ssh line">`: a button that copies a text. */
class Copy extends Element {
  static properties = { value: {}, label: {}, done: { state: true } };

  constructor() {
    super();
    this.value = '';
    this.label = '';
    this.done = false;
  }

  async copy() {
    await navigator.clipboard.writeText(this.value);
    this.done = true;
    setTimeout(() => (this.done = false), 2000);
  }

  /** @override */
  render() {
    return html`<button type="button" class="quiet tiny" aria-label=${`Copy ${this.label || this.value}`} @click=${this.copy}>
      <span aria-live="polite">${this.done ? 'Copied' : 'Copy'}</span></button>`;
  }
}

customElements.define('bourse-copy', Copy);
