import { nothing } from 'lit';
import { Page } from './page.js';
import { toast } from '../components/toast.js';

/**
 * A page of operators. An operator who may only read sees no button that writes; the service refuses the writes in any
 * case. Dialogs are loaded when one is opened, so that a page that only shows stays small.
 *
 * @template [T=any] what `load` reads
 * @extends {Page<T>}
 */
export class OperatorPage extends Page {
  /** Whether the operator may change anything. */
  get mayWrite() {
    return !this.session.read_only;
  }

  /**
   * Shows a control only to operators who may use it.
   * @param {() => unknown} control
   */
  ifWriting(control) {
    return this.mayWrite ? control() : nothing;
  }

  /**
   * Reads what something destroys, asks, does it, and reads the page again after it.
   * @param {import('../components/dialog.js').Task & {ask: NonNullable<import('../components/dialog.js').Task['ask']>}} task
   */
  async askWithPreview(task) {
    const { askFirst } = await import('../components/dialog.js');
    const left = new AbortController();
    this.atEnd(() => left.abort());
    try {
      if (await askFirst(task, left.signal)) {
        await this.refresh();
      }
    } catch (failure) {
      toast(/** @type {Error} */ (failure).message);
    }
  }

  /** Takes a node from its cluster, after a question that names who loses it. @param {string} nodeId */
  async evict(nodeId) {
    const { evictTask } = await import('./nodes.js');
    await this.askWithPreview(evictTask(nodeId, Boolean(this.session.site)));
  }

  /** Asks before something is done, and reads the page again after it. @param {import('../components/dialog.js').Question} question */
  async ask(question) {
    const { confirm } = await import('../components/dialog.js');
    if (await confirm(question)) {
      await this.refresh();
    }
  }
}
