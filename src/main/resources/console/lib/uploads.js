/**
 * Uploads that outlive pages. A file or the files of a folder are announced, their bytes are sent in slices to the
 * upload session, and they are committed. The server keeps what arrived, so an upload goes on after a pause, a lost
 * connection or a reload: it is asked how far it is, and the rest follows. A slice is a part of a file on the disk, so
 * the memory that an upload takes does not grow with the file. The files of a folder are sent one after the other; the
 * service limits requests for each client address, so sending small ones at the same time would gain little.
 */
import { CallError, call } from './client.js';
import { count } from './format.js';
import { sha256 } from './sha256.js';

/** @typedef {import('./folder.js').Picked} Picked */
/** @typedef {import('./folder.js').Member} Member */

/** A proxy on the way has to take a request as long as this, and one broken off costs no more than a part of it. */
const SLICE_BYTES = 64 * 2 ** 20;

/** The longest announcement of a folder that the service reads. */
const MOST_ANNOUNCED_BYTES = 2 ** 20;

/** Speed is that of the last seconds: long enough to be calm, short enough to be true. */
const SPEED_MILLIS = 5000;

/** Waits between tries grow to this; a connection that comes back ends the wait at once. */
const LONGEST_WAIT_MILLIS = 30_000;

/** Refusals that another try may not meet. */
const PASSING = [0, 408, 425, 429, 500, 502, 503, 504];

/**
 * @typedef {object} Kept what outlives a reload
 * @property {string} id the checkpoint's
 * @property {number} revision the checkpoint's, which these bytes become
 * @property {string} session the path of the upload session; it permits to send these bytes and nothing else
 * @property {string} title
 * @property {string} file what the file or folder is called on the disk
 * @property {number} bytes of all files
 * @property {string} fingerprint of the files that were announced
 * @property {number} [files] of a folder
 * @property {number[]} [missing] the positions of the folder's files that the service did not have
 * @property {string} expires when the session ends
 */

/**
 * @typedef {object} Part bytes that are sent to an address of their own
 * @property {string} address
 * @property {string} path
 * @property {File} file
 * @property {boolean} isFresh whether nothing of it was sent, so that the service need not be asked
 */

/** @typedef {'left' | 'sending' | 'waiting' | 'paused' | 'committing' | 'failed'} State */

/** One upload. */
export class Upload {
  /** @param {Uploads} all @param {Kept} kept @param {Picked | null} picked */
  constructor(all, kept, picked) {
    this.all = all;
    this.kept = kept;
    /** @type {Part[] | null} what is sent; null after a reload */
    this.parts = picked && this.partsOf(picked, true);
    /** How many parts have arrived whole. */
    this.arrived = 0;
    /** @type {State} `left` has no file: the page was loaded anew */
    this.state = picked ? 'sending' : 'left';
    /** @type {number | null} bytes that the server has, or is being sent; null before it was asked */
    this.sent = null;
    /** @type {Error | null} why it failed, or why it waits */
    this.failure = null;
    /** @type {{at: number, sent: number}[]} */
    this.marks = [];
    /** @type {XMLHttpRequest | null} */
    this.request = null;
    /** @type {(() => void) | null} */
    this.wake = null;
    this.running = false;
    /** Whether a commit was asked for: it may have been carried out though no answer came. */
    this.asked = false;
  }

  get isFolder() {
    return this.kept.files !== undefined;
  }

  /**
   * Whether these are the files whose bytes were sent in part: no file was renamed, resized or modified since. The
   * service refuses a file of a set that changed all the same, because its digest differs from the announced one.
   * @param {Picked} picked
   */
  fits(picked) {
    return picked.fingerprint === this.kept.fingerprint;
  }

  /** @param {Picked} picked @param {boolean} isFresh @returns {Part[]} */
  partsOf({ files }, isFresh) {
    const { session, missing } = this.kept;
    return missing
      ? missing.map((number) => ({ address: `${session}/${number}`, ...files[number], isFresh }))
      : [{ address: session, ...files[0], isFresh }];
  }

  /** Bytes a second, over the last seconds; null while there is nothing to tell. */
  get speed() {
    const first = this.marks[0];
    const last = this.marks.at(-1);
    return this.state === 'sending' && first && last && last.at > first.at
      ? ((last.sent - first.sent) * 1000) / (last.at - first.at)
      : null;
  }

  /** @param {State} state @param {Error | null} [failure] */
  become(state, failure = null) {
    this.state = state;
    this.failure = failure;
    this.all.changed();
  }

