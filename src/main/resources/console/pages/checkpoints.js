import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { call, quoted } from '../lib/client.js';
import { SHOWN_NAMES, UnfitFolder, chosenFolder, droppedFolder, singleFile } from '../lib/folder.js';
import { bytes, count, duration } from '../lib/format.js';
import { navigate, setQuery } from '../lib/router.js';
import { uploadsOf } from '../lib/uploads.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import { at, badge, empty, figure, tabs } from '../components/parts.js';
import { confirm } from '../components/dialog.js';
import { toast } from '../components/toast.js';
import '../components/copy.js';
import '../components/table.js';

/** @typedef {import('../lib/uploads.js').Upload} Upload */
/** @typedef {import('../lib/folder.js').Picked} Picked */

/** How often what awaits bytes or a review is looked at again: a person decides, which takes minutes. */
const REVIEW_MILLIS = 15_000;

/** @type {Record<string, 'good' | 'warn' | 'bad' | 'calm'>} */
export const TONES = { ready: 'good', review: 'warn', pending: 'calm', expired: 'bad', rejected: 'bad' };

/** What browsers do not tell of a file, by the ending of its name. */
const TYPES = /** @type {Record<string, string>} */ ({
  md: 'text/markdown',
  txt: 'text/plain',
  json: 'application/json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
});

/** The organization's files, the public feed, and the way to publish one. */
class Checkpoints extends Page {
  static properties = { ...Page.properties, picked: { state: true }, unfit: { state: true }, awaited: { state: true }, digested: { state: true }, dragging: { state: true } };

  constructor() {
    super();
    /** @type {Picked | null} what is about to be announced */
    this.picked = null;
    /** Why what was dropped or chosen cannot be published; '' if it can. */
    this.unfit = '';
    /** @type {number | null} bytes of a folder that were digested; null while none are */
    this.digested = null;
    /** What is being read from the disk after it was dropped; '' while nothing is. */
    this.awaited = '';
    /** The last drop or choice, from its reading to its announcement; the next one or Cancel aborts it. */
    this.choice = new AbortController();
    this.dragging = false;
    this.form = new Form(this, {});
  }

  /** @override */
  get heading() {
    return 'Checkpoints';
  }

  get uploads() {
    return uploadsOf(this.session);
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    const { uploads } = this;
    const redraw = () => this.requestUpdate();
    const published = (/** @type {Event} */ event) => {
      const item = /** @type {CustomEvent} */ (event).detail;
      toast(item.status === 'review' ? `${item.title} is complete and awaits its review.` : `${item.title} is published.`);
      this.refresh();
    };
    uploads.addEventListener('change', redraw);
    uploads.addEventListener('published', published);
    this.atEnd(() => {
      uploads.removeEventListener('change', redraw);
      uploads.removeEventListener('published', published);
    });
    this.atEnd(this.watchDrops());
    this.atEnd(() => {
      // The announcement of one file takes a moment, and its upload goes on without the page.
      if (!this.form.busy || this.picked?.isFolder) {
        this.choice.abort();
      }
    });
    uploads.askAll();
    this.every(REVIEW_MILLIS, () => {
      if (this.data?.items.some((/** @type {any} */ item) => item.status === 'review')) {
        this.refresh();
      }
    });
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const isFeed = this.query.get('view') === 'public';
    const q = this.query.get('q') ?? '';
    const replaced = this.query.get('replace');
    const [own, feed, item] = await Promise.all([
      call('listCheckpoints', { query: { q: isFeed ? '' : q }, signal }),
      isFeed ? call('listPublicCheckpoints', { query: { q }, signal }) : null,
      replaced ? call('readCheckpoint', { path: { id: replaced }, signal }) : null,
    ]);
    const page = feed ?? own;
    return { own, isFeed, q, replaced: item, items: page.checkpoints, cursor: page.cursor };
  }

  async more() {
    const { isFeed, q, items, cursor } = this.data;
    const page = await call(isFeed ? 'listPublicCheckpoints' : 'listCheckpoints', { query: { q, before: cursor } });
    this.data = { ...this.data, items: [...items, ...page.checkpoints], cursor: page.cursor };
  }

