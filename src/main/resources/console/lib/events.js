import { address } from './client.js';

/** @typedef {'connecting' | 'live' | 'waiting' | 'ended'} Liveness */

/** A stream that told nothing for so long is dead, whatever the browser thinks: it slept, or the network changed. */
const SILENCE_MILLIS = 45_000;

/**
 * A page that was hidden for so long closes its stream. Browsers open six connections to a service, and six hidden
 * pages would leave none for the page that is looked at.
 */
const HIDDEN_MILLIS = 10_000;

/** How long to wait before a stream that ended is opened again; longer each time, so that a restart is not stormed. */
const WAITS_MILLIS = [500, 1000, 2000, 5000, 10_000];

/**
 * Follows server-sent events. The browser's own way of coming back resumes after the last event; where it gives up, as it
 * does at a refusal or after sleep, this opens the stream anew, and the stream begins with the whole state.
 */
export class Follower {
  /**
   * @param {string} operation
   * @param {Parameters<typeof address>[1]} input
   * @param {Record<string, (data: any) => void>} handlers what to do with each kind of event
   * @param {(state: Liveness) => void} changed told whether it is connected
   * @param {() => Promise<unknown>} probe what is asked, by the client, when the stream is refused: where the session has
   *   ended, that has somebody sign in again
   */
  constructor(operation, input, handlers, changed, probe) {
    this.url = address(operation, input);
    this.handlers = handlers;
    this.changed = changed;
    this.probe = probe;
    this.tries = 0;
    this.heard = Date.now();
    /** @type {EventSource | null} */
    this.source = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.rest = undefined;
    this.wake = () => this.check();
    addEventListener('online', this.wake);
    document.addEventListener('visibilitychange', this.wake);
    this.open();
  }

  open() {
    this.source?.close();
    this.changed(this.tries === 0 ? 'connecting' : 'waiting');
    const source = new EventSource(this.url);
    this.source = source;
    this.heard = Date.now();
    source.onopen = () => {
      this.tries = 0;
      this.heard = Date.now();
      this.changed('live');
    };
    source.onerror = () => {
      if (source !== this.source) {
        return;
      }
      this.changed('waiting');
      if (source.readyState === EventSource.CLOSED) {
        this.probe().then(
          () => this.later(),
          () => this.later(),
        );
      }
    };
    for (const [name, handle] of Object.entries(this.handlers)) {
      source.addEventListener(name, (event) => {
        this.heard = Date.now();
        handle(JSON.parse(/** @type {MessageEvent} */ (event).data));
      });
    }
    if (document.hidden) {
      this.restLater();
    }
  }

  later() {
    if (!this.source) {
      return;
    }
    clearTimeout(this.timer);
    const wait = WAITS_MILLIS[Math.min(this.tries, WAITS_MILLIS.length - 1)];
    this.tries++;
    this.timer = setTimeout(() => this.open(), wait);
  }

  /** After sleep, when the page is shown or the network is back: a stream that is not open is opened at once. */
  check() {
    clearTimeout(this.rest);
    const source = this.source;
    if (!source) {
      return;
    }
    if (document.hidden) {
      this.restLater();
      return;
    }
    const isSilent = Date.now() - this.heard > SILENCE_MILLIS;
    if (source.readyState !== EventSource.OPEN || isSilent) {
      clearTimeout(this.timer);
      this.open();
    }
  }

  /** Closes the stream unless the page is shown within a while. */
  restLater() {
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      clearTimeout(this.timer);
      this.source?.close();
      this.changed('waiting');
    }, HIDDEN_MILLIS);
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.rest);
    removeEventListener('online', this.wake);
    document.removeEventListener('visibilitychange', this.wake);
    this.source?.close();
    this.source = null;
    this.changed('ended');
  }
}
