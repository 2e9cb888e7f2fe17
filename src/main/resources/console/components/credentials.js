import { html } from 'lit';
import { call } from '../lib/client.js';
import { bytes } from '../lib/format.js';
import { at, empty } from './parts.js';
import { Form, field, formFault, onSubmit, submitButton } from './form.js';
import { confirm, dialogHost, openDialog } from './dialog.js';
import { toast } from './toast.js';
import './copy.js';
import './table.js';

const GIB = 2 ** 30;
const DAY_MILLIS = 86_400_000;

/**
 * The member's publishing credentials, with which jobs publish checkpoints.
 * @param {any[]} credentials
 * @param {() => void} changed called after one was minted or revoked
 */
export function credentialSection(credentials, changed) {
  return html`<section class="sheet" aria-labelledby="credentials">
    <h2 id="credentials">Publishing credentials</h2>
    <p class="muted">A job publishes checkpoints in your name with one. It can do nothing else. <a href="/docs/guides/checkpoints#in-a-training-job">In a training script</a></p>
    <bourse-table caption="Publishing credentials" .rows=${credentials} .key=${(/** @type {any} */ row) => row.credential_id} .columns=${columns(changed)}
      .empty=${empty('No publishing credential', 'Mint one for each job. It ends when it expires, when you revoke it or when you leave the organization.')}></bourse-table>
    <div class="actions"><button type="button" id="mint-credential" @click=${() => mint(changed)}>Mint a credential</button></div>
  </section>`;
}

/** @param {() => void} changed @returns {import('./table.js').Column[]} */
function columns(changed) {
  return [
    {
      title: 'Name',
      value: (row) => `${row.name} ${row.credential_id}`,
      cell: (row) => html`<span>${row.name} <span class="faint mono">${row.credential_id}</span></span>`,
    },
    { title: 'Published', numeric: true, value: (row) => row.published_bytes, cell: (row) => html`<span class="nowrap">${bytes(row.published_bytes)} of ${bytes(row.max_bytes)}</span>` },
    { title: 'Last used', value: (row) => row.last_used_at, cell: (row) => at(row.last_used_at, 'ago') },
    { title: 'Expires', value: (row) => row.expires_at, cell: (row) => at(row.expires_at, 'ago') },
    { title: 'Ends with node', value: (row) => row.node, cell: (row) => (row.node ? html`<span class="mono">${row.node}</span>` : html`<span class="faint">none</span>`) },
    {
      title: 'Actions',
      isAction: true,
      cell: (row) => html`<button type="button" class="quiet tiny" aria-label=${`Revoke ${row.name}`} @click=${() => revoke(row, changed)}>Revoke</button>`,
    },
  ];
}

/** @param {() => void} changed */
async function mint(changed) {
  /** @type {Form | null} */
  let form = null;
  const minted = await openDialog((/** @type {(result?: any) => void} */ close, redraw) => {
    form ??= new Form(dialogHost(redraw), { name: '', max_bytes: '100', expires_at: day(7), node: '' });
    const current = form;
    const send = onSubmit(async () => {
      const credential = await current.submit(() => call('mintPublishingCredential', { body: order(current.values) }), { 'unknown-node': 'node' });
      if (credential) {
        close(credential);
      }
    });
    return html`<form method="dialog" novalidate @submit=${send}>
      <h2>Mint a publishing credential</h2>
      ${field(current, { name: 'name', label: 'Name', required: true, autofocus: true, placeholder: 'nightly training', hint: 'A label for people.' })}
      <div class="fields-row">
        ${field(current, { name: 'max_bytes', label: 'Limit (GiB)', required: true, hint: 'All that it may publish together.' })}
        ${field(current, { name: 'expires_at', label: 'Expires after', type: 'date', required: true, hint: 'At most 30 days.' })}
      </div>
      ${field(current, { name: 'node', label: 'Ends with node', placeholder: '203.0.113.7', hint: 'Optional: the public IP of the node that the job runs on, or its name in a Kubernetes cluster.' })}
      ${formFault(current)}
      <div class="actions">${submitButton(current, 'Mint')}
        <button type="button" class="quiet" @click=${() => close()}>Cancel</button></div>
    </form>`;
  });
  if (minted) {
    await show(minted);
    changed();
  }
}

/** @param {Record<string, any>} values */
function order(values) {
  const node = String(values.node).trim();
  return {
    name: values.name,
    max_bytes: Math.round(Number(values.max_bytes) * GIB),
    expires_at: values.expires_at ? endOf(values.expires_at) : '',
    ...(node ? { node } : {}),
  };
}

/**
 * The end of a day, or on the last possible day the latest possible time. The time is a minute early, because the clock
 * of this browser may be ahead.
 * @param {string} date
 */
function endOf(date) {
  const latest = Date.now() + 30 * DAY_MILLIS - 60_000;
  const end = new Date(`${date}T23:59:59`).getTime();
  const isLastDay = new Date(`${date}T00:00:00`).getTime() <= latest;
  return new Date(isLastDay ? Math.min(end, latest) : end).toISOString();
}

/** The local date in so many days, as a field of dates takes it. @param {number} days */
function day(days) {
  const then = new Date(Date.now() + days * DAY_MILLIS);
  return new Date(then.getTime() - then.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

/** Shows a token, this once. @param {any} minted */
async function show(minted) {
  const script = `export BOURSE_URL=${location.origin}\nexport BOURSE_TOKEN=${minted.token}\nbourse checkpoint push model.bin`;
  await openDialog(
    (close) => html`<form method="dialog" @submit=${onSubmit(() => close())}>
      <h2>The credential ${minted.name}</h2>
      <p><strong>This is the only time it is shown.</strong> It is not stored and cannot be read again.</p>
      <p class="secret"><code id="minted-token">${minted.token}</code> <bourse-copy value=${minted.token} label="the credential"></bourse-copy></p>
      <p class="muted small">The job sends it as <code>Authorization: Bearer …</code>. A training script can publish with the command line:</p>
      <div class="code-line"><pre tabindex="0"><code id="minted-script">${script}</code></pre><bourse-copy value=${script} label="the script"></bourse-copy></div>
      <div class="actions"><button type="submit">I have kept it</button></div>
    </form>`,
    { mayEscape: false },
  );
}

/** @param {any} credential @param {() => void} changed */
async function revoke(credential, changed) {
  const done = await confirm({
    title: `Revoke ${credential.name}?`,
    text: html`<p>Jobs that use it can no longer publish, and their uploads end. What they published stays.</p>`,
    action: 'Revoke',
    danger: true,
    work: () => call('revokePublishingCredential', { path: { credential_id: credential.credential_id } }),
  });
  if (done) {
    toast(`${credential.name} is revoked.`);
    changed();
  }
}
