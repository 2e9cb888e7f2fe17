import { html, nothing, render } from 'lit';
import { CallError, isUnknownOutcome } from '../lib/client.js';
import { onNavigate } from '../lib/router.js';
import { Form, field, formFault, onSubmit } from './form.js';
import { toast } from './toast.js';

/** How many had a title; the id of each title is its own. */
let opened = 0;

/**
 * Opens a dialog and waits for it to close. It is modal and keeps the focus. Escape closes it, and so does a change of
 * the address.
 * @template T
 * @param {(close: (result?: T) => void, redraw: () => void) => unknown} view made again at each `redraw`
 * @param {{wide?: boolean, mayEscape?: boolean}} [how]
 * @returns {Promise<T | undefined>} what it was closed with; undefined when it was dismissed
 */
export function openDialog(view, { wide = false, mayEscape = true } = {}) {
  const opener = document.activeElement;
  const dialog = document.createElement('dialog');
  dialog.className = wide ? 'wide' : '';
  document.body.append(dialog);
  return new Promise((resolve) => {
    /** @type {T | undefined} */
    let outcome;
    const close = (/** @type {T | undefined} */ result) => {
      outcome = result;
      dialog.close();
    };
    const redraw = () => {
      render(view(close, redraw), dialog);
      const title = dialog.querySelector('h2');
      if (title) {
        title.id ||= `dialog-title-${++opened}`;
        dialog.setAttribute('aria-labelledby', title.id);
      }
    };
    dialog.addEventListener('cancel', (event) => {
      if (!mayEscape) {
        event.preventDefault();
      }
    });
    const ignore = onNavigate(() => mayEscape && close(undefined));
    dialog.addEventListener('close', () => {
      ignore();
      dialog.remove();
      if (opener instanceof HTMLElement) {
        opener.focus();
      }
      resolve(outcome);
    });
    redraw();
    dialog.showModal();
    /** @type {HTMLElement | null} */ (dialog.querySelector('[autofocus]'))?.focus();
  });
}

/** What a form in a dialog is told instead of a component: to draw it again. @param {() => void} redraw */
export function dialogHost(redraw) {
  return /** @type {import('lit').ReactiveControllerHost} */ ({
    addController() {},
    removeController() {},
    requestUpdate: redraw,
    updateComplete: Promise.resolve(true),
  });
}

/**
 * @typedef {object} Asked what a reader is asked
 * @property {string} title what will be done, as a question
 * @property {unknown} text what is lost by it
 * @property {string} action the words of the button, a verb first
 * @property {boolean} [danger] whether something is lost for good
 * @property {string} [typed] what has to be typed first: the name of what is lost
 * @property {{name: string, label: string, hint: string}} [fill] a field of the question, which `work` gets, such as a reason
 * @property {string} [losses] identifies what is lost, so that two readings can be compared
 */

/**
 * @typedef {object} Task
 * @property {(asked: Asked | null, filled: string) => Promise<unknown>} work done when the answer is yes, with what the
 *     question's field holds; a refusal is shown in the dialog
 * @property {(signal: AbortSignal) => Promise<Asked | null>} [ask] reads what is lost; called again right before `work`,
 *     which is not done if something else is lost by then
 * @property {Form} [form] the form that is sent; a refusal of one of its fields closes the dialog and is shown there
 * @property {Record<string, string>} [fieldOfCode] the field of that form for codes whose words name none
 */

/** @typedef {Asked & Task} Question */

/** How often a write that came too soon after another is sent again. */
const RESENDS = 2;

/** A question that replaced another takes no answer for so long: a second click may have been meant for the first one. */
const UNREAD_MILLIS = 1000;

/** @param {number} millis @param {AbortSignal} signal */
function pause(millis, signal) {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(undefined);
      return;
    }
    const timer = setTimeout(resolve, millis);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve(undefined);
    }, { once: true });
  });
}

/**
 * Does the work of a task if what is lost by it is what the reader agreed to. A write that came too soon after another is
 * sent again later, after another look at what is lost.
 * @param {Task} task
 * @param {string | undefined} agreed
 * @param {AbortSignal} signal ends it before the next write; a write under way is not ended
 * @param {string} filled what the question's field holds
 * @param {(isWriting: boolean) => void} [writing]
 * @returns {Promise<Asked | null>} the question to ask first; null if the work is done
 */
async function attempt({ ask, work }, agreed, signal, filled = '', writing = () => {}) {
  for (let sent = 0; ; sent++) {
    const asked = ask ? await ask(signal) : null;
    signal.throwIfAborted();
    if (asked && asked.losses !== agreed) {
      return asked;
    }
    writing(true);
    try {
      await work(asked, filled);
      return null;
    } catch (failure) {
      const { reason, retry_after_s: wait } = failure instanceof CallError ? failure.answer : {};
      if (reason !== 'cadence' || sent >= RESENDS) {
        throw failure;
      }
      writing(false);
      await pause(wait * 1000, signal);
      signal.throwIfAborted();
    }
  }
}

