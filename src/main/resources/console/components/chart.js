import { html, nothing, svg } from 'lit';
import { Element } from './parts.js';
import { time, utc } from '../lib/format.js';

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {(number | null)[]} values one a bucket; null where nothing is known
 * @property {'first' | 'second'} tone the first is what happened, the second what bounds it
 * @property {boolean} [stepped] whether a value holds until the next
 */

const HEIGHT = 200;
const LEFT = 56;
const RIGHT = 8;
const TOP = 10;
const BOTTOM = 22;

/** Rows of the table at most: of more buckets every so many is shown, which the table says. */
const TABLE_ROWS = 100;

/**
 * `<bourse-chart>`: series over time as lines. Pointing at it, or its arrow keys, shows the values of a moment above it;
 * the same figures are in a table beneath it.
 */
class Chart extends Element {
  static properties = {
    label: {},
    start: { attribute: false },
    step: { attribute: false },
    series: { attribute: false },
    format: { attribute: false },
    width: { state: true },
    at: { state: true },
    tabled: { state: true },
  };

  constructor() {
    super();
    /** What the chart shows, in words. */
    this.label = '';
    /** When the first bucket starts, in epoch seconds. */
    this.start = 0;
    /** How long a bucket lasts, in seconds. */
    this.step = 60;
    /** @type {Series[]} */
    this.series = [];
    /** @type {(value: number | null) => string} */
    this.format = String;
    this.width = 0;
    /** @type {number | null} the bucket pointed at */
    this.at = null;
    this.tabled = false;
  }

  connectedCallback() {
    super.connectedCallback();
    this.sizes = new ResizeObserver(([entry]) => (this.width = Math.round(entry.contentRect.width)));
    this.sizes.observe(this);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.sizes?.disconnect();
  }

  get buckets() {
    return Math.max(0, ...this.series.map((one) => one.values.length));
  }

  /** @param {number} bucket */
  x(bucket) {
    return LEFT + ((this.width - LEFT - RIGHT) * bucket) / Math.max(1, this.buckets - 1);
  }

  /** @param {number} value @param {number} top */
  y(value, top) {
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  }

  /** The moment at which a bucket ends, in milliseconds. @param {number} bucket */
  moment(bucket) {
    return (this.start + (bucket + 1) * this.step) * 1000;
  }

  /** @override */
  render() {
    const known = this.series.some((one) => one.values.some((value) => value !== null));
    const last = this.buckets - 1;
    const at = this.at === null ? last : Math.min(this.at, last);
    return html`<figure class="chart">
      <figcaption>
        <span class="chart-label">${this.label}</span>
        ${this.series.map(
          (one) => html`<span class="key ${one.tone}"><i aria-hidden="true"></i>${one.name}
            <b class="figures">${known ? this.format(one.values[at] ?? null) : ''}</b></span>`,
        )}
        <span class="muted figures chart-moment" title=${known ? utc(this.moment(at)) : ''}>${!known ? '' : this.at === null ? 'now' : time(this.moment(at))}</span>
      </figcaption>
      ${known ? this.drawn(at) : html`<div class="chart-empty muted">Nothing in this span.</div>`}
      ${known ? this.table() : nothing}
    </figure>`;
  }

  /** @param {number} at */
  drawn(at) {
    if (this.width === 0) {
      return html`<svg class="plot" height=${HEIGHT} aria-hidden="true"></svg>`;
    }
    const figures = this.series.flatMap((one) => one.values.map((value) => value ?? 0));
    const { top, ticks } = scale(Math.max(...figures), figures.every(Number.isInteger));
    const values = this.series.map((one) => `${one.name} ${this.format(one.values[at] ?? null)}`).join(', ');
    return html`<svg class="plot" width=${this.width} height=${HEIGHT} viewBox="0 0 ${this.width} ${HEIGHT}"
      role="slider" tabindex="0" aria-label=${this.label} aria-valuemin="0" aria-valuemax=${this.buckets - 1} aria-valuenow=${at}
      aria-valuetext=${`${time(this.moment(at))}: ${values}`}
      @pointermove=${this.point} @pointerdown=${this.point} @pointerleave=${() => (this.at = null)} @keydown=${this.key}
      @blur=${() => (this.at = null)}>
      ${ticks.map((tick) => this.rule(tick, top))}
      ${this.hours()}
      ${this.series.map((one) => svg`<path class="line ${one.tone}" d=${this.path(one, top)}></path>`)}
      ${this.at === null ? nothing : svg`<line class="cursor" x1=${this.x(at)} x2=${this.x(at)} y1=${TOP} y2=${HEIGHT - BOTTOM}></line>`}
      ${this.at === null ? nothing : this.series.map((one) => this.dot(one, at, top))}
    </svg>`;
  }

