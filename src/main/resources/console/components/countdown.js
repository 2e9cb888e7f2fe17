import { html, nothing } from 'lit';
import { Element } from './parts.js';
import { ago, duration, time, utc } from '../lib/format.js';

/** @type {Set<{requestUpdate(): void}>} */
const ticking = new Set();
setInterval(() => {
  if (!document.hidden) {
    ticking.forEach((one) => one.requestUpdate());
  }
}, 1000);

/** A text that changes as time passes. All of them change together, once a second. */
class Ticking extends Element {
  connectedCallback() {
    super.connectedCallback();
    ticking.add(this);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    ticking.delete(this);
  }
}

/** `<bourse-countdown until="…" over="not protected">`: how long until a moment, and what stands after it. */
class Countdown extends Ticking {
  static properties = { until: {}, over: {} };

  constructor() {
    super();
    this.until = '';
    this.over = '';
  }

  /** @override */
  render() {
    const left = Date.parse(this.until) - Date.now();
    if (!(left > 0)) {
      return html`<span class="faint">${this.over}</span>`;
    }
    return html`<time class="figures" datetime=${this.until} title=${utc(this.until)}>${duration(left)}</time>`;
  }
}

/** `<bourse-ago at="…">`: how long ago a moment was. */
class Ago extends Ticking {
  static properties = { at: {} };

  constructor() {
    super();
    this.at = '';
  }

  /** @override */
  render() {
    return this.at ? html`<time datetime=${this.at} title=${`${time(this.at)}; ${utc(this.at)}`}>${ago(this.at)}</time>` : nothing;
  }
}

customElements.define('bourse-countdown', Countdown);
customElements.define('bourse-ago', Ago);
