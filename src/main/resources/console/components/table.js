import { html, nothing } from 'lit';
import { Element, empty as emptyView } from './parts.js';

/**
 * @typedef {object} Column
 * @property {string} title
 * @property {string} [unit] of its figures, such as "a GPU-hour"
 * @property {(row: any) => unknown} cell
 * @property {(row: any) => string | number | null | undefined} [value] what is sorted by and searched; without it the
 *   column is not sorted
 * @property {boolean} [numeric] aligned to the right, in figures of one width
 * @property {boolean} [isAction] holds buttons; its title is for those who cannot see
 */

/**
 * `<bourse-table>`: rows under columns. On a phone each row stands as a list of its cells.
 *
 * Sorts what it has. A list that the server pages has `more`: a button then asks for what follows by the event `more`,
 * and `filter`, where given, is the page's own search.
 */
class Table extends Element {
  static properties = {
    caption: {},
    columns: { attribute: false },
    rows: { attribute: false },
    key: { attribute: false },
    search: { type: Boolean },
    more: { type: Boolean },
    busy: { type: Boolean },
    empty: { attribute: false },
    sorted: { state: true },
    wanted: { state: true },
  };

  constructor() {
    super();
    /** For those who cannot see what it is about. */
    this.caption = '';
    /** @type {Column[]} */
    this.columns = [];
    /** @type {any[]} */
    this.rows = [];
    /** @type {((row: any) => string) | null} an id for each row's element */
    this.key = null;
    /** Whether it has a field that filters its rows. */
    this.search = false;
    this.more = false;
    this.busy = false;
    /** @type {unknown} what stands in the place of no rows */
    this.empty = null;
    /** @type {{column: number, down: boolean} | null} */
    this.sorted = null;
    this.wanted = '';
  }

  shown() {
    const words = this.wanted.trim().toLowerCase();
    let rows = words
      ? this.rows.filter((row) => this.columns.some((c) => String(c.value?.(row) ?? '').toLowerCase().includes(words)))
      : this.rows;
    if (this.sorted) {
      const { column, down } = this.sorted;
      const value = this.columns[column]?.value;
      if (value) {
        rows = [...rows].sort((a, b) => compare(value(a), value(b)) * (down ? -1 : 1));
      }
    }
    return rows;
  }

  /** @param {number} column */
  sort(column) {
    this.sorted = this.sorted?.column === column && this.sorted.down ? null : { column, down: this.sorted?.column === column };
  }

  /** @override */
  render() {
    if (this.rows.length === 0 && !this.more && !this.busy) {
      return this.empty ?? emptyView('Nothing here yet', '');
    }
    const rows = this.shown();
    return html`
      ${this.search
        ? html`<div class="table-search"><input type="search" aria-label=${`Filter: ${this.caption}`} placeholder="Filter" .value=${this.wanted}
            @input=${(/** @type {Event} */ e) => (this.wanted = /** @type {HTMLInputElement} */ (e.target).value)}>
            <span class="muted small" role="status">${this.wanted ? `${rows.length} of ${this.rows.length}` : ''}</span></div>`
        : nothing}
      <div class="table-frame">
        <table>
          <caption class="unseen">${this.caption}</caption>
          <thead><tr>${this.columns.map((c, i) => this.head(c, i))}</tr></thead>
          <tbody>${rows.map(
            (row) => html`<tr id=${this.key?.(row) ?? nothing}>${this.columns.map(
              (c) => html`<td data-title=${c.isAction ? nothing : named(c)} class=${c.numeric ? 'number' : c.isAction ? 'row-actions' : ''}>${c.cell(row)}</td>`,
            )}</tr>`,
          )}</tbody>
        </table>
      </div>
      ${this.wanted && rows.length === 0 ? html`<p class="muted">Nothing matches “${this.wanted}”.</p>` : nothing}
      ${this.more
        ? html`<div class="actions"><button type="button" class="quiet" aria-busy=${this.busy ? 'true' : 'false'}
            @click=${() => this.dispatchEvent(new Event('more'))}>Show more</button></div>`
        : nothing}`;
  }

  /** @param {Column} column @param {number} index */
  head(column, index) {
    const style = column.numeric ? 'number' : '';
    if (column.isAction) {
      return html`<th scope="col" class=${style}><span class="unseen">${column.title || 'Actions'}</span></th>`;
    }
    if (!column.value) {
      return html`<th scope="col" class=${style}>${column.title}${unit(column)}</th>`;
    }
    const down = this.sorted?.column === index ? this.sorted.down : null;
    return html`<th scope="col" class=${style} aria-sort=${down === null ? nothing : down ? 'descending' : 'ascending'}>
      <button type="button" class="sort" @click=${() => this.sort(index)}>${column.title}${unit(column)}<span aria-hidden="true">${down === null ? '' : down ? ' ↓' : ' ↑'}</span></button></th>`;
  }
}

/** A column's unit, after its title. @param {Column} column */
function unit(column) {
  return column.unit ? html`<span class="unit">, ${column.unit}</span>` : nothing;
}

/** A column's title with its unit, for a phone. @param {Column} column */
function named(column) {
  return column.unit ? `${column.title}, ${column.unit}` : column.title;
}

/** @param {any} a @param {any} b */
function compare(a, b) {
  if (a === b) {
    return 0;
  }
  if (a === null || a === undefined) {
    return 1;
  }
  if (b === null || b === undefined) {
    return -1;
  }
  return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
}

customElements.define('bourse-table', Table);
