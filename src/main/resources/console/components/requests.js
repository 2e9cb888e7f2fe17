import { html, nothing } from 'lit';
import { Element } from './parts.js';
import { onRequest, requests } from '../lib/client.js';
import { asCommand, asCurl } from '../lib/commands.js';
import './copy.js';

/** The requests of the page as commands, so that a program can do what the reader just did. */
class Requests extends Element {
  connectedCallback() {
    super.connectedCallback();
    this.end = onRequest(() => this.requestUpdate());
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.end?.();
  }

  /** @override */
  render() {
    const made = requests();
    return html`<h2>Requests of this page</h2>
      <p class="muted small">What this page asked the interface, the last first. <code>$BOURSE_TOKEN</code> stands for a token
        that may do the same.</p>
      ${made.length === 0 ? html`<p class="muted">None yet.</p>` : nothing}
      ${made.map((one) => {
        const command = asCommand(one);
        return html`<section class="request">
          <h3><a href="/docs/reference/${reference(one.address)}#${one.operation}" target="_blank">${one.operation}</a>
            <span class="faint">${one.status || '…'}</span></h3>
          ${code(asCurl(one), 'curl command')} ${command ? code(command, 'bourse command') : nothing}
        </section>`;
      })}`;
  }
}

/** The contract that an address belongs to. @param {string} address */
function reference(address) {
  const first = address.split('/')[2]?.split('?')[0];
  return first === 'whoami' || first === 'roadmap' ? 'org' : first;
}

/** @param {string} text @param {string} label */
function code(text, label) {
  return html`<div class="code-line"><pre tabindex="0"><code>${text}</code></pre><bourse-copy value=${text} label=${label}></bourse-copy></div>`;
}

customElements.define('bourse-requests', Requests);