  /** @param {number} sent */
  progress(sent) {
    const now = Date.now();
    this.sent = sent;
    this.marks.push({ at: now, sent });
    while (this.marks.length > 2 && this.marks[0].at < now - SPEED_MILLIS) {
      this.marks.shift();
    }
    this.all.changed();
  }

  /** Stops sending. What arrived stays. */
  pause() {
    if (this.state === 'sending' || this.state === 'waiting') {
      this.become('paused');
      this.request?.abort();
      this.wake?.();
    }
  }

  /** Goes on where the server stands. @param {Picked} [picked] the same files, dropped or chosen again */
  async resume(picked) {
    if (this.running) {
      return;
    }
    if (picked) {
      // The folder may have moved, so that what was chosen before cannot be read any more.
      this.parts = this.partsOf(picked, false);
      this.arrived = 0;
    }
    if (!this.parts) {
      return;
    }
    this.running = true;
    this.marks = [];
    this.become('sending');
    try {
      await this.run(this.parts);
    } finally {
      this.running = false;
    }
  }

  /** @param {Part[]} parts */
  async run(parts) {
    for (let tries = 0; this.state === 'sending' || this.state === 'waiting'; ) {
      try {
        if (!this.asked) {
          await this.send(parts, () => (tries = 0));
        }
        if (this.state === 'sending') {
          await this.commit();
        }
        return;
      } catch (failure) {
        const refusal = failure instanceof CallError ? failure : null;
        if (this.isPaused()) {
          return;
        }
        if (!refusal || !PASSING.includes(refusal.status)) {
          this.fail(/** @type {Error} */ (failure));
          return;
        }
        tries += 1;
        this.become('waiting', refusal);
        await this.rest(Math.max((refusal.answer.retry_after_s ?? 0) * 1000, Math.min(500 * 2 ** tries, LONGEST_WAIT_MILLIS)));
        if (this.isWaiting()) {
          this.become('sending');
        }
      }
    }
  }

  /** Whether it still waits; somebody may have paused it meanwhile. */
  isWaiting() {
    return this.state === 'waiting';
  }

  isPaused() {
    return this.state === 'paused';
  }

  /** @param {Part[]} parts @param {() => void} moved called when bytes have arrived */
  async send(parts, moved) {
    // What the service has of other sets is not sent again.
    let before = this.kept.bytes - parts.reduce((sum, { file }) => sum + file.size, 0);
    for (const [number, part] of parts.entries()) {
      if (number >= this.arrived && !(await this.sendPart(part, before, moved))) {
        return;
      }
      this.arrived = Math.max(this.arrived, number + 1);
      before += part.file.size;
    }
    this.progress(before);
  }

  /**
   * @param {Part} part
   * @param {number} before bytes that arrived before it
   * @param {() => void} moved
   * @returns {Promise<boolean>} whether it has arrived whole
   */
  async sendPart(part, before, moved) {
    const { file } = part;
    // An empty file arrives by the question for it.
    let at = part.isFresh && file.size > 0 ? 0 : await this.ask(part.address, file.size);
    part.isFresh = false;
    this.progress(before + at);
    while (at < file.size && this.state === 'sending') {
      const end = Math.min(at + SLICE_BYTES, file.size);
      const next = await this.put(part.address, `bytes ${at}-${end - 1}/${file.size}`, file.size, file.slice(at, end), before + at);
      if (next > at) {
        moved();
      }
      at = next;
      this.progress(before + at);
    }
    return at === file.size && this.state === 'sending';
  }

  /** How many bytes of a file the server has. @param {string} address @param {number} size */
  ask(address, size) {
    return this.put(address, `bytes */${size}`, size, null, 0);
  }

