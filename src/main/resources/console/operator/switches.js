import { html } from 'lit';
import { Page } from '../lib/page.js';
import { call } from '../lib/client.js';
import { at, badge, figure } from '../components/parts.js';
import { confirm } from '../components/dialog.js';

const SWITCHES = [
  { name: 'capacity_writes_armed', title: 'Capacity writes', on: 'Organizations declare, swap and bid.', off: 'Every capacity write is answered 503; reads go on.' },
  { name: 'spend_limit_enforced', title: 'Spend limits', on: 'A spend limit that is reached takes capacity back.', off: 'Spend limits are recorded and nothing follows from them.' },
  { name: 'billing_hold_enforced', title: 'Billing holds', on: 'A balance of zero or less takes capacity back.', off: 'Balances are recorded and nothing follows from them.' },
];

/** What holds for the whole platform. */
class Switches extends Page {
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
        <button type="button" class=${isOn ? 'quiet' : ''} id=${`turn-${one.name}`} @click=${() => this.turn(one, !isOn)}>Turn ${isOn ? 'off' : 'on'}</button></div>
      <p class="muted">${isOn ? one.on : one.off}</p></section>`;
  }

  /** @param {any} one @param {boolean} to */
  async turn(one, to) {
    const done = await confirm({
      title: `Turn ${one.title.toLowerCase()} ${to ? 'on' : 'off'} for the whole platform?`,
      text: html`<p>${to ? one.on : one.off}</p>`,
      action: `Turn ${to ? 'on' : 'off'}`,
      danger: one.name === 'capacity_writes_armed' ? !to : to,
      work: () => call('writeSwitches', { body: /** @type {any} */ ({ [one.name]: to }) }),
    });
    if (done) {
      await this.refresh();
    }
  }
}

customElements.define('bourse-switches', Switches);
export default Switches;