  /** @override */
  view(/** @type {any} */ data) {
    const { own, isFeed, q, items, cursor, replaced } = data;
    return html`
      ${this.publisher(own, replaced)} ${this.running()}
      ${tabs('Which files', [
        { href: '/console/checkpoints', text: this.session.org_display || 'Organization', current: !isFeed },
        { href: '/console/checkpoints?view=public', text: 'Public feed', current: isFeed },
      ])}
      ${isFeed
        ? nothing
        : html`<dl class="figures-row">
            ${figure('Held', bytes(own.used_bytes), `of ${bytes(own.limit_bytes)}, announced bytes included`)}
            ${figure('One file', bytes(own.max_item_bytes), 'at most')}
          </dl>`}
      <form class="find-row" role="search" @submit=${onSubmit(() => setQuery({ q: /** @type {HTMLInputElement} */ (this.querySelector('#search')).value }))}>
        <input type="search" id="search" aria-label="Search" placeholder="Title, description or file name" maxlength="200" .value=${q}>
        <button type="submit" class="quiet">Search</button>
      </form>
      <bourse-table caption=${isFeed ? 'Public files' : 'Files of the organization'} .columns=${isFeed ? FEED_COLUMNS : COLUMNS}
        .rows=${items} .key=${(/** @type {any} */ row) => row.id} ?more=${cursor !== null} @more=${() => this.more()}
        .empty=${q
          ? empty('Nothing found', html`Nothing has “${q}” in its title, description or file name. <a href=${isFeed ? '/console/checkpoints?view=public' : '/console/checkpoints'}>Show everything</a>`)
          : isFeed
            ? empty('Nothing is published yet', 'What members of research organizations publish for everybody is listed here after its review.')
            : empty('No file yet', 'Drop a file or a folder above, or choose one: the organization reads it as soon as its bytes are here.')}></bourse-table>`;
  }

  /** @param {any} own @param {any} replaced */
  publisher(own, replaced) {
    return html`<section class="sheet" aria-labelledby="publish">
      <h2 id="publish">${replaced ? html`Replace <span class="name">${replaced.title}</span>` : 'Publish a file or a folder'}</h2>
      <div class="drop ${this.dragging ? 'over' : ''}">
        <p>Drop a file or a folder here.</p>
        <label class="button quiet small">Choose a file<input type="file" class="unseen" id="file" @change=${(/** @type {Event} */ event) => this.choose(event, (files) => this.pick(files[0].name, () => singleFile(files[0])))}></label>
        <label class="button quiet small">Choose a folder<input type="file" class="unseen" id="folder" webkitdirectory @change=${(/** @type {Event} */ event) => this.choose(event, (files) => this.pick('the folder', () => chosenFolder(files)))}></label>
      </div>
      ${this.awaited
        ? html`<p class="small" role="status">Reading ${this.awaited}…</p>
          <div class="actions"><button type="button" class="quiet" @click=${() => this.cancel()}>Cancel</button></div>`
        : nothing}
      ${this.unfit ? html`<p class="notice bad" role="alert">${this.unfit}</p>` : nothing}
      ${this.picked ? this.announcement(this.picked, own, replaced) : nothing}
      ${replaced && !this.picked && !this.awaited ? html`<p class="hint">Its readers get the new bytes once they are complete${replaced.visibility === 'public' ? ' and reviewed' : ''}; until then they get revision ${replaced.revision}. <a href="/console/checkpoints">Publish a new file instead</a></p>` : nothing}
    </section>`;
  }

  /**
   * Reads what an input has, and empties it so that the same can be chosen again.
   * @param {Event} event @param {(files: File[]) => void} use
   */
  choose(event, use) {
    const input = /** @type {HTMLInputElement} */ (event.target);
    const files = [...(input.files ?? [])];
    input.value = '';
    if (files.length > 0) {
      use(files);
    }
  }

  /**
   * Takes what was dropped or chosen last, or shows why it cannot be published. What was chosen before and is still
   * being read does not appear any more, but a publication that is under way goes on.
   * @param {string} name
   * @param {(signal: AbortSignal) => Picked | Promise<Picked>} read
   */
  async pick(name, read) {
    if (this.form.busy && this.picked) {
      toast(`${this.picked.name} is being published. Wait until sending begins, or cancel it, before you drop or choose something else.`);
      return;
    }
    this.cancel();
    this.choice = new AbortController();
    const { signal } = this.choice;
    this.awaited = name;
    try {
      const picked = await read(signal);
      if (!signal.aborted) {
        this.awaited = '';
        this.take(picked);
      }
    } catch (failure) {
      if (signal.aborted) {
        return;
      }
      this.awaited = '';
      if (!(failure instanceof UnfitFolder)) {
        throw failure;
      }
      this.unfit = failure.message;
    }
  }

