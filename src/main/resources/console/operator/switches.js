import { html, nothing } from 'lit';
import { OperatorPage } from '../lib/operator-page.js';
import { call, soon } from '../lib/client.js';
import { readPages } from '../lib/lists.js';
import { at, badge, figure } from '../components/parts.js';

const SWITCHES = [
  { name: 'capacity_writes_armed', title: 'Capacity writes', on: 'Organizations declare, swap and bid.', off: 'Every capacity write is answered 503; reads go on.' },
  { name: 'spend_limit_enforced', isOfHolds: true, title: 'Spend limits', on: 'A spend limit that is reached takes capacity back.', off: 'Spend limits are recorded and nothing follows from them.' },
  { name: 'billing_hold_enforced', isOfHolds: true, title: 'Billing holds', on: 'A balance of zero or less takes capacity back.', off: 'Balances are recorded and nothing follows from them.' },
];

/** What holds for the whole platform. */
class Switches extends OperatorPage {
  /** @override */
  get heading() {
    return 'Switches';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const [switches, clock] = await Promise.all([call('readSwitches', { signal }), call('readClock', { signal })]);
    return { switches, clock };
  }

  /** @override */
  view(/** @type {any} */ { switches, clock }) {
    return html`${SWITCHES.map((one) => this.row(one, switches[one.name]))}
      <section class="sheet" aria-labelledby="clock"><h2 id="clock">Clock</h2>
        <dl class="figures-row">${figure('Now', at(clock.now))}${figure('Confirmed', at(clock.confirmed_at))}
          ${figure('Steps ahead', clock.steps_ahead)}${figure('Steps back', clock.steps_back)}</dl></section>`;
  }

  /** @param {any} one @param {boolean} isOn */
  row(one, isOn) {
    return html`<section class="sheet" aria-labelledby=${one.name}>
      <div class="sheet-head"><h2 id=${one.name}>${one.title} ${isOn ? badge('on', 'good') : badge('off', 'warn')}</h2>
        ${this.ifWriting(() => html`<button type="button" class=${isOn ? 'quiet' : ''} id=${`turn-${one.name}`} @click=${() => this.turn(one, !isOn)}>Turn ${isOn ? 'off' : 'on'}</button>`)}</div>
      <p class="muted">${isOn ? one.on : one.off}</p></section>`;
  }

  /** @param {any} one @param {boolean} to */
  async turn(one, to) {
    await this.askWithPreview({
      ask: async (signal) => {
        const { held, more } = to && one.isOfHolds ? await readUnenforced(signal) : { held: [], more: false };
        return {
          title: `Turn ${one.title.toLowerCase()} ${to ? 'on' : 'off'} for the whole platform?`,
          text: html`<p>${to ? one.on : one.off}</p>
            ${held.length === 0
              ? nothing
              : html`<p><strong>These organizations have a hold that is not enforced. They may lose their nodes, with what is stored there,</strong> when the hold’s notice is over:</p>
                  <ul class="plain">${held.map((org) => html`<li>${org.display} <span class="faint mono">${org.org_id}</span>: ${org.hold?.reason}</li>`)}</ul>`}
            ${more ? html`<p><strong>More organizations than were checked are on hold,</strong> and may lose nodes, too.</p>` : nothing}`,
          action: `Turn ${to ? 'on' : 'off'}`,
          danger: one.name === 'capacity_writes_armed' ? !to : to,
          losses: JSON.stringify([held.map((org) => org.org_id), more]),
        };
      },
      work: () => call('writeSwitches', { body: /** @type {any} */ ({ [one.name]: to }) }),
    });
  }
}

/**
 * Organizations whose hold for money is not enforced. A hold has one reason, although both may apply while nothing is
 * enforced, so the list is the same for both switches.
 * @param {AbortSignal} signal
 */
async function readUnenforced(signal) {
  const { rows, more } = await readPages(
    (after) => call('listOrgs', { query: { held: 'money', limit: 500, after }, signal: soon(signal) }),
    (page) => page.orgs,
  );
  return { held: rows.filter((org) => !org.retired_at && org.hold && !org.hold.enforced), more };
}

customElements.define('bourse-switches', Switches);
export default Switches;
