import { html, nothing } from 'lit';
import { OperatorPage } from '../lib/operator-page.js';
import { CallError, address, call, request } from '../lib/client.js';
import { bytes } from '../lib/format.js';
import { navigate } from '../lib/router.js';
import { at, badge, figure } from '../components/parts.js';
import { confirm, dialogHost, openDialog } from '../components/dialog.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import { toast } from '../components/toast.js';

/** As much of a text as somebody reads before they open it. */
const SHOWN_BYTES = 16_384;

/** What a browser draws and never runs. */
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** One file that somebody wants on the public feed, and the decision. */
class Review extends OperatorPage {
  /** @override */
  get heading() {
    return this.data?.review.checkpoint.title ?? 'Review';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const path = { review: this.params.review };
    const review = await call('readReview', { path, signal });
    return { review, text: await this.text(review.checkpoint, path, signal) };
  }

  /**
   * The beginning of a text, shown as letters and nothing else; null for other files.
   * @param {any} file
   * @param {{review: string}} path
   * @param {AbortSignal} signal
   */
  async text(file, path, signal) {
    if (!file.content_type.startsWith('text/')) {
      return null;
    }
    try {
      const { response } = await request('downloadReview', { path, signal, quiet: true, headers: { range: `bytes=0-${SHOWN_BYTES - 1}` } });
      return await response.text();
    } catch (failure) {
      if (failure instanceof CallError) {
        return null;
      }
      throw failure;
    }
  }

  /** @override */
  view(/** @type {any} */ { review, text }) {
    const file = review.checkpoint;
    const path = { review: review.review_id };
    return html`
      <dl class="figures-row">
        ${figure('State', badge(file.status_detail, file.status === 'ready' ? 'good' : file.status === 'rejected' ? 'bad' : 'warn'))}
        ${figure('Publisher', file.publisher.username, html`<a href=${`/operator/organizations/${review.org_id}`}>${review.org_id}</a>`)}
        ${figure('Size', bytes(file.total_bytes ?? file.bytes))}
        ${figure('Landed', at(review.landed_at))}
      </dl>
      <section class="sheet" aria-labelledby="scan"><h2 id="scan">What the scan found</h2>
        ${review.findings.length
          ? html`<ul>${review.findings.map((/** @type {string} */ finding) => html`<li>${finding}</li>`)}</ul>`
          : html`<p class="muted">Nothing. That nothing was found does not mean that nothing is there.</p>`}
      </section>
      <section class="sheet" aria-labelledby="file"><div class="sheet-head"><h2 id="file">${file.filename}</h2>
          <div class="actions">
            <a class="button quiet small" id="open-file" target="_blank" rel="noopener noreferrer" href=${address('downloadReview', { path })}>Open in a sandbox</a>
            <a class="button quiet small" id="save-file" download href=${address('downloadReview', { path, query: { download: '1' } })}>Save</a>
          </div></div>
        <p class="muted">${file.content_type} · revision ${file.revision} · <span class="digest">${file.sha256}</span></p>
        ${file.description ? html`<p>${file.description}</p>` : nothing}
        ${IMAGES.includes(file.content_type) ? html`<img class="preview" alt=${`Preview of ${file.filename}`} src=${address('downloadReview', { path })}>` : nothing}
        ${text === null ? nothing : html`<pre class="preview" tabindex="0" aria-label=${`The beginning of ${file.filename}`}>${text}</pre>`}
      </section>
      ${review.files
        ? html`<section class="sheet" aria-labelledby="files"><h2 id="files">Files of the set</h2>
            <ul>${review.files.map(
              (/** @type {any} */ one) => html`<li><a download href=${address('readReviewFile', { path: { ...path, sha256: one.sha256 }, query: { download: '1' } })}>${one.path}</a> <span class="muted">${bytes(one.bytes)}</span></li>`,
            )}</ul></section>`
        : nothing}
      ${review.rejection_reason ? html`<p class="notice bad">Rejected: ${review.rejection_reason}</p>` : nothing}
      ${file.status === 'review' && this.mayWrite
        ? html`<div class="actions">
            <button type="button" id="approve" @click=${() => this.approve(review)}>Approve</button>
            <button type="button" class="danger" id="reject" @click=${() => this.reject(review)}>Reject</button>
          </div>`
        : nothing}`;
  }

  /** @param {any} review */
  async approve(review) {
    const done = await confirm({
      title: `Put ${review.checkpoint.filename} on the public feed?`,
      text: html`<p>Everybody can read it at once, and what somebody downloads cannot be called back. A published predecessor gives way to it.</p>`,
      action: 'Approve',
      work: () => call('approveReview', { path: { review: review.review_id } }),
    });
    if (done) {
      toast(`${review.checkpoint.filename} is on the public feed`);
      navigate('/operator/reviews');
    }
  }

  /** @param {any} review */
  async reject(review) {
    /** @type {Form | null} */
    let form = null;
    const done = await openDialog((/** @type {(done?: boolean) => void} */ close, redraw) => {
      form ??= new Form(dialogHost(redraw), { reason: '' });
      const current = form;
      const send = onSubmit(async () => {
        if (await current.submit(() => call('rejectReview', { path: { review: review.review_id }, body: { reason: current.values.reason } }))) {
          close(true);
        }
      });
      return html`<form @submit=${send}><h2>Reject ${review.checkpoint.filename}?</h2>
        <p>It stays with its organization. Its publisher reads the reason.</p>
        ${field(current, { name: 'reason', label: 'Reason', type: 'textarea', required: true, autofocus: true })}
        ${formFault(current)}
        <div class="actions">${submitButton(current, 'Reject', { danger: true })}
          <button type="button" class="quiet" @click=${() => close(false)}>Cancel</button></div></form>`;
    });
    if (done) {
      toast(`${review.checkpoint.filename} was rejected`);
      navigate('/operator/reviews');
    }
  }
}

customElements.define('bourse-review', Review);
export default Review;