  /**
   * Wherever a file is dropped, it is meant for here: else the browser would leave the page to show it.
   * @returns {() => void} ends it
   */
  watchDrops() {
    /** @param {DragEvent} event */
    const over = (event) => {
      event.preventDefault();
      this.dragging = true;
    };
    /** @param {DragEvent} event */
    const leave = (event) => {
      this.dragging = event.relatedTarget !== null;
    };
    /** @param {DragEvent} event */
    const drop = (event) => {
      event.preventDefault();
      this.dragging = false;
      // Browsers tell of entries only until this handler ends.
      const entry = event.dataTransfer?.items[0]?.webkitGetAsEntry?.();
      const files = event.dataTransfer?.files ?? [];
      const name = entry?.name ?? files[0]?.name;
      if (name === undefined) {
        return;
      }
      this.pick(name, (signal) => {
        if (files.length > 1) {
          throw new UnfitFolder(`${count(files.length, 'file')} were dropped. Drop one file, or one folder that has them.`);
        }
        return entry?.isDirectory ? droppedFolder(/** @type {FileSystemDirectoryEntry} */ (entry), signal) : singleFile(files[0]);
      });
    };
    addEventListener('dragover', over);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    };
  }

  /** @param {Picked} picked */
  take(picked) {
    if (!this.data) {
      return;
    }
    const { replaced } = this.data;
    const left = this.uploads.find(picked);
    if (left) {
      left.resume(picked);
      toast(`${left.kept.title} goes on where it stopped.`);
      return;
    }
    const { name, isFolder } = picked;
    const ending = name.split('.').at(-1)?.toLowerCase() ?? '';
    this.form = new Form(this, {
      title: replaced?.title ?? (isFolder ? name : name.replace(/\.[^.]+$/, '')),
      description: replaced?.description ?? '',
      filename: replaced?.filename ?? name,
      content_type: picked.files[0].file.type || TYPES[ending] || 'application/octet-stream',
      visibility: replaced?.visibility ?? 'org',
    });
    this.picked = picked;
  }

  /** @param {Picked} picked @param {any} own @param {any} replaced */
  announcement(picked, own, replaced) {
    const { form } = this;
    const { values } = form;
    const there = replaced ?? own.checkpoints.find(
      (/** @type {any} */ one) => one.filename === values.filename && one.visibility === values.visibility,
    );
    const tooLong = picked.bytes > own.max_item_bytes;
    return html`<form @submit=${onSubmit(() => this.publish(picked, replaced))}>
      <p><span class="name">${picked.name}</span> <span class="muted">${picked.isFolder ? `${count(picked.files.length, 'file')}, ` : ''}${bytes(picked.bytes)}</span></p>
      ${picked.leftOut.length > 0 ? leftOutNotice(picked) : nothing}
      ${tooLong ? html`<p class="notice bad" role="alert">One ${picked.isFolder ? 'folder' : 'file'} may have ${bytes(own.max_item_bytes)} at most.</p>` : nothing}
      <div class="fields-row">
        ${field(form, { name: 'title', label: 'Title', required: true })}
        ${field(form, { name: 'filename', label: picked.isFolder ? 'Folder name' : 'File name', required: true })}
      </div>
      ${field(form, { name: 'description', label: 'Description', type: 'textarea' })}
      <div class="fields-row">
        ${replaced
          ? nothing
          : field(form, {
              name: 'visibility',
              label: 'For',
              type: 'select',
              required: true,
              options: [
                { value: 'org', text: `${this.session.org_display || 'the organization'} alone` },
                ...(own.public_publish ? [{ value: 'public', text: 'everybody, after a review' }] : []),
              ],
              hint: own.public_publish ? '' : 'The public feed is not open to this organization.',
            })}
        ${picked.isFolder ? nothing : field(form, { name: 'content_type', label: 'Media type', required: true, hint: 'Browsers are told this.' })}
      </div>
      ${there
        ? html`<p class="notice warn">This replaces <a href="/console/checkpoints/${there.id}">${there.title}</a>, revision ${there.revision}, by ${publisher(there)}: readers get the new bytes once they are complete${there.visibility === 'public' ? ' and reviewed' : ''}.</p>`
        : nothing}
      ${this.digested === null
        ? nothing
        : html`<p class="small" role="status">Reading ${bytes(this.digested)} of ${bytes(picked.bytes)}, to send only what the organization does not have. Stay on this page until sending begins.</p>
          <progress max="100" value=${Math.floor((this.digested / picked.bytes) * 100)} aria-label=${`Reading of ${picked.name}`}></progress>`}
      ${formFault(form)}
      <div class="actions">
        ${submitButton(form, there ? 'Replace' : 'Publish', { disabled: tooLong })}
        <button type="button" class="quiet" @click=${() => this.cancel()}>Cancel</button>
      </div>
    </form>`;
  }

  /** Ends what the last drop or choice led to: its reading, its digesting or its announcement. */
  cancel() {
    this.choice.abort();
    this.awaited = '';
    this.unfit = '';
    this.picked = null;
    this.digested = null;
  }

  /** @param {Picked} picked @param {any} replaced */
  async publish(picked, replaced) {
    const { title, description, filename, content_type, visibility } = this.form.values;
    const publication = { title, description, filename, content_type, visibility, replace: replaced?.id ?? true };
    const { signal } = this.choice;
    const digested = (/** @type {number} */ read) => {
      if (!signal.aborted) {
        this.digested = read;
      }
    };
    const begun = await this.form.submit(
      () => this.uploads.begin(picked, publication, digested, signal).catch((failure) => {
        if (!signal.aborted) {
          throw failure;
        }
      }),
      { conflict: 'filename' },
    );
    if (signal.aborted || !this.isConnected) {
      return;
    }
    this.digested = null;
    if (begun) {
      this.picked = null;
      if (replaced) {
        navigate('/console/checkpoints', { replace: true });
      } else {
        this.refresh();
      }
    }
  }

  /** The uploads that are not done. */
  running() {
    const { list } = this.uploads;
    return list.length === 0
      ? nothing
      : html`<section class="sheet" aria-labelledby="uploads">
          <h2 id="uploads">Uploads</h2>
          <ul class="rows">${list.map((one) => this.upload(one))}</ul>
        </section>`;
  }

  /** @param {Upload} one */
  upload(one) {
    const { kept, state, sent, speed } = one;
    const share = kept.bytes === 0 ? 100 : Math.floor(((sent ?? 0) / kept.bytes) * 100);
    return html`<li class="upload">
      <div class="sheet-head"><span><span class="name">${kept.title}</span> <span class="muted small">${kept.file}${kept.files ? html` · ${whole(count(kept.files, 'file'))}` : nothing}</span></span>
        <span class="figures small">${sent === null ? '–' : bytes(sent)} of ${bytes(kept.bytes)}${speed ? html` · ${bytes(Math.round(speed))}/s · ${duration(((kept.bytes - (sent ?? 0)) / speed) * 1000)} left` : nothing}</span></div>
      <progress max="100" value=${share} aria-label=${`Upload of ${kept.title}`}>${share} %</progress>
      <p class="small" role="status">${words(one)}</p>
      <div class="actions">
        ${state === 'sending' || state === 'waiting' ? html`<button type="button" class="quiet small" @click=${() => one.pause()}>Pause</button>` : nothing}
        ${state === 'paused' || (state === 'failed' && kept.session) ? html`<button type="button" class="small" @click=${() => one.resume()}>Go on</button>` : nothing}
        ${state === 'left'
          ? one.isFolder
            ? html`<label class="button small">Choose the folder again<input type="file" class="unseen" webkitdirectory @change=${(/** @type {Event} */ event) => this.choose(event, (files) => this.again(one, () => chosenFolder(files)))}></label>`
            : html`<label class="button small">Choose the file again<input type="file" class="unseen" @change=${(/** @type {Event} */ event) => this.choose(event, (files) => this.again(one, () => singleFile(files[0])))}></label>`
          : nothing}
        ${state === 'committing' ? nothing : html`<button type="button" class="quiet danger small" @click=${() => this.giveUp(one)}>${kept.session ? 'Give up' : 'Dismiss'}</button>`}
      </div>
    </li>`;
  }

  /** @param {Upload} one @param {() => Picked} read */
  again(one, read) {
    let picked;
    try {
      picked = read();
    } catch (failure) {
      one.become('left', /** @type {Error} */ (failure));
      return;
    }
    if (one.fits(picked)) {
      one.resume(picked);
    } else {
      const { kept } = one;
      one.become('left', new Error(`${picked.name} (${bytes(picked.bytes)}) is not the ${one.isFolder ? 'folder' : 'file'} that was begun: ${kept.file} (${bytes(kept.bytes)}). ${one.isFolder ? 'A file was added, removed, renamed or modified' : 'The file was renamed or modified'}. Choose the one that is unchanged, or give this upload up and publish the new one.`));
    }
  }

  /** @param {Upload} one */
  async giveUp(one) {
    if (!one.kept.session) {
      this.uploads.drop(one);
      return;
    }
    one.pause();
    const isReplacing = this.data?.own.checkpoints.some((/** @type {any} */ item) => item.id === one.kept.id && item.status !== 'pending');
    const done = await confirm({
      title: `Give up ${one.kept.title}?`,
      text: isReplacing
        ? 'What was sent is not used; the file that is there stays as it is.'
        : 'What was sent is deleted, and the storage is free again.',
      action: 'Give up',
      danger: true,
      work: async () => {
        if (!isReplacing) {
          await call('deleteCheckpoint', { path: { id: one.kept.id } });
        }
        this.uploads.drop(one);
      },
    });
    if (done) {
      this.refresh();
    }
  }
}

