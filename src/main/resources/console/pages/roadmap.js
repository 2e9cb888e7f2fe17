import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { badge, empty } from '../components/parts.js';

/**
 * The word for each status, and the tone of its badge.
 * @type {Record<string, [string, 'good' | 'warn' | 'bad' | 'calm']>}
 */
const STATUSES = {
  planned: ['Planned', 'calm'],
  preview: ['Preview', 'warn'],
  shipped: ['Shipped', 'good'],
  withdrawn: ['Withdrawn', 'bad'],
};

/** The features that the operator plans, previews, has shipped or has withdrawn. */
class Roadmap extends Page {
  /** @override */
  get heading() {
    return 'Roadmap';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    return call('readRoadmap', { signal });
  }

  /** @override */
  view(/** @type {any} */ { entries }) {
    return entries.length === 0
      ? empty('No roadmap', 'The operator of this service has not published one.')
      : entries.map(entry);
  }
}

function entry(/** @type {any} */ { id, title, status, since, summary, operations }) {
  const [word, tone] = STATUSES[status];
  return html`<section class="sheet" id=${`roadmap-${id}`}>
    <div class="sheet-head"><h2>${title}</h2>${badge(word, tone)}</div>
    <p>${summary}</p>
    <p class="muted small">${word} since ${since}${
      operations.length === 0 ? nothing : html`. Operations: ${operations.map((/** @type {string} */ name, /** @type {number} */ i) => html`${i > 0 ? ', ' : ''}<code>${name}</code>`)}`}.</p>
  </section>`;
}

customElements.define('bourse-roadmap', Roadmap);
export default Roadmap;
