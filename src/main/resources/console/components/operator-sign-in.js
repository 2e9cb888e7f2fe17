import { html } from 'lit';
import { Element } from './parts.js';
import { call, operationAt } from '../lib/client.js';
import { Form, field, formFault, onSubmit, submitButton } from './form.js';

/** `<bourse-operator-sign-in>`: takes an operator's token and tells `signed-in` once there is a session. */
class OperatorSignIn extends Element {
  constructor() {
    super();
    this.form = new Form(this, { token: '' });
  }

  async send() {
    const session = await this.form.submit(
      () => call(operationAt('POST', '/api/operator/session'), { body: { token: this.form.values.token.trim() }, quiet: true, atSignIn: true }),
      { unauthorized: 'token' },
    );
    if (session) {
      this.form.reset({ token: '' });
      this.dispatchEvent(new Event('signed-in'));
    }
  }

  /** @override */
  render() {
    return html`<form class="sheet" @submit=${onSubmit(() => this.send())}>
      <h1>Operators</h1>
      ${field(this.form, { name: 'token', label: "Operator's token", type: 'password', required: true, autofocus: true, hint: 'It becomes a session of 12 hours in this browser; the token itself is not kept.' })}
      ${formFault(this.form)}
      <div class="actions">${submitButton(this.form, 'Sign in')}</div>
    </form>`;
  }
}

customElements.define('bourse-operator-sign-in', OperatorSignIn);
