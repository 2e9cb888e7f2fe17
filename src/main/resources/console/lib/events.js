import { address } from './client.js';

/** @typedef {'connecting' | 'live' | 'waiting' | 'ended'} Liveness */

/** A stream that told nothing for so long is dead, whatever the browser thinks: it slept, or the network changed. */
const SILENCE_MILLIS = 45_000;

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

  /** After sleep, or when the network is back: a stream that is not open is opened at once. */
  check() {
    if (document.hidden || !this.source) {
      return;
    }
    const isSilent = Date.now() - this.heard > SILENCE_MILLIS;
    if (this.source.readyState !== EventSource.OPEN || isSilent) {
      clearTimeout(this.timer);
      this.open();
    }
  }

  close() {
    clearTimeout(this.timer);
    removeEventListener('online', this.wake);
    document.removeEventListener('visibilitychange', this.wake);
    this.source?.close();
    this.source = null;
    this.changed('ended');
  }
}
