import { html, nothing } from 'lit';
import { openDialog } from './dialog.js';
import './operator-sign-in.js';

/**
 * Asks somebody whose session ended to sign in again, in another tab, while this page stays as it is.
 * @param {boolean} isOperators operators sign in in the dialog itself
 * @param {BroadcastChannel} signIns where the other tab tells that it is done
 * @param {() => Promise<any>} readSession
 * @returns {Promise<any>} the new session
 */
export async function askToSignIn(isOperators, signIns, readSession) {
  let isTooEarly = false;
  let look = async (/** @type {boolean} */ asked) => {};
  const glance = () => look(false);
  signIns.addEventListener('message', glance);
  addEventListener('focus', glance);
  try {
    return await openDialog(
      (close, redraw) => {
        look = async (asked) => {
          try {
            close(await readSession());
          } catch {
            isTooEarly = asked;
            redraw();
          }
        };
        return html`<h2>Sign in to go on</h2>
          <p>Your session ended. What you typed is still here.</p>
          ${isOperators
            ? html`<bourse-operator-sign-in @signed-in=${glance}></bourse-operator-sign-in>`
            : html`${isTooEarly ? html`<p class="notice" role="alert">You are not signed in yet.</p>` : nothing}
                <div class="actions">
                  <a class="button" target="_blank" href="/sign-in?return_to=%2Fconsole%2F">Sign in in a new tab</a>
                  <button type="button" class="quiet" @click=${() => look(true)}>I have signed in</button>
                </div>`}`;
      },
      { mayEscape: false },
    );
  } finally {
    signIns.removeEventListener('message', glance);
    removeEventListener('focus', glance);
  }
}
