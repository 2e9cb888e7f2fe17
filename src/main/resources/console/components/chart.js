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

export const HEIGHT = 200;
export const LEFT = 56;
export const RIGHT = 8;
export const TOP = 10;
export const BOTTOM = 22;

/** Rows of the table at most: of more buckets every so many is shown, which the table says. */
const TABLE_ROWS = 100;

/** Buckets drawn at least, so that a first figure is not a whole chart. */
const LEAST_BUCKETS = 12;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The distances between times under a chart. */
const PAUSES = [5, 10, 15, 30, 60, 120, 180, 360, 720].map((minutes) => (minutes * HOUR) / 60).concat([1, 2, 7, 14].map((days) => days * DAY));

/** A drawing that is as wide as its place on the page. */
export class Plot extends Element {
  static properties = { label: {}, width: { state: true } };

  constructor() {
    super();
    /** The title of the drawing. */
    this.label = '';
    this.width = 0;
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

  /** The place of a value between 0 and the top. @param {number} value @param {number} top */
  y(value, top) {
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  }

  /** A horizontal line with its value at the left. @param {number} tick @param {number} top @param {string} text */
  rule(tick, top, text) {
    const y = this.y(tick, top);
    return svg`<line class="rule" x1=${LEFT} x2=${this.width - RIGHT} y1=${y} y2=${y}></line>
      <text class="tick" x=${LEFT - 8} y=${y + 4} text-anchor="end">${text}</text>`;
  }
}

/**
 * `<bourse-chart>`: series over time as lines. Pointing at it, or its arrow keys, shows the values of a moment above it;
 * the same figures are in a table beneath it.
 */
class Chart extends Plot {
  static properties = {
    ...Plot.properties,
    start: { attribute: false },
    step: { attribute: false },
    series: { attribute: false },
    format: { attribute: false },
    at: { state: true },
    tabled: { state: true },
  };

  constructor() {
    super();
    /** When the first bucket starts, in epoch seconds. */
    this.start = 0;
    /** How long a bucket lasts, in seconds. */
    this.step = 60;
    /** @type {Series[]} */
    this.series = [];
    /** @type {(value: number | null) => string} */
    this.format = String;
    /** @type {number | null} the bucket pointed at */
    this.at = null;
    this.tabled = false;
    /** The first bucket that is drawn. */
    this.first = 0;
  }

  /** @override @param {Map<string, unknown>} changes */
  willUpdate(changes) {
    if (changes.has('series')) {
      this.first = this.firstKnown();
    }
  }

  get buckets() {
    return Math.max(0, ...this.series.map((one) => one.values.length));
  }

  /** The bucket before which nothing is known, because the cluster is younger than the span. */
  firstKnown() {
    // A count of nodes is 0 and not null before there was a cluster, so it says nothing beside a series that has nulls.
    const open = this.series.filter((one) => one.values.includes(null));
    const known = (open.length > 0 ? open : this.series)
      .map((one) => one.values.findIndex((value) => value !== null))
      .filter((bucket) => bucket >= 0);
    return known.length === 0 ? 0 : Math.max(0, Math.min(...known, this.buckets - LEAST_BUCKETS));
  }

