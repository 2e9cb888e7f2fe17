import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { count } from '../lib/format.js';
import { KINDS } from '../lib/kinds.js';
import { badge } from '../components/parts.js';
import '../components/copy.js';

/** Clusters named on the page; a new member needs one to begin with. */
const NAMED = 5;

/** What a new member does first. A step is done when anybody of the organization has done it. */
class Welcome extends Page {
  /** @override */
  get heading() {
    return `Welcome to ${this.session.org_display}`;
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const [keys, page] = await Promise.all([
      call('listSshKeys', { path: { org: this.session.org_id }, signal }),
      call('listConsoleClusters', { query: { state: 'in-use', limit: NAMED }, signal }),
    ]);
    return { keys: keys.keys, clusters: page.clusters };
  }

  /** @override */
  view(/** @type {any} */ { keys, clusters }) {
    const login = `bourse login --url ${location.origin}`;
    return html`
      <p class="muted">You are <b>${this.session.username}</b> of ${this.session.org_display}. Members share its clusters, keys and bill.
        A market grants nodes to the highest bids; <a href="/docs/guides/market">how the market works</a>.</p>
      <ol class="sheet steps" aria-label="First steps">
        <li><h2>Add your SSH key ${keys.length > 0 ? badge(`${count(keys.length, 'key')} added`, 'good') : nothing}</h2>
          <p>It is installed on nodes when they start. Nodes that run already do not get it.</p>
          <p><a class=${keys.length > 0 ? 'button quiet' : 'button'} href="/console/ssh-keys">Add an SSH key</a></p></li>
        <li><h2>Request GPUs ${clusters.length > 0 ? badge(`${count(clusters.length, 'cluster')}${clusters.length === NAMED ? ' or more' : ''}`, 'good') : nothing}</h2>
          <p>A cluster states how many GPUs it wants and the most you pay per GPU-hour. The preview shows the cost before you confirm.</p>
          <p>${clusters.length === 0
            ? html`<a class="button" href="/console/clusters">New cluster</a>`
            : clusters.map((/** @type {any} */ one) => html`<a class="button quiet" href=${KINDS[one.kind].address(one.name)}>${one.name}</a> `)}</p></li>
        <li><h2>Work from a terminal</h2>
          <p><a href="/docs/guides/command-line#install">Install the command line</a>, then sign in:</p>
          <p class="ssh-line"><code>${login}</code> <bourse-copy value=${login} label="the command"></bourse-copy></p></li>
      </ol>
      <p><a href="/console/">Go to the overview</a></p>`;
  }
}

customElements.define('bourse-welcome', Welcome);
export default Welcome;