  /**
   * One request to the session. Not by `call`: only this way a browser tells how much of a body has left.
   * @param {string} address
   * @param {string} range
   * @param {number} size the file's
   * @param {Blob | null} slice
   * @param {number} from bytes of the upload before this slice
   * @returns {Promise<number>} how many bytes of the file the server has by then
   */
  put(address, range, size, slice, from) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      this.request = request;
      request.open('PUT', address);
      request.setRequestHeader('content-range', range);
      if (slice) {
        request.setRequestHeader('content-type', 'application/octet-stream');
        request.upload.addEventListener('progress', (event) => this.progress(from + event.loaded));
      }
      const lost = () => reject(new CallError(0, { detail: 'The connection was lost.' }));
      request.addEventListener('error', () => {
        // A file that cannot be read any more fails the request, too, and no other try would help.
        const gone = () => reject(new Error(`A file of ${this.kept.file} was changed, moved or deleted after it was chosen. Publish ${this.kept.file} again.`));
        (slice?.slice(0, 1).arrayBuffer() ?? Promise.resolve()).then(lost, gone);
      });
      request.addEventListener('abort', lost);
      request.addEventListener('load', () => {
        if (request.status === 200) {
          resolve(size);
        } else if (request.status === 308) {
          const last = /-(\d+)$/.exec(request.getResponseHeader('range') ?? '');
          resolve(last ? Number(last[1]) + 1 : 0);
        } else {
          reject(new CallError(request.status, parsed(request.responseText)));
        }
      });
      request.send(slice);
    });
  }

  async commit() {
    this.become('committing');
    this.asked = true;
    try {
      this.all.done(this, await this.committed());
    } catch (failure) {
      if (failure instanceof CallError && PASSING.includes(failure.status)) {
        this.state = 'sending';
        // A session whose time is over says so for good when it is asked for its bytes.
        this.asked = failure.code !== 'upload-timeout';
      }
      throw failure;
    }
  }

  /** @returns {Promise<any>} the item, also when an earlier commit, whose answer was lost, has published it */
  async committed() {
    const path = { id: this.kept.id };
    try {
      return await call('commitCheckpoint', { path, body: { bytes: this.kept.bytes } });
    } catch (failure) {
      if (!(failure instanceof CallError) || (failure.status !== 410 && failure.answer.reason !== 'not-pending')) {
        throw failure;
      }
      const item = await call('readCheckpoint', { path });
      if (item.status === 'pending' || item.revision !== this.kept.revision) {
        throw failure;
      }
      return item;
    }
  }

  /** @param {Error} failure */
  fail(failure) {
    // A resumed upload first asks how many bytes the server has.
    this.asked = false;
    const refusal = failure instanceof CallError ? failure : null;
    if (refusal?.answer.reason === 'sha-mismatch') {
      // The session awaits the bytes that were announced, and the disk no longer has them.
      this.all.forget(this);
      const path = this.parts?.[this.arrived]?.path ?? this.kept.file;
      this.become('failed', new Error(`${path} changed after ${this.kept.file} was announced, so ${this.kept.file} was not published. Drop or choose it again.`));
      return;
    }
    if (refusal && [404, 408, 410, 422].includes(refusal.status)) {
      // The server has withdrawn it: there is nothing to go on with.
      this.all.forget(this);
    }
    this.become('failed', failure);
  }

  /** @param {number} millis */
  rest(millis) {
    return /** @type {Promise<void>} */ (
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          removeEventListener('online', end);
          this.wake = null;
          resolve();
        };
        const timer = setTimeout(end, millis);
        this.wake = end;
        addEventListener('online', end);
      })
    );
  }
}

/** All uploads of a member in this browser. They go on while the member looks at other pages. */
export class Uploads extends EventTarget {
  /** @param {string} member whose they are */
  constructor(member) {
    super();
    this.place = `bourse-uploads ${member}`;
    /** @type {Upload[]} */
    this.list = this.read().map((kept) => new Upload(this, kept, null));
    addEventListener('beforeunload', (event) => {
      if (this.list.some((one) => one.running)) {
        event.preventDefault();
      }
    });
  }

  /** @returns {Kept[]} */
  read() {
    try {
      const kept = /** @type {Kept[]} */ (JSON.parse(localStorage.getItem(this.place) ?? '[]'));
      // Earlier releases kept no fingerprint, so nothing tells whether the files are still the same.
      return kept.filter((one) => one.fingerprint && Date.parse(one.expires) > Date.now());
    } catch {
      return [];
    }
  }

  store() {
    const kept = this.list.map((one) => one.kept).filter((one) => one.session);
    if (kept.length === 0) {
      localStorage.removeItem(this.place);
    } else {
      localStorage.setItem(this.place, JSON.stringify(kept));
    }
  }

  changed() {
    this.dispatchEvent(new Event('change'));
  }

  /** The upload that goes on with these files. @param {Picked} picked */
  find(picked) {
    return this.list.find((one) => !one.running && one.kept.session && one.fits(picked));
  }

