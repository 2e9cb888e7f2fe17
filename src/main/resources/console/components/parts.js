/** The base of all components, and small parts that have no state of their own: functions that make a piece of a page. */
import { LitElement, html, nothing } from 'lit';
import { micros, roughly, time, utc } from '../lib/format.js';

/** A component of ours: it renders into the page itself, so that one style sheet and plain labels reach it. */
export class Element extends LitElement {
  /** @override */
  createRenderRoot() {
    return this;
  }
}

/**
 * A refusal, with a way to try again.
 * @param {Error & {code?: string, status?: number}} failure
 * @param {() => void} [again]
 */
export function fault(failure, again) {
  return html`<div class="notice bad" role="alert">
    <p>${failure.message}${failure.code ? html` <code class="faint">${failure.code}</code>` : nothing}</p>
    ${again ? html`<button type="button" class="quiet small" @click=${again}>Try again</button>` : nothing}
  </div>`;
}

/**
 * What stands where a list is empty: what to do first.
 * @param {string} title
 * @param {unknown} text
 * @param {unknown} [action]
 */
export function empty(title, text, action = nothing) {
  return html`<div class="empty"><h2>${title}</h2><p>${text}</p>${action}</div>`;
}

/**
 * A time, with the same in UTC in its title; or an age, which goes on as time passes.
 * @param {string | number | null | undefined} moment
 * @param {'time' | 'ago'} [form]
 */
export function at(moment, form = 'time') {
  if (moment === null || moment === undefined) {
    return html`<span class="faint">–</span>`;
  }
  const iso = new Date(moment).toISOString();
  return form === 'ago'
    ? html`<bourse-ago at=${iso}></bourse-ago>`
    : html`<time datetime=${iso} title=${utc(moment)}>${time(moment)}</time>`;
}

/**
 * Millionths of a dollar, rounded to the cent, with the exact amount in the title where that differs.
 * @param {number | null | undefined} amount
 */
export function money(amount) {
  const [rounded, exact] = [roughly(amount), micros(amount)];
  return rounded === exact ? html`${rounded}` : html`<span title=${`exactly ${exact}`}>${rounded}</span>`;
}

/**
 * A state in a word, in a colour that repeats it.
 * @param {string} word
 * @param {'good' | 'held' | 'warn' | 'bad' | 'calm'} [tone]
 */
export function badge(word, tone = 'calm') {
  return html`<span class="badge ${tone}">${word}</span>`;
}

/** How bad a node's health is. */
const HEALTH = /** @type {Record<string, 'good' | 'warn' | 'bad' | 'calm'>} */ ({
  ok: 'good',
  degraded: 'warn',
  failed: 'bad',
  unknown: 'calm',
});

/**
 * The health of a node, with its reasons.
 * @param {{ state: string, since: string, reasons: string[] }} found
 */
export function health(found) {
  return html`<span>${badge(found.state, HEALTH[found.state])}
    ${found.state === 'unknown' ? nothing : html`<span class="small">since <bourse-ago at=${found.since}></bourse-ago></span>`}
    ${found.reasons.map((reason) => html`<br /><span class="small">${reason}</span>`)}</span>`;
}

/**
 * A figure and what it is.
 * @param {string} label
 * @param {unknown} value
 * @param {unknown} [note]
 */
export function figure(label, value, note = nothing) {
  return html`<div class="figure"><dt>${label}</dt><dd>${value}${note === nothing ? nothing : html`<small>${note}</small>`}</dd></div>`;
}

/**
 * Links between the parts of one page. Which is shown is in the address.
 * @param {string} label what they choose between, for those who cannot see them
 * @param {{href: string, text: string, current: boolean}[]} links
 */
export function tabs(label, links) {
  return html`<nav class="tabs" aria-label=${label}>
    ${links.map((link) => html`<a href=${link.href} aria-current=${link.current ? 'page' : nothing}>${link.text}</a>`)}
  </nav>`;
}
