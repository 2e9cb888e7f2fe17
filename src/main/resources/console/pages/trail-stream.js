import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { CallError, call } from '../lib/client.js';
import { count } from '../lib/format.js';
import { at, badge, empty, figure } from '../components/parts.js';
import { confirm, dialogHost, openDialog } from '../components/dialog.js';
import { Form, field, formFault, onSubmit, submitButton } from '../components/form.js';
import { showSecret, withoutKey } from '../components/webhook.js';
import { toast } from '../components/toast.js';

/** How often it is read anew how far the receiver is. */
const AGAIN_MILLIS = 10_000;

/** Where the organization has its trail sent. */
class TrailStream extends Page {
  /** @override */
  get heading() {
    return 'Trail stream';
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.every(AGAIN_MILLIS, () => this.refresh());
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    try {
      return { stream: await call('readTrailStream', { signal }), available: true };
    } catch (failure) {
      if (failure instanceof CallError && failure.status === 404) {
        return { stream: null, available: (await call('listWebhooks', { signal })).available };
      }
      throw failure;
    }
  }

  /** @override */
  headActions() {
    const stream = this.data?.stream;
    return stream
      ? html`<button type="button" class="quiet" @click=${() => this.edit(stream)}>Change</button>
          <button type="button" class="quiet" @click=${() => this.enable(stream)}>${stream.enabled ? 'Pause' : 'Go on'}</button>
          ${stream.access_key_id ? nothing : html`<button type="button" class="quiet" @click=${() => this.rotate()}>Rotate the secret</button>`}
          <button type="button" class="danger" @click=${() => this.forget(stream)}>Delete</button>`
      : nothing;
  }

  /** @override */
  view(/** @type {any} */ { stream, available }) {
    if (!stream) {
      return html`${available ? nothing : withoutKey('Trail streams')}<section class="sheet" aria-label="The stream">
        ${empty('The trail is streamed nowhere', html`Every sealed batch of it can be sent to an address or an object store of yours. See the <a href="/docs/guides/trail">guide</a>.`,
          available ? html`<button type="button" @click=${() => this.edit(null)}>Stream the trail</button>` : nothing)}
      </section>`;
    }
    return html`<section class="sheet" aria-label="The stream">
      <p><span class="mono">${stream.destination}</span> ${stream.enabled
        ? badge('on', stream.fault ? 'warn' : 'good')
        : badge(`off: ${stream.disabled_reason}`, stream.disabled_reason === 'switched-off' ? 'calm' : 'bad')}</p>
      <dl class="figures-row">
        ${chain('Writes', stream.writes)}
        ${stream.reads ? chain('Reads', stream.reads) : nothing}
      </dl>
      ${stream.fault
        ? html`<p class="notice warn">The next batch was tried ${count(stream.attempts, 'time', 'times')}, ${at(stream.last_attempt_at, 'ago')} last: ${stream.fault}.
            ${stream.next_attempt_at ? html`It is tried again ${at(stream.next_attempt_at)}.` : nothing}</p>`
        : nothing}
      <p class="muted">Made ${at(stream.created_at, 'ago')} by <span class="mono">${stream.created_by}</span>.
        ${stream.disabled_at ? html`Switched off ${at(stream.disabled_at, 'ago')}; it goes on where it stopped.` : nothing}
        ${stream.old_secret_until ? html`The secret before signs too until ${at(stream.old_secret_until)}.` : nothing}
        The <a href="/docs/guides/trail">guide</a> tells how files are verified.</p>
    </section>`;
  }