  /** @param {number} bucket */
  x(bucket) {
    return LEFT + ((this.width - LEFT - RIGHT) * (bucket - this.first)) / Math.max(1, this.buckets - 1 - this.first);
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
      role="slider" tabindex="0" aria-label=${this.label} aria-valuemin=${this.first} aria-valuemax=${this.buckets - 1} aria-valuenow=${at}
      aria-valuetext=${`${time(this.moment(at))}: ${values}`}
      @pointermove=${this.point} @pointerdown=${this.point} @pointerleave=${() => (this.at = null)} @keydown=${this.key}
      @blur=${() => (this.at = null)}>
      ${ticks.map((tick) => this.rule(tick, top, this.format(tick)))}
      ${this.hours()}
      ${this.series.map((one) => svg`<path class="line ${one.tone}" d=${this.path(one, top)}></path>`)}
      ${this.at === null ? nothing : svg`<line class="cursor" x1=${this.x(at)} x2=${this.x(at)} y1=${TOP} y2=${HEIGHT - BOTTOM}></line>`}
      ${this.at === null ? nothing : this.series.map((one) => this.dot(one, at, top))}
    </svg>`;
  }

  /** The round times under the chart: as many as fit. */
  hours() {
    const [from, to] = [this.moment(this.first), this.moment(this.buckets - 1)];
    const isShort = to - from <= 2 * DAY;
    const form = new Intl.DateTimeFormat(undefined, isShort ? { hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'short' });
    return roundTimes(from, to, Math.max(2, Math.floor(this.width / 80)), isShort ? 0 : DAY).map((moment) => {
      const bucket = (moment / 1000 - this.start) / this.step - 1;
      // A label at the edge would be cut off.
      const x = Math.min(this.width - RIGHT - 20, this.x(bucket));
      return svg`<text class="tick" x=${x} y=${HEIGHT - 5} text-anchor="middle">${form.format(moment)}</text>`;
    });
  }

  /** @param {Series} one @param {number} top */
  path(one, top) {
    let path = '';
    let drawing = false;
    one.values.forEach((value, bucket) => {
      if (value === null || bucket < this.first) {
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
    const last = this.buckets - 1;
    this.at = Math.max(this.first, Math.min(last, this.first + Math.round(part * (last - this.first))));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const last = this.buckets - 1;
    const at = this.at ?? last;
    /** @type {Record<string, number>} */
    const next = {
      ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1,
      PageDown: at - 20, PageUp: at + 20, Home: this.first, End: last,
    };
    if (event.key in next) {
      event.preventDefault();
      this.at = Math.max(this.first, Math.min(last, next[event.key]));
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
    const every = Math.ceil((this.buckets - this.first) / TABLE_ROWS);
    const shown = [];
    for (let bucket = this.buckets - 1; bucket >= this.first; bucket -= every) {
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
 * Round moments of the reader's clock in a span, in milliseconds: multiples of a pause that leave room for their text.
 * @param {number} from
 * @param {number} to
 * @param {number} most how many have room
 * @param {number} least the shortest pause that the text shows
 */
function roundTimes(from, to, most, least) {
  const pause = PAUSES.find((one) => one >= least && (to - from) / one <= most);
  const at = new Date(from);
  at.setHours(0, 0, 0, 0);
  const found = [];
  if (pause === undefined) {
    const months = Math.ceil((to - from) / (30 * DAY) / most);
    for (at.setDate(1); at.getTime() <= to; at.setMonth(at.getMonth() + months)) {
      found.push(at.getTime());
    }
  } else {
    // Days are counted by the calendar, because one in spring has 23 hours.
    const next = () => (pause < DAY ? at.setTime(at.getTime() + pause) : at.setDate(at.getDate() + pause / DAY));
    for (; at.getTime() <= to; next()) {
      found.push(at.getTime());
    }
  }
  return found.filter((moment) => moment >= from);
}

/**
 * A round top over the highest value, and the lines beneath it.
 * @param {number} highest
 * @param {boolean} isWhole whether there is nothing between whole numbers
 */
export function scale(highest, isWhole) {
  const size = 10 ** Math.floor(Math.log10(highest || 1));
  const unit = [0.5, 1, 2, 2.5, 5, 10].map((factor) => (factor * size) / 2).find((step) => step * 4 >= highest && (!isWhole || step >= 1)) ?? size * 5;
  const number = Math.max(1, Math.ceil((highest || 1) / unit));
  return { top: number * unit, ticks: Array.from({ length: number + 1 }, (_, i) => i * unit) };
}

customElements.define('bourse-chart', Chart);