  /**
   * Announces files and begins to send them.
   * @param {Picked} picked
   * @param {{title: string, description: string, filename: string, content_type: string, visibility: 'org' | 'public',
   *   replace: boolean | string}} publication as `publishCheckpoint` takes it, but for what the file tells
   * @param {(read: number) => void} digested called with the bytes of a folder that were digested so far
   * @param {AbortSignal} signal ends the digesting and the announcement
   */
  async begin(picked, publication, digested, signal) {
    const announced = picked.isFolder
      ? await announceFolder(picked, publication, digested, signal)
      : await call('publishCheckpoint', { body: { ...publication, bytes: picked.bytes, upload: 'resumable' }, signal });
    signal.throwIfAborted();
    this.list = this.list.filter((one) => one.kept.id !== announced.id);
    const upload = new Upload(
      this,
      {
        id: announced.id,
        revision: announced.revision,
        // On this origin, whatever the service calls itself: the page may send nowhere else.
        session: new URL(announced.session_url ?? '').pathname,
        title: publication.title,
        file: picked.name,
        bytes: picked.bytes,
        fingerprint: picked.fingerprint,
        ...('missing' in announced ? { files: announced.files, missing: announced.missing } : {}),
        expires: announced.expires_at ?? '',
      },
      picked,
    );
    this.list.unshift(upload);
    this.store();
    upload.resume();
    return upload;
  }

  /** Asks how far those are that a reload left, so that it can be shown. */
  askAll() {
    for (const one of this.list.filter((left) => left.state === 'left' && left.sent === null)) {
      // Of a folder one file tells whether the session lives; each would have to be asked for the sum.
      const { session, missing, bytes } = one.kept;
      if (missing?.length === 0) {
        continue;
      }
      one.put(missing ? `${session}/${missing[0]}` : session, 'bytes */*', bytes, null, 0).then(
        (sent) => {
          if (!missing) {
            one.sent = sent;
            this.changed();
          }
        },
        (failure) => {
          // After a temporary refusal, such as 503, the session may still exist.
          if (failure instanceof CallError && !PASSING.includes(failure.status)) {
            // The session is gone: the upload was published or cancelled elsewhere.
            this.drop(one);
          }
        },
      );
    }
  }

  /** Keeps nothing of it any more. @param {Upload} upload */
  forget(upload) {
    upload.kept = { ...upload.kept, session: '' };
    this.store();
  }

  /** Takes it from the list. @param {Upload} upload */
  drop(upload) {
    this.list = this.list.filter((one) => one !== upload);
    this.store();
    this.changed();
  }

  /** @param {Upload} upload @param {any} item what was published */
  done(upload, item) {
    this.drop(upload);
    this.dispatchEvent(new CustomEvent('published', { detail: item }));
  }
}

/** @type {Uploads | null} */
let uploads = null;

/** The uploads of who is signed in. @param {any} session */
export function uploadsOf(session) {
  const member = `${session.org_id}/${session.username}`;
  if (uploads?.place !== `bourse-uploads ${member}`) {
    uploads = new Uploads(member);
  }
  return uploads;
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * A set is announced by the digests of its files, so that files that the organization has are not sent again.
 * @param {Picked} picked
 * @param {{title: string, description: string, filename: string, visibility: 'org' | 'public', replace: boolean | string}} publication
 * @param {(read: number) => void} digested
 * @param {AbortSignal} signal
 */
async function announceFolder(picked, { title, description, filename, visibility, replace }, digested, signal) {
  const about = { title, description, filename, visibility, replace };
  const length = new Blob([JSON.stringify({
    ...about,
    files: picked.files.map(({ path, file }) => ({ path, bytes: file.size, sha256: '0'.repeat(64) })),
  })]).size;
  if (length > MOST_ANNOUNCED_BYTES) {
    throw new Error(
      `The list of the ${count(picked.files.length, 'file')} of ${picked.name} has ${count(length, 'byte')} with all paths; the service takes ${count(MOST_ANNOUNCED_BYTES, 'byte')} at most. Shorten the paths, or pack some of the files into one file.`,
    );
  }
  let read = 0;
  const files = [];
  for (const { path, file } of picked.files) {
    try {
      files.push({ path, bytes: file.size, sha256: await sha256(file, (bytes) => digested((read += bytes)), signal) });
    } catch (failure) {
      signal.throwIfAborted();
      throw new Error(`${path} cannot be read; it may have been changed, moved or deleted. Choose the folder again.`);
    }
  }
  return call('publishCheckpointSet', { body: { ...about, files }, signal });
}
