import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { address, call } from '../lib/client.js';
import { bytes, whole } from '../lib/format.js';
import { navigate } from '../lib/router.js';
import { at, badge } from '../components/parts.js';
import { confirm } from '../components/dialog.js';
import { toast } from '../components/toast.js';
import { TONES, publisher } from './checkpoints.js';
import '../components/copy.js';

/** How often an item that a person reviews is looked at again. */
const REVIEW_MILLIS = 15_000;

/** One file of the organization. */
class Checkpoint extends Page {
  /** @override */
  get heading() {
    return this.data?.title ?? 'Checkpoint';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    return call('readCheckpoint', { path: { id: this.params.id }, signal });
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.every(REVIEW_MILLIS, () => {
      if (this.data?.status === 'review') {
        this.refresh();
      }
    });
  }

  /** @override */
  headActions() {
    const item = this.data;
    if (!item) {
      return nothing;
    }
    const isThere = item.status !== 'pending' && item.status !== 'expired';
    return html`<div class="actions">
      ${isThere ? html`<a class="button" download href=${address('readCheckpointContent', { path: { id: item.id }, query: { download: 1 } })}>Download ${bytes(item.bytes)}</a>` : nothing}
      ${item.can_delete && isThere ? html`<a class="button quiet" href="/console/checkpoints?replace=${item.id}">Replace</a>` : nothing}
      ${item.can_delete ? html`<button type="button" class="danger" @click=${() => this.askToDelete(item)}>Delete</button>` : nothing}
    </div>`;
  }

  /** @override */
  view(/** @type {any} */ item) {
    const isPublished = item.visibility === 'public' && item.status === 'ready';
    const pull = `bourse checkpoint pull ${item.id}`;
    return html`
      ${state(item)}
      <section class="sheet" aria-label="What it is">
        ${item.description ? html`<p class="told">${item.description}</p>` : nothing}
        <dl>
          <dt>Status</dt><dd>${badge(item.status_detail, TONES[item.status])}</dd>
          <dt>File</dt><dd class="name">${item.filename}</dd>
          <dt>For</dt><dd>${item.visibility === 'org' ? html`${this.session.org_display || 'the organization'} alone` : 'everybody'}</dd>
          <dt>Size</dt><dd class="figures">${whole(item.bytes)} bytes</dd>
          <dt>Type</dt><dd>${item.content_type}</dd>
          <dt>SHA-256</dt><dd class="digest">${item.sha256 ?? '–'}</dd>
          <dt>By</dt><dd>${publisher(item)}</dd>
          <dt>Revision</dt><dd class="figures">${item.revision}</dd>
          <dt>Published</dt><dd>${at(item.published_at)}</dd>
          <dt>Begun</dt><dd>${at(item.created_at)}</dd>
        </dl>
        ${isPublished
          ? html`<div class="actions"><a class="button quiet small" href="/feed/${item.id}">On the public feed</a>
              <a class="button quiet small" target="_blank" rel="noopener noreferrer" href=${(this.session.content_url ?? '') + address('readPublicCheckpointContent', { path: { id: item.id } })}>Open</a></div>`
          : nothing}
      </section>
      <section class="sheet" aria-labelledby="terminal">
        <h2 id="terminal">In a terminal</h2>
        <div class="code-line"><pre tabindex="0"><code>${pull}</code></pre><bourse-copy value=${pull} label="command"></bourse-copy></div>
      </section>`;
  }

  /** @param {any} item */
  async askToDelete(item) {
    const done = await confirm({
      title: `Delete ${item.title}?`,
      text: html`<p>${item.filename} is removed with all its revisions, from the organization${item.visibility === 'public' ? ' and from the public feed' : ''}. Nobody can bring it back; copies that were downloaded stay where they are.</p>`,
      action: 'Delete',
      danger: true,
      typed: item.filename,
      work: () => call('deleteCheckpoint', { path: { id: item.id } }),
    });
    if (done) {
      toast(`${item.title} is deleted.`);
      navigate('/console/checkpoints', { replace: true });
    }
  }
}

/** What stands in the way of its readers. @param {any} item */
function state(item) {
  switch (item.status) {
    case 'review':
      return html`<p class="notice warn">Somebody reviews it before it is on the public feed. The organization reads it already.</p>`;
    case 'rejected':
      return html`<div class="notice bad"><p>The review rejected it; it is not on the public feed. The organization still reads it.</p>
        ${item.rejection_reason ? html`<p><strong>Why:</strong> ${item.rejection_reason}</p>` : html`<p>Only ${publisher(item)} is told why.</p>`}
        ${item.can_delete ? html`<p><a href="/console/checkpoints?replace=${item.id}">Send a better one</a>: it is reviewed anew.</p>` : nothing}</div>`;
    case 'pending':
      return html`<p class="notice">Its bytes are awaited. ${item.can_delete ? html`<a href="/console/checkpoints">Go on with the upload</a> in the browser where it was begun, or with the command that began it.` : nothing}</p>`;
    case 'expired':
      return html`<p class="notice bad">Its bytes did not come in time. Soon it is gone.</p>`;
    default:
      return nothing;
  }
}

customElements.define('bourse-checkpoint', Checkpoint);
export default Checkpoint;
