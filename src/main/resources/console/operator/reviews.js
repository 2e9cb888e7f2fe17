import { html } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { bytes } from '../lib/format.js';
import { at, badge, empty } from '../components/parts.js';
import '../components/table.js';

/** What members want on the public feed, the oldest first. */
class Reviews extends Page {
  /** @override */
  get heading() {
    return 'Review queue';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    return call('listReviews', { query: { limit: 100 }, signal });
  }

  more() {
    return this.showMore(async (data) => {
      const page = await call('listReviews', { query: { limit: 100, after: data.next } });
      return { ...page, reviews: [...data.reviews, ...page.reviews] };
    });
  }

  /** @override */
  view(/** @type {any} */ { reviews, more }) {
    return html`<p class="muted">Files wait here until somebody decides. Until then they are their organization’s alone.</p>
      <bourse-table caption="Files under review" ?more=${more} @more=${() => this.more()} .rows=${reviews}
        .key=${(/** @type {any} */ row) => `review-${row.review_id}`} .columns=${COLUMNS}
        .empty=${empty('Nothing waits', 'What a member publishes for everybody stands here until it is approved or rejected.')}></bourse-table>`;
  }
}

/** @type {import('../components/table.js').Column[]} */
const COLUMNS = [
  { title: 'File', value: (row) => row.checkpoint.title, cell: (row) => html`<a href=${`/operator/reviews/${row.review_id}`}>${row.checkpoint.title}</a>` },
  { title: 'Publisher', value: (row) => row.org_id, cell: (row) => html`${row.checkpoint.publisher.username} <span class="faint">of ${row.org_id}</span>` },
  { title: 'Size', numeric: true, value: (row) => row.checkpoint.total_bytes ?? row.checkpoint.bytes, cell: (row) => bytes(row.checkpoint.total_bytes ?? row.checkpoint.bytes) },
  { title: 'Scan', value: (row) => row.findings.length, cell: (row) => (row.findings.length ? badge(`${row.findings.length} found`, 'warn') : badge('nothing found', 'good')) },
  { title: 'Landed', value: (row) => row.landed_at, cell: (row) => at(row.landed_at, 'ago') },
];

customElements.define('bourse-reviews', Reviews);
export default Reviews;
