import { html } from 'lit';
import { OperatorPage } from '../lib/operator-page.js';
import { call } from '../lib/client.js';
import { at, badge, empty, tabs } from '../components/parts.js';
import '../components/table.js';

const TABS = [
  { held: 'operator', text: 'By operators' },
  { held: 'money', text: 'For money' },
];

/** Organizations on hold: by operators, who lift these holds, and for money, which ends them. */
class Holds extends OperatorPage {
  /** @override */
  get heading() {
    return 'Holds';
  }

  get held() {
    return this.query.get('held') === 'money' ? 'money' : 'operator';
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    const held = this.held;
    return { held, ...(await call('listOrgs', { query: { held, limit: 200 }, signal })) };
  }

  more() {
    return this.showMore(async (data) => {
      const page = await call('listOrgs', { query: { held: data.held, limit: 200, after: data.next } });
      return { ...data, ...page, orgs: [...data.orgs, ...page.orgs] };
    });
  }

  /** @override */
  view(/** @type {any} */ { held, orgs, more }) {
    const isByOperator = held === 'operator';
    return html`
      ${tabs('Which holds', TABS.map((one) => ({ href: one.held === 'money' ? '/operator/holds?held=money' : '/operator/holds', text: one.text, current: one.held === held })))}
      <p class="muted">${isByOperator
        ? 'An operator’s hold stays until an operator lifts it; no payment does.'
        : 'A payment, a credit or a higher spend limit ends a hold for money.'} To put an organization on hold, open <a href="/operator/organizations">the organization</a>.</p>
      <bourse-table caption="Organizations on hold" ?search=${orgs.length > 8} ?more=${more} @more=${() => this.more()} .rows=${orgs}
        .key=${(/** @type {any} */ org) => `org-${org.org_id}`} .columns=${isByOperator ? [...OPERATORS, this.lift()] : MONEY}
        .empty=${empty('No organization is on hold', isByOperator ? 'Holds that operators put on organizations are listed here.' : 'Organizations that reached their limit or used up their balance are listed here.')}></bourse-table>`;
  }

  /** @param {any} org */
  async askToLift(org) {
    const { liftQuestion } = await import('../lib/organization-questions.js');
    await this.ask(liftQuestion(org.org_id, org.display));
  }

  /** @returns {import('../components/table.js').Column} */
  lift() {
    return {
      title: 'Actions',
      isAction: true,
      cell: (org) => this.ifWriting(
        () => html`<button type="button" class="quiet tiny" aria-label=${`Lift the hold of ${org.org_id}`} @click=${() => this.askToLift(org)}>Lift</button>`,
      ),
    };
  }
}

/**
 * The columns of a tab: an organization may have both kinds of holds, and each tab shows its own.
 * @param {(org: any) => any} holdOf
 * @returns {import('../components/table.js').Column[]}
 */
const columns = (holdOf) => [
  { title: 'Organization', value: (org) => `${org.display} ${org.org_id}`, cell: (org) => html`<a href=${`/operator/organizations/${org.org_id}`}>${org.display}</a> <span class="faint mono">${org.org_id}</span>` },
  { title: 'Stage', value: (org) => holdOf(org).stage, cell: (org) => html`${badge(holdOf(org).stage, holdOf(org).stage === 'enforce' ? 'bad' : 'warn')} ${holdOf(org).enforced === false ? badge('not enforced') : ''}` },
  { title: 'Because', value: (org) => holdOf(org).reason, cell: (org) => holdOf(org).reason },
  { title: 'Since', value: (org) => holdOf(org).since, cell: (org) => at(holdOf(org).since, 'ago') },
];

const OPERATORS = columns((org) => org.operator_hold);
const MONEY = columns((org) => org.hold);

customElements.define('bourse-holds', Holds);
export default Holds;
