/**
 * Uploads that outlive pages. A file is announced, its bytes are sent in slices to its upload session, and it is
 * committed. The server keeps what arrived, so an upload goes on after a pause, a lost connection or a reload: it is
 * asked how far it is, and the rest follows. A slice is a part of a file on the disk, so the memory that an upload
 * takes does not grow with the file.
 */
import { CallError, call } from './client.js';

/** A proxy on the way has to take a request as long as this, and one broken off costs no more than a part of it. */
const SLICE_BYTES = 64 * 2 ** 20;

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
 * @property {string} file what the file is called on the disk
 * @property {number} bytes
 * @property {number} modified when the file was changed last, in epoch milliseconds
 * @property {string} expires when the session ends
 */

/** @typedef {'left' | 'sending' | 'waiting' | 'paused' | 'committing' | 'failed'} State */

/** One upload. */
export class Upload {
  /** @param {Uploads} all @param {Kept} kept @param {File | null} file */
  constructor(all, kept, file) {
    this.all = all;
    this.kept = kept;
    this.file = file;
    /** @type {State} `left` has no file: the page was loaded anew */
    this.state = file ? 'sending' : 'left';
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

  /** Whether a file is the one whose bytes were sent in part. @param {File} file */
  fits(file) {
    const { kept } = this;
    return file.name === kept.file && file.size === kept.bytes && file.lastModified === kept.modified;
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

  /** Goes on where the server stands. @param {File} [file] the same file, after a reload */
  async resume(file) {
    this.file = file ?? this.file;
    if (!this.file || this.running) {
      return;
    }
    this.running = true;
    this.marks = [];
    this.become('sending');
    try {
      await this.run(this.file);
    } finally {
      this.running = false;
    }
  }

  /** @param {File} file */
  async run(file) {
    for (let tries = 0; this.state === 'sending' || this.state === 'waiting'; ) {
      try {
        if (!this.asked) {
          await this.send(file, () => (tries = 0));
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

  /** @param {File} file @param {() => void} arrived called when bytes have arrived */
  async send(file, arrived) {
    let at = await this.ask();
    this.progress(at);
    while (at < file.size && this.state === 'sending') {
      const end = Math.min(at + SLICE_BYTES, file.size);
      const next = await this.put(`bytes ${at}-${end - 1}/${file.size}`, file.slice(at, end), at);
      if (next > at) {
        arrived();
      }
      at = next;
      this.progress(at);
    }
  }

  /** How many bytes the server has. */
  ask() {
    return this.put(`bytes */${this.kept.bytes}`, null, 0);
  }

  /**
   * One request to the session. Not by `call`: only this way a browser tells how much of a body has left.
   * @param {string} range
   * @param {Blob | null} slice
   * @param {number} from
   * @returns {Promise<number>} how many bytes the server has by then
   */
  put(range, slice, from) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      this.request = request;
      request.open('PUT', this.kept.session);
      request.setRequestHeader('content-range', range);
      if (slice) {
        request.setRequestHeader('content-type', 'application/octet-stream');
        request.upload.addEventListener('progress', (event) => this.progress(from + event.loaded));
      }
      const lost = () => reject(new CallError(0, { detail: 'The connection was lost.' }));
      request.addEventListener('error', lost);
      request.addEventListener('abort', lost);
      request.addEventListener('load', () => {
        if (request.status === 200) {
          resolve(this.kept.bytes);
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
    if (failure instanceof CallError && [404, 408, 410, 422].includes(failure.status)) {
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
      return kept.filter((one) => Date.parse(one.expires) > Date.now());
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

  /** The upload that a file goes on with. @param {File} file */
  find(file) {
    return this.list.find((one) => !one.running && one.kept.session && one.fits(file));
  }

  /**
   * Announces a file and begins to send it.
   * @param {File} file
   * @param {{title: string, description: string, filename: string, content_type: string, visibility: 'org' | 'public',
   *   replace: boolean | string}} publication as `publishCheckpoint` takes it, but for what the file tells
   */
  async begin(file, publication) {
    const announced = await call('publishCheckpoint', { body: { ...publication, bytes: file.size, upload: 'resumable' } });
    this.list = this.list.filter((one) => one.kept.id !== announced.id);
    const upload = new Upload(
      this,
      {
        id: announced.id,
        revision: announced.revision,
        // On this origin, whatever the service calls itself: the page may send nowhere else.
        session: new URL(announced.session_url ?? '').pathname,
        title: publication.title,
        file: file.name,
        bytes: file.size,
        modified: file.lastModified,
        expires: announced.expires_at ?? '',
      },
      file,
    );
    this.list.unshift(upload);
    this.store();
    upload.resume();
    return upload;
  }

  /** Asks how far those are that a reload left, so that it can be shown. */
  askAll() {
    for (const one of this.list.filter((left) => left.state === 'left' && left.sent === null)) {
      one.ask().then(
        (sent) => {
          one.sent = sent;
          this.changed();
        },
        (failure) => {
          if (failure instanceof CallError && failure.status !== 0) {
            // It was published or given up elsewhere.
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