/**
 * Does a task, and asks first if `ask` answers a question.
 * @param {Task & {ask: NonNullable<Task['ask']>}} task
 * @param {AbortSignal} stop ends it, with its dialog, unless it is being written
 * @returns {Promise<boolean>} whether it was done
 */
export async function askFirst(task, stop) {
  /** @type {Asked | null | undefined} */
  let question;
  let isWriting = false;
  const look = async () => {
    try {
      question = await attempt(task, undefined, stop, '', (is) => {
        isWriting = is;
      });
    } catch (failure) {
      if (!stop.aborted) {
        throw failure;
      }
      if (isWriting) {
        // The page that would show the refusal is gone.
        toast(/** @type {Error} */ (failure).message);
      }
    }
  };
  await (task.form ? task.form.submit(look, task.fieldOfCode) : look());
  return question ? confirm({ ...question, ...task }, stop) : question === null;
}

/**
 * Asks before something is done, does it, and shows what the server says to it. When `ask` then answers another question,
 * the dialog asks that one.
 * @param {Question} question
 * @param {AbortSignal} [stop] closes the dialog
 * @returns {Promise<boolean>} whether it was done
 */
export async function confirm(question, stop) {
  /** @type {Asked} */
  let asked = question;
  let isChanged = false;
  let isUnread = false;
  let mayBeDone = false;
  let isWriting = false;
  /** @type {Promise<boolean | undefined>} */
  let sending = Promise.resolve(undefined);
  const cancelled = new AbortController();
  if (stop?.aborted) {
    return false;
  }
  const cancel = (/** @type {(done?: boolean) => void} */ close) => {
    cancelled.abort();
    close(false);
  };
  /** @type {Form | null} */
  let form = null;
  const answer = await openDialog((/** @type {(done?: boolean) => void} */ close, redraw) => {
    if (!form) {
      form = new Form(dialogHost(redraw), { typed: '', ...(question.fill ? { [question.fill.name]: '' } : {}) });
      stop?.addEventListener('abort', () => cancel(close), { signal: cancelled.signal });
    }
    const current = form;
    const writing = (/** @type {boolean} */ is) => {
      isWriting = is;
      redraw();
    };
    const send = onSubmit(async () => {
      if (isUnread || current.busy) {
        return;
      }
      sending = current.submit(async () => {
        try {
          const other = await attempt(question, asked.losses, cancelled.signal, question.fill ? current.values[question.fill.name] : '', writing);
          if (!other) {
            return true;
          }
          [asked, isChanged, isUnread] = [other, true, true];
          setTimeout(() => {
            isUnread = false;
            redraw();
          }, UNREAD_MILLIS);
          return undefined;
        } catch (failure) {
          mayBeDone ||= isUnknownOutcome(failure);
          if (!isWriting && (stop?.aborted || cancelled.signal.aborted)) {
            return undefined;
          }
          if (!stop?.aborted && question.form?.fieldOf(failure, question.fieldOfCode)) {
            question.form.refuse(failure, question.fieldOfCode);
            return false;
          }
          throw failure;
        } finally {
          isWriting = false;
        }
      });
      const result = await sending;
      if (result !== undefined) {
        close(result);
      }
    });
    const isReady = !isUnread && (!asked.typed || current.values.typed === asked.typed);
    return html`<form method="dialog" @submit=${send}>
      <h2>${asked.title}</h2>
      ${isChanged ? html`<p class="notice warn" role="alert">This has changed since you were asked. ${mayBeDone ? 'What you sent before may have been done.' : 'Nothing was sent.'}</p>` : nothing}
      <div class="prose">${asked.text}</div>
      ${question.fill ? field(current, { ...question.fill, required: true, autofocus: true }) : nothing}
      ${asked.typed
        ? field(current, { name: 'typed', label: `Type ${asked.typed} to go on`, required: true, autofocus: !question.fill })
        : nothing}
      ${formFault(current)}
      <div class="actions">
        <button type="submit" class=${asked.danger ? 'danger' : ''} ?disabled=${!isReady} aria-busy=${current.busy ? 'true' : 'false'}>${asked.action}</button>
        <button type="button" class="quiet" ?autofocus=${!asked.typed && !question.fill} @click=${() => cancel(close)}>${isWriting ? 'Close' : 'Cancel'}</button>
        ${isWriting ? html`<span class="muted small" role="status">Sent. Waiting for the answer.</span>` : nothing}
      </div>
    </form>`;
  });
  const wasWriting = isWriting;
  cancelled.abort();
  if (answer || !wasWriting) {
    return answer === true;
  }
  // The dialog was closed after the request had been sent: its outcome still counts.
  const done = await sending;
  const { failure = null, errors = {} } = /** @type {Form | null} */ (form) ?? {};
  const refusal = failure?.message ?? Object.values(errors)[0];
  if (refusal) {
    toast(refusal);
  }
  return done === true;
}