  /** @param {number} tick @param {number} top */
  rule(tick, top) {
    const y = this.y(tick, top);
    return svg`<line class="rule" x1=${LEFT} x2=${this.width - RIGHT} y1=${y} y2=${y}></line>
      <text class="tick" x=${LEFT - 8} y=${y + 4} text-anchor="end">${this.format(tick)}</text>`;
  }

  /** The times under the chart: as many as fit. */
  hours() {
    const number = Math.max(2, Math.min(6, Math.floor(this.width / 140)));
    const short = this.step * this.buckets <= 2 * 86400;
    const form = new Intl.DateTimeFormat(undefined, short ? { hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'short' });
    return Array.from({ length: number }, (_, i) => {
      const bucket = Math.round(((this.buckets - 1) * i) / (number - 1));
      const anchor = i === 0 ? 'start' : i === number - 1 ? 'end' : 'middle';
      return svg`<text class="tick" x=${this.x(bucket)} y=${HEIGHT - 5} text-anchor=${anchor}>${form.format(this.moment(bucket))}</text>`;
    });
  }

  /** @param {Series} one @param {number} top */
  path(one, top) {
    let path = '';
    let drawing = false;
    one.values.forEach((value, bucket) => {
      if (value === null) {
        drawing = false;
        return;
      }
      const x = this.x(bucket).toFixed(1);
      const y = this.y(value, top).toFixed(1);
      path += !drawing ? `M${x} ${y}` : one.stepped ? `H${x}V${y}` : `L${x} ${y}`;
      // A value that stands alone is a dot, not nothing.
      if (!drawing && (one.values[bucket + 1] ?? null) === null) {
        path += 'h.1';
      }
      drawing = true;
    });
    return path;
  }

  /** @param {Series} one @param {number} at @param {number} top */
  dot(one, at, top) {
    const value = one.values[at] ?? null;
    return value === null ? nothing : svg`<circle class="dot ${one.tone}" cx=${this.x(at)} cy=${this.y(value, top)} r="4"></circle>`;
  }

  /** @param {PointerEvent} event */
  point(event) {
    const left = /** @type {SVGElement} */ (event.currentTarget).getBoundingClientRect().left;
    const part = (event.clientX - left - LEFT) / (this.width - LEFT - RIGHT);
    this.at = Math.max(0, Math.min(this.buckets - 1, Math.round(part * (this.buckets - 1))));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const last = this.buckets - 1;
    const at = this.at ?? last;
    /** @type {Record<string, number>} */
    const next = {
      ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1,
      PageDown: at - 20, PageUp: at + 20, Home: 0, End: last,
    };
    if (event.key in next) {
      event.preventDefault();
      this.at = Math.max(0, Math.min(last, next[event.key]));
    }
  }

  /** The figures for those who cannot see lines. */
  table() {
    return html`<details class="chart-table" @toggle=${(/** @type {Event} */ e) => (this.tabled = /** @type {HTMLDetailsElement} */ (e.target).open)}>
      <summary>As a table</summary>
      ${this.tabled ? this.rows() : nothing}
    </details>`;
  }

  rows() {
    const every = Math.ceil(this.buckets / TABLE_ROWS);
    const shown = [];
    for (let bucket = this.buckets - 1; bucket >= 0; bucket -= every) {
      shown.push(bucket);
    }
    return html`<div class="table-frame scrolled" tabindex="0" role="region" aria-label=${`${this.label}, as a table`}><table>
      <caption class="unseen">${this.label}${every > 1 ? `, every ${every}th figure` : ''}</caption>
      <thead><tr><th scope="col">Time</th>${this.series.map((one) => html`<th scope="col" class="number">${one.name}</th>`)}</tr></thead>
      <tbody>${shown.map(
        (bucket) => html`<tr><td title=${utc(this.moment(bucket))}>${time(this.moment(bucket))}</td>
          ${this.series.map((one) => html`<td class="number">${this.format(one.values[bucket] ?? null)}</td>`)}</tr>`,
      )}</tbody></table></div>`;
  }
}

/**
 * A round top over the highest value, and the lines beneath it.
 * @param {number} highest
 * @param {boolean} isWhole whether there is nothing between whole numbers
 */
function scale(highest, isWhole) {
  const size = 10 ** Math.floor(Math.log10(highest || 1));
  const unit = [0.5, 1, 2, 2.5, 5, 10].map((factor) => (factor * size) / 2).find((step) => step * 4 >= highest && (!isWhole || step >= 1)) ?? size * 5;
  const number = Math.max(1, Math.ceil((highest || 1) / unit));
  return { top: number * unit, ticks: Array.from({ length: number + 1 }, (_, i) => i * unit) };
}

customElements.define('bourse-chart', Chart);
