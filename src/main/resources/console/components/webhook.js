import { html } from 'lit';
import { call } from '../lib/client.js';
import { badge } from './parts.js';
import { Form, field, formFault, onSubmit, submitButton } from './form.js';
import { dialogHost, openDialog } from './dialog.js';
import './copy.js';

/** @typedef {'grant' | 'notice' | 'notice-withdrawn' | 'reclaim' | 'lapse' | 'hold' | 'alert' | 'health' | 'token-minted' | 'token-revoked' | 'members-changed' | 'review-decided' | 'statement-ready'} Kind */

/** What an endpoint can be told of. @type {{name: Kind, text: string}[]} */
export const KINDS = [
  { name: 'grant', text: 'A node is granted' },
  { name: 'notice', text: 'A node will be taken back' },
  { name: 'notice-withdrawn', text: 'A node under notice stays' },
  { name: 'reclaim', text: 'A node is taken back' },
  { name: 'lapse', text: 'A declaration ends by itself' },
  { name: 'hold', text: 'A billing hold begins, goes on or is lifted' },
  { name: 'alert', text: 'An alert of a cluster' },
  { name: 'health', text: 'A node stops answering, or answers again' },
  { name: 'token-minted', text: 'A token is minted' },
  { name: 'token-revoked', text: 'A token is revoked' },
  { name: 'members-changed', text: 'Members come, change or go' },
  { name: 'review-decided', text: 'A checkpoint is approved or rejected' },
  { name: 'statement-ready', text: 'The statement of a month is final' },
];

const FORMATS = [
  { value: 'standard', text: 'Event (JSON)' },
  { value: 'slack', text: 'Slack message' },
];

/** Whether an endpoint is told anything, and why not. @param {any} endpoint */
export function state(endpoint) {
  return endpoint.enabled ? badge('on', 'good') : badge(`off: ${endpoint.disabled_reason}`, endpoint.disabled_reason === 'switched-off' ? 'calm' : 'bad');
}

/**
 * Asks what an endpoint is to be; what was stored, if anything.
 * @param {any} endpoint the one to change; null to make one
 * @returns {Promise<any>}
 */
export async function edit(endpoint) {
  const { clusters } = await call('whoami', { quiet: true });
  /** @type {Form | null} */
  let form = null;
  return openDialog((/** @type {(result?: any) => void} */ close, redraw) => {
    form ??= new Form(dialogHost(redraw), {
      url: endpoint?.url ?? '',
      description: endpoint?.description ?? '',
      format: endpoint?.format ?? 'standard',
      ...Object.fromEntries(KINDS.map((kind) => [kind.name, endpoint?.kinds.includes(kind.name) ?? false])),
      ...Object.fromEntries(clusters.map((/** @type {any} */ one) => [`cluster ${one.name}`, endpoint?.clusters?.includes(one.name) ?? false])),
    });
    const current = form;
    const send = onSubmit(async () => {
      const names = clusters.map((/** @type {any} */ one) => one.name).filter((/** @type {string} */ name) => current.values[`cluster ${name}`]);
      const body = {
        url: current.values.url.trim(),
        description: current.values.description.trim(),
        format: current.values.format,
        kinds: KINDS.map((kind) => kind.name).filter((name) => current.values[name]),
        clusters: names.length > 0 ? names : null,
      };
      const answer = await current.submit(() =>
        endpoint ? call('changeWebhook', { path: { endpoint_id: endpoint.endpoint_id }, body }) : call('createWebhook', { body }));
      if (answer) {
        close(answer);
      }
    });
    return html`<form method="dialog" novalidate @submit=${send}>
      <h2>${endpoint ? 'Change the endpoint' : 'Add an endpoint'}</h2>
      ${field(current, { name: 'url', label: 'Address', required: true, autofocus: true, placeholder: 'https://hooks.example.com/bourse', hint: 'Where events are sent: https, without a port.' })}
      ${field(current, { name: 'format', label: 'Format', type: 'select', options: FORMATS, hint: 'Incoming webhooks of Slack and compatible services take messages.' })}
      ${field(current, { name: 'description', label: 'Description', placeholder: 'pages the on-call engineer' })}
      <fieldset><legend>It is told when</legend>
        ${KINDS.map((kind) => field(current, { name: kind.name, type: 'checkbox', label: kind.text, hint: html`<span class="mono">${kind.name}</span>` }))}
      </fieldset>
      <fieldset><legend>Of these clusters</legend>
        ${clusters.map((/** @type {any} */ one) => field(current, { name: `cluster ${one.name}`, type: 'checkbox', label: one.name }))}
        <p class="muted small">None chosen: all there are and will be.</p>
      </fieldset>
      ${formFault(current)}
      <div class="actions">${submitButton(current, endpoint ? 'Change' : 'Add')}
        <button type="button" class="quiet" @click=${() => close()}>Cancel</button></div>
    </form>`;
  });
}

/**
 * Shows a secret, this once.
 * @param {{secret: string}} made
 * @param {{what?: string, guide?: string}} [of]
 */
export async function showSecret(made, { what = 'endpoint', guide = 'webhooks' } = {}) {
  await openDialog(
    (close) => html`<form method="dialog" @submit=${onSubmit(() => close())}>
      <h2>The secret of the ${what}</h2>
      <p><strong>This is the only time it is shown.</strong> Your receiver tells by it that what comes is ours.</p>
      <p class="secret"><code id="webhook-secret">${made.secret}</code> <bourse-copy value=${made.secret} label="the secret"></bourse-copy></p>
      <p class="muted small">The <a href=${`/docs/guides/${guide}`}>guide</a> has a receiver that verifies signatures.</p>
      <div class="actions"><button type="submit">I have kept it</button></div>
    </form>`,
    { mayEscape: false },
  );
}

/**
 * Says before a form is filled in that its secret could not be stored.
 * @param {string} what
 */
export function withoutKey(what) {
  return html`<p class="notice warn" id="without-key">${what} cannot be created here: the service has no secret key, with which it would encrypt what signs them.
    Ask its operators to set <code>secret.key</code>.</p>`;
}