  /** @param {any} stream the one to change; null to make one */
  async edit(stream) {
    /** @type {Form | null} */
    let form = null;
    const stored = await openDialog((/** @type {(result?: any) => void} */ close, redraw) => {
      form ??= new Form(dialogHost(redraw), {
        destination: stream?.destination ?? '',
        access_key_id: stream?.access_key_id ?? '',
        secret_access_key: '',
        include_reads: stream?.include_reads ?? false,
        start: '',
      });
      const current = form;
      const send = onSubmit(async () => {
        const { values } = current;
        /** @type {any} */
        const body = { destination: values.destination.trim(), include_reads: values.include_reads, enabled: stream?.enabled ?? true };
        for (const name of ['access_key_id', 'secret_access_key', 'start']) {
          if (values[name]) {
            body[name] = values[name];
          }
        }
        const answer = await current.submit(() => call('setTrailStream', { body }));
        if (answer) {
          close(answer);
        }
      });
      return html`<form method="dialog" novalidate @submit=${send}>
        <h2>${stream ? 'Change the stream' : 'Stream the trail'}</h2>
        ${field(current, { name: 'destination', label: 'Receiver', required: true, autofocus: true, placeholder: 'https://siem.example.com/bourse', hint: 'An https address without a port, or s3://BUCKET/PREFIX?region=REGION.' })}
        ${field(current, { name: 'access_key_id', label: 'Access key', hint: 'For an object store.' })}
        ${field(current, { name: 'secret_access_key', label: 'Secret of the access key', type: 'password', autocomplete: 'new-password', hint: 'For an object store. Empty keeps the one that is known.' })}
        ${field(current, { name: 'include_reads', label: 'Send reads, too', type: 'checkbox' })}
        ${field(current, {
          name: 'start',
          label: 'Begin',
          type: 'select',
          options: [
            { value: '', text: stream ? 'where it stands' : 'at the oldest that is kept' },
            { value: 'oldest', text: stream ? 'anew, at the oldest that is kept' : 'at the oldest that is kept, of all chains' },
            { value: 'now', text: 'with what is sealed from now on' },
          ],
        })}
        ${formFault(current)}
        <div class="actions">${submitButton(current, stream ? 'Change' : 'Stream')}
          <button type="button" class="quiet" @click=${() => close()}>Cancel</button></div>
      </form>`;
    });
    if (stored) {
      await this.stands(stored);
    }
  }

  /** @param {any} stored */
  async stands(stored) {
    if (stored.secret) {
      await showSecret(stored, { what: 'stream', guide: 'trail' });
    }
    toast('The stream is set.');
    this.refresh();
  }

  /** @param {any} stream */
  async enable(stream) {
    const body = { destination: stream.destination, include_reads: stream.include_reads, enabled: !stream.enabled, ...(stream.access_key_id ? { access_key_id: stream.access_key_id } : {}) };
    const done = await confirm({
      title: stream.enabled ? 'Pause the stream?' : 'Go on with the stream?',
      text: stream.enabled ? html`<p>Nothing is sent any more. It goes on where it stopped.</p>` : html`<p>It goes on where it stopped.</p>`,
      action: stream.enabled ? 'Pause' : 'Go on',
      work: () => call('setTrailStream', { body }),
    });
    if (done) {
      this.refresh();
    }
  }

  async rotate() {
    /** @type {any} */
    let rotated = null;
    const done = await confirm({
      title: 'Rotate the secret?',
      text: html`<p>The present one signs beside the new one for 24 hours. One from a rotation before ends at once.</p>`,
      action: 'Rotate',
      work: async () => {
        rotated = await call('rotateTrailStreamSecret');
      },
    });
    if (done && rotated) {
      await this.stands(rotated);
    }
  }

  /** @param {any} stream */
  async forget(stream) {
    const done = await confirm({
      title: 'Delete the stream?',
      text: html`<p>Nothing is sent to <span class="mono">${stream.destination}</span> any more, and how far it was is forgotten.</p>`,
      action: 'Delete',
      danger: true,
      work: () => call('deleteTrailStream'),
    });
    if (done) {
      toast('The stream is deleted.');
      this.refresh();
    }
  }
}

/**
 * How far a chain was taken.
 * @param {string} label
 * @param {any} of
 */
function chain(label, of) {
  return figure(label, `${of.taken_batch} of ${of.sealed_batch}`, of.behind === 0 ? 'all batches are taken' : `${count(of.behind, 'batch', 'batches')} behind`);
}

customElements.define('bourse-trail-stream', TrailStream);
export default TrailStream;
