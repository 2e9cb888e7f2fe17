import { html, nothing, render } from 'lit';
import { Form, field, formFault, onSubmit } from './form.js';

/** How many had a title; the id of each title is its own. */
let opened = 0;

/**
 * Opens a dialog and waits for it to close. It is modal, keeps the focus, and Escape closes it; the browser sees to
 * that.
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
    dialog.addEventListener('close', () => {
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
 * @typedef {object} Question
 * @property {string} title what will be done, as a question
 * @property {unknown} text what is lost by it
 * @property {string} action the words of the button, a verb first
 * @property {boolean} [danger] whether something is lost for good
 * @property {string} [typed] what has to be typed first: the name of what is lost
 * @property {() => Promise<unknown>} work done when the answer is yes; a refusal is shown in the dialog
 */

/**
 * Asks before something is done, does it, and shows what the server says to it.
 * @param {Question} question
 * @returns {Promise<boolean>} whether it was done
 */
export async function confirm(question) {
  /** @type {Form | null} */
  let form = null;
  const done = await openDialog((/** @type {(done?: boolean) => void} */ close, redraw) => {
    form ??= new Form(dialogHost(redraw), { typed: '' });
    const current = form;
    const send = onSubmit(async () => {
      const result = await current.submit(async () => {
        await question.work();
        return true;
      });
      if (result) {
        close(true);
      }
    });
    const ready = !question.typed || current.values.typed === question.typed;
    return html`<form method="dialog" @submit=${send}>
      <h2>${question.title}</h2>
      <div class="prose">${question.text}</div>
      ${question.typed
        ? field(current, { name: 'typed', label: `Type ${question.typed} to go on`, required: true, autofocus: true })
        : nothing}
      ${formFault(current)}
      <div class="actions">
        <button type="submit" class=${question.danger ? 'danger' : ''} ?disabled=${!ready} aria-busy=${current.busy ? 'true' : 'false'}>${question.action}</button>
        <button type="button" class="quiet" ?autofocus=${!question.typed} @click=${() => close(false)}>Cancel</button>
      </div>
    </form>`;
  });
  return done === true;
}