/** The names that a folder has and its publication has not. @param {Picked} picked */
function leftOutNotice({ name, leftOut }) {
  const command = `bourse checkpoint push --hidden ${quoted(name)}`;
  const more = leftOut.length - SHOWN_NAMES;
  return html`<p class="hint" id="left-out">Left out because their names begin with a dot: ${leftOut.slice(0, SHOWN_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}.
    <code>${command}</code> includes them.</p>`;
}

/** What an upload is at. @param {Upload} one */
function words(one) {
  switch (one.state) {
    case 'left':
      return one.failure ? html`<span class="fault">${one.failure.message}</span>` : `Interrupted when the page was closed. Choose the same ${one.isFolder ? 'folder' : 'file'}, and it goes on where it stopped.`;
    case 'sending':
      return 'Sending';
    case 'waiting':
      return html`Trying again soon. ${one.failure?.message}`;
    case 'paused':
      return 'Paused. What was sent is kept.';
    case 'committing':
      return 'All is there; the service looks through it.';
    default:
      return html`<span class="fault">${one.failure?.message}</span>`;
  }
}

/** How many files a set has. @param {any} item */
function files(item) {
  return !item.files ? nothing : html` · ${whole(count(item.files, 'file'))}`;
}

/** Who published an item. @param {any} item */
export function publisher(item) {
  return item.publisher.name ?? (item.publisher.username || '–');
}

