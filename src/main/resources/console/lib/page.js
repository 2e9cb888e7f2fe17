import { html, nothing } from 'lit';
import { CallError } from './client.js';
import { Element, fault as faultView } from '../components/parts.js';
import { toast } from '../components/toast.js';
import '../components/countdown.js';

/**
 * A page: what stands between the navigation and the footer at one address.
 *
 * A page overrides `load`, which reads what it shows, and `view`, which shows it. Between the two it shows `waiting`;
 * when reading fails, the refusal and a button that tries again. When the address changes and the page stays, `load` is
 * called again, and what was shown stands until the new answer is there.
 *
 * @template [T=any] what `load` reads
 */
export class Page extends Element {
  /** @type {import('lit').PropertyDeclarations} */
  static properties = {
    params: { attribute: false },
    session: { attribute: false },
    data: { state: true },
    failure: { state: true },
    parent: { attribute: false },
  };

  constructor() {
    super();
    /** @type {Record<string, string>} the parts of the path that the page's address leaves open */
    this.params = {};
    /** @type {any} who is signed in, as the interface tells it */
    this.session = null;
    /** @type {{path: string, title: string} | null} the page that this one stands under */
    this.parent = null;
    /** @type {T | undefined} */
    this.data = undefined;
    /** @type {CallError | Error | undefined} */
    this.failure = undefined;
    /** @type {AbortController | null} */
    this.reading = null;
    /** @type {T | undefined} what the next page of a list is being read for */
    this.extending = undefined;
    /** @type {(() => void)[]} */
    this.endings = [];
  }

  /** What the page is called, for its first heading and the window's title. */
  get heading() {
    return '';
  }

  /** The query of the address. */
  get query() {
    return new URLSearchParams(location.search);
  }

  /**
   * Reads what the page shows.
   * @param {AbortSignal} signal hand it to `call`: it ends what is read when the address changes
   * @returns {Promise<T>}
   */
  async load(signal) {
    throw new Error(`${this.localName} does not say what it loads (${signal.aborted})`);
  }

  /**
   * Shows what was read.
   * @param {T} data
   * @returns {unknown}
   */
  view(data) {
    return html`${data}`;
  }

  /** Stands where the page will be, about as large as it. */
  waiting() {
    return html`<div class="skeleton" aria-hidden="true"><i></i><i></i><i></i><i></i></div>`;
  }

  /** Reads again. Until the answer is there, what was read before stands. */
  async refresh() {
    this.reading?.abort();
    const reading = new AbortController();
    this.reading = reading;
    try {
      const data = await this.load(reading.signal);
      if (!reading.signal.aborted) {
        this.data = data;
        this.failure = undefined;
      }
    } catch (failure) {
      if (!reading.signal.aborted) {
        this.failure = /** @type {Error} */ (failure);
      }
    }
  }

  /**
   * Adds the next page of a list, unless the page shows something else by the time it is read. A second click meanwhile
   * does nothing.
   * @param {(data: any) => Promise<T>} read answers the data with the next page added
   */
  async showMore(read) {
    const { data } = this;
    if (this.extending === data) {
      return;
    }
    this.extending = data;
    try {
      const longer = await read(data);
      if (this.data === data) {
        this.data = longer;
      }
    } catch (failure) {
      if (this.data === data) {
        toast(/** @type {Error} */ (failure).message);
      }
    } finally {
      if (this.extending === data) {
        this.extending = undefined;
      }
    }
  }

  /**
   * Does something again and again while the page is there and can be seen.
   * @param {number} millis
   * @param {() => void} work
   */
  every(millis, work) {
    const timer = setInterval(() => {
      if (!document.hidden) {
        work();
      }
    }, millis);
    this.endings.push(() => clearInterval(timer));
  }

  /** Does something when the page goes. @param {() => void} work */
  atEnd(work) {
    this.endings.push(work);
  }

  connectedCallback() {
    super.connectedCallback();
    this.refresh();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.reading?.abort();
    for (const end of this.endings.splice(0)) {
      end();
    }
  }

  /** @override */
  render() {
    const { failure } = this;
    return html`
      ${this.parent
        ? html`<nav class="crumbs" aria-label="Breadcrumb"><a href=${this.parent.path}>${this.parent.title}</a> <span aria-hidden="true">›</span> <span aria-current="page">${this.heading}</span></nav>`
        : nothing}
      <header class="page-head"><h1 tabindex="-1">${this.heading}</h1>${this.headActions()}</header>
      ${failure ? faultView(failure, () => this.refresh()) : nothing}
      ${this.data !== undefined ? this.view(this.data) : failure ? nothing : this.waiting()}
    `;
  }

  /** What stands beside the heading, such as the button that makes one more. */
  headActions() {
    return /** @type {unknown} */ (nothing);
  }
}
