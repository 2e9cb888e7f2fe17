import { html } from 'lit';
import { call } from '../lib/client.js';
import { Form, field, formFault, onSubmit, submitButton } from './form.js';
import { Element } from './parts.js';
import { toast } from './toast.js';

const KINDS = [
  { name: 'notice', label: 'Preemption notices', hint: 'A node will be reclaimed, or stays after a notice.' },
  { name: 'lapse', label: 'Ended declarations', hint: 'A declaration ended, at its time or with its budget.' },
  { name: 'alert', label: 'Alerts', hint: 'An alert of a cluster was raised. Spending has its threshold there.' },
  { name: 'health', label: 'Failed nodes', hint: 'A node stopped answering or failed, or recovered.' },
  { name: 'hold', label: 'Billing holds', hint: 'A billing hold started, advanced or was lifted.' },
];

const PACES = [
  { value: 'off', text: 'Off' },
  { value: 'at-once', text: 'At once' },
  { value: 'digest', text: 'Daily digest' },
];

/** `<bourse-mails .choices>`: which events the member receives by mail. */
class Mails extends Element {
  static properties = { choices: { attribute: false } };

  constructor() {
    super();
    /** @type {any} the choices as stored */
    this.choices = null;
    this.form = new Form(this, {});
  }

  /** @override @param {Map<string, unknown>} changes */
  willUpdate(changes) {
    if (changes.has('choices') && this.choices) {
      this.form.reset(this.choices);
    }
  }

  async save() {
    const choices = await this.form.submit(() => call('changeMailChoices', { body: { ...this.form.values } }));
    if (choices) {
      this.choices = choices;
      toast('Saved.');
    }
  }

  /** @override */
  render() {
    return html`<form class="sheet" id="mails" aria-labelledby="mails-title" @submit=${onSubmit(() => this.save())}>
      <h2 id="mails-title">Mails</h2>
      <p class="muted">Events of your organization's clusters, mailed to you. At once: three mails in a row, then one in ten minutes; the first notice of a cluster does not wait. Digest: at 08:00 UTC.</p>
      <div class="fields-row">
        ${KINDS.map(({ name, label, hint }) => field(this.form, { name, label, hint, type: 'select', options: PACES }))}
      </div>
      ${formFault(this.form)}
      <div class="actions">${submitButton(this.form, 'Save')}</div>
    </form>`;
  }
}

customElements.define('bourse-mails', Mails);