/** What is not broken over two lines. @param {unknown} text */
function whole(text) {
  return html`<span class="whole">${text}</span>`;
}

/** @type {import('../components/table.js').Column[]} */
const COLUMNS = [
  {
    title: 'File',
    value: (row) => row.title,
    cell: (row) => html`<span><a href="/console/checkpoints/${row.id}">${row.title}</a><br><span class="muted small">${row.filename}${files(row)}</span></span>`,
  },
  { title: 'Status', value: (row) => row.status, cell: (row) => badge(row.status_detail, TONES[row.status]) },
  { title: 'For', value: (row) => row.visibility, cell: (row) => whole(row.visibility === 'org' ? 'organization' : 'everybody') },
  { title: 'Size', numeric: true, value: (row) => row.total_bytes ?? row.bytes, cell: (row) => bytes(row.total_bytes ?? row.bytes) },
  { title: 'Revision', numeric: true, value: (row) => row.revision, cell: (row) => row.revision },
  { title: 'By', value: publisher, cell: (row) => whole(publisher(row)) },
  { title: 'Published', value: (row) => row.published_at ?? '', cell: (row) => whole(at(row.published_at)) },
];

/** @type {import('../components/table.js').Column[]} */
const FEED_COLUMNS = [
  {
    title: 'File',
    value: (row) => row.title,
    cell: (row) => html`<span><a href="/feed/${row.id}">${row.title}</a><br><span class="muted small">${row.filename}${files(row)}</span></span>`,
  },
  { title: 'Size', numeric: true, value: (row) => row.total_bytes ?? row.bytes, cell: (row) => bytes(row.total_bytes ?? row.bytes) },
  {
    title: 'By',
    value: (row) => row.publisher.org_display ?? row.publisher.name,
    cell: (row) => [row.publisher.org_display, row.publisher.username, row.publisher.name].filter(Boolean).join(', '),
  },
  { title: 'Published', value: (row) => row.published_at, cell: (row) => at(row.published_at) },
];

customElements.define('bourse-checkpoints', Checkpoints);
export default Checkpoints;
