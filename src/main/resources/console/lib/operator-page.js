import { nothing } from 'lit';
import { Page } from './page.js';
import { toast } from '../components/toast.js';

/**
 * A page of operators. A read-only operator sees no button that writes, and the service refuses such writes. The code of
 * dialogs is loaded when the first one opens, so that pages stay small.
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
