import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { CallError, address, call, quoted } from '../lib/client.js';
import { bytes, count, whole } from '../lib/format.js';
import { navigate } from '../lib/router.js';
import { at, badge } from '../components/parts.js';
import { confirm } from '../components/dialog.js';
import { readmeSection } from '../components/readme.js';
import { toast } from '../components/toast.js';
import { TONES, publisher } from './checkpoints.js';
import '../components/copy.js';
import '../components/table.js';

/** How often an item that a person reviews is looked at again. */
const REVIEW_MILLIS = 15_000;

/** One file of the organization, or a set of them. */
class Checkpoint extends Page {
  /** @override */
  get heading() {
    return this.data?.title ?? 'Checkpoint';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const { id } = this.params;
    const [item, { revisions }] = await Promise.all([
      call('readCheckpoint', { path: { id }, signal }),
      call('listCheckpointRevisions', { path: { id }, signal }),
    ]);
    const isWhole = item.files && item.published_at !== null;
    /** @type {any} */
    const manifest = isWhole ? await call('readCheckpointContent', { path: { id }, signal }) : null;
    const hasReadme = manifest?.files.some((/** @type {any} */ file) => file.path.toLowerCase() === 'readme.md');
    return { ...item, revisions, manifest, readme: hasReadme ? await readme(id, signal) : null };
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
    const isSet = Boolean(item.files);
    return html`<div class="actions">
      ${isThere && !isSet ? html`<a class="button" download href=${address('readCheckpointContent', { path: { id: item.id }, query: { download: 1 } })}>Download ${bytes(item.bytes)}</a>` : nothing}
      ${item.can_delete && isThere ? html`<a class="button quiet" href="/console/checkpoints?replace=${item.id}">Replace</a>` : nothing}
      ${item.can_delete ? html`<button type="button" class="danger" @click=${() => this.askToDelete(item)}>Delete</button>` : nothing}
    </div>`;
  }

  /** @override */
  view(/** @type {any} */ item) {
    const isPublished = item.visibility === 'public' && item.status === 'ready';
    const isSet = Boolean(item.files);
    const pull = `bourse checkpoint pull ${item.id}`;
    return html`
      ${state(item)}
      <section class="sheet" aria-label="What it is">
        ${item.description ? html`<p class="told">${item.description}</p>` : nothing}
        <dl>
          <dt>Status</dt><dd>${badge(item.status_detail, TONES[item.status])}</dd>
          <dt>${isSet ? 'Folder' : 'File'}</dt><dd class="name">${item.filename}${isSet ? html` <span class="muted">${count(item.files, 'file')}</span>` : nothing}</dd>
          <dt>For</dt><dd>${item.visibility === 'org' ? html`${this.session.org_display || 'the organization'} alone` : 'everybody'}</dd>
          <dt>Size</dt><dd class="figures">${whole(item.total_bytes ?? item.bytes)} bytes</dd>
          ${isSet ? nothing : html`<dt>Type</dt><dd>${item.content_type}</dd>`}
          <dt>SHA-256</dt><dd class="digest">${item.sha256 ? html`${item.sha256} <bourse-copy value=${item.sha256} label="digest"></bourse-copy>` : '–'}</dd>
          <dt>By</dt><dd>${publisher(item)}</dd>
          <dt>Revision</dt><dd class="figures">${item.revision}</dd>
          <dt>Published</dt><dd>${at(item.published_at)}</dd>
          <dt>Begun</dt><dd>${at(item.created_at)}</dd>
        </dl>
        ${isPublished
          ? html`<div class="actions"><a class="button quiet small" href="/feed/${item.id}">On the public feed</a>
              ${isSet ? nothing : html`<a class="button quiet small" target="_blank" rel="noopener noreferrer" href=${(this.session.content_url ?? '') + address('readPublicCheckpointContent', { path: { id: item.id } })}>Open</a>`}</div>`
          : nothing}
      </section>
      ${item.readme ? readmeSection(item.readme) : nothing}
      ${item.manifest ? fileTable(item) : nothing}
      ${item.revisions.length > 0 ? html`<bourse-table caption="Revisions" .rows=${item.revisions} .key=${(/** @type {any} */ row) => `revision-${row.revision}`} .columns=${REVISIONS}></bourse-table>` : nothing}
      <section class="sheet" aria-labelledby="terminal">
        <h2 id="terminal">In a terminal</h2>
        <div class="code-line"><pre tabindex="0"><code>${pull}</code></pre><bourse-copy value=${pull} label="command"></bourse-copy></div>
        ${isSet && item.can_delete ? html`<p class="hint"><code>bourse checkpoint push ${quoted(item.filename)}</code> replaces it with a newer state of the folder; unchanged files are not sent again.</p>` : nothing}
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

/**
 * The README of a set; null if it cannot be read now, because the page is of use without it.
 * @param {string} id @param {AbortSignal} signal
 */
async function readme(id, signal) {
  try {
    return await call('readCheckpointReadme', { path: { id }, signal, quiet: true });
  } catch (failure) {
    if (failure instanceof CallError && !signal.aborted) {
      return null;
    }
    throw failure;
  }
}

/** The files of a set. @param {any} item */
function fileTable(item) {
  const { files } = item.manifest;
  return html`<bourse-table caption="Files" .rows=${files} .key=${(/** @type {any} */ row) => row.path} ?search=${files.length > 8} .columns=${[
    {
      title: 'Path',
      value: (/** @type {any} */ row) => row.path,
      cell: (/** @type {any} */ row) => html`<a class="name" download href=${address('readCheckpointFile', { path: { id: item.id, sha256: row.sha256 }, query: { download: 1 } })}>${row.path}</a>`,
    },
    { title: 'Size', numeric: true, value: (/** @type {any} */ row) => row.bytes, cell: (/** @type {any} */ row) => bytes(row.bytes) },
    { title: 'SHA-256', value: (/** @type {any} */ row) => row.sha256, cell: (/** @type {any} */ row) => html`<span class="digest">${row.sha256}</span> <bourse-copy value=${row.sha256} label=${`digest of ${row.path}`}></bourse-copy>` },
  ]}></bourse-table>`;
}

/** @type {import('../components/table.js').Column[]} */
const REVISIONS = [
  { title: 'Revision', numeric: true, value: (row) => row.revision, cell: (row) => row.revision },
  { title: 'Published', value: (row) => row.published_at, cell: (row) => at(row.published_at) },
  {
    title: 'By',
    value: (row) => row.username,
    cell: (row) => html`${row.username}${row.credential_id ? html`<br><span class="muted small">with the credential <code>${row.credential_id}</code></span>` : nothing}`,
  },
  { title: 'Size', numeric: true, value: (row) => row.bytes, cell: (row) => html`${bytes(row.bytes)}${row.files ? html`<br><span class="muted small">${count(row.files, 'file')}</span>` : nothing}` },
  { title: 'SHA-256', value: (row) => row.sha256, cell: (row) => html`<span class="digest">${row.sha256}</span> <bourse-copy value=${row.sha256} label=${`digest of revision ${row.revision}`}></bourse-copy>` },
];

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
      return html`<p class="notice">Its bytes are awaited. ${!item.can_delete ? nothing : html`<a href="/console/checkpoints">Go on with the upload</a> in the browser where it was begun, or with the command that began it.`}</p>`;
    case 'expired':
      return html`<p class="notice bad">Its bytes did not come in time. Soon it is gone.</p>`;
    default:
      return nothing;
  }
}

customElements.define('bourse-checkpoint', Checkpoint);
export default Checkpoint;
