import { html, nothing } from 'lit';
import { Page } from '../lib/page.js';
import { CallError, call } from '../lib/client.js';
import { Follower } from '../lib/events.js';
import { clock, count, dollars, firstAt, nodeName, whole } from '../lib/format.js';
import { KINDS } from '../lib/kinds.js';
import { at, badge, empty, figure, health, tabs } from '../components/parts.js';
import { confirm } from '../components/dialog.js';
import { outlookText } from '../lib/losses.js';
import { confirmSwap } from '../components/swap.js';
import { toast } from '../components/toast.js';
import '../components/alerts.js';
import '../components/chart.js';
import '../components/copy.js';
import '../components/declaration.js';
import '../components/table.js';

const SPANS = [
  { hours: '0.5', text: '30 min' },
  { hours: '24', text: 'Day' },
  { hours: '168', text: 'Week' },
  { hours: '720', text: 'Month' },
  { hours: '8760', text: 'Year' },
];

/** Changes in quick succession are read once. */
const GATHER_MILLIS = 400;

/** Gathering reads several lists: a busy cluster must leave the session's budget to its member. */
const GATHER_PAUSE_MILLIS = 1_000;

/** The outlook of a cluster changes once a tick. */
const OUTLOOK_MILLIS = 10_000;

/** A rival's bid sends no event, so the outlook is read again after this time. */
const OUTLOOK_AGAIN_MILLIS = 60_000;

/** Of a chart, whose buckets are a minute at least, more often would show nothing new. */
const CHART_MILLIS = 30_000;

/** Why a node went, in words. */
const REASONS = /** @type {Record<string, string>} */ ({
  outbid: 'outbid by a rival',
  'scale-down': 'the declaration was lowered',
  swap: 'swapped for another',
  hold: 'a billing hold',
  operator: 'taken back by an operator',
  lapsed: 'the declaration came to its end',
  spent: "the declaration's budget was used up",
  unwound: 'could not be prepared',
});

const LIVENESS = /** @type {Record<string, [string, 'good' | 'warn' | 'calm']>} */ ({
  connecting: ['connecting', 'calm'],
  live: ['live', 'good'],
  waiting: ['reconnecting', 'warn'],
  ended: ['not connected', 'warn'],
});

/**
 * One cluster of either kind: what it wants, what it holds, what happened.
 * @typedef {{state: any, alerts: any, history: any, activity: any, use: any, hours: string}} Shown
 * @extends {Page<Shown>}
 */
class ClusterPage extends Page {
  static properties = { liveness: { state: true }, warning: { state: true }, outlook: { state: true }, proposed: { state: true } };

  constructor() {
    super();
    this.kind = location.pathname.startsWith(KINDS.k8s.address('')) ? KINDS.k8s : KINDS.vm;
    /** @type {import('../lib/events.js').Liveness} */
    this.liveness = 'connecting';
    /** @type {any} */
    this.warning = null;
    /** @type {any} what the market will take; null until it is read */
    this.outlook = null;
    /** @type {number | null} the ceiling to fill in, which a link in a message asked for */
    this.proposed = null;
    this.lookedAt = 0;
    /** @type {Follower | null} */
    this.follower = null;
    this.chartRead = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.gathering = undefined;
    this.gatherAt = 0;
    this.gatheredAt = 0;
    this.isGathering = false;
    this.isStale = false;
  }

  /** @override */
  get heading() {
    return this.params.cluster;
  }

  get cluster() {
    return this.params.cluster;
  }

  get hours() {
    return this.query.get('hours') ?? '24';
  }

  /** @override @param {AbortSignal} signal */
  async load(signal) {
    const { hours } = this;
    const [state, lists] = await Promise.all([this.kind.read(this.cluster, { signal }), this.lists({ signal })]);
    this.follow();
    this.look(state.version);
    return { state, hours, ...lists };
  }

  /** Reads the alerts, the history, the activity and the usage. @param {import('../lib/kinds.js').How} how */
  async lists(how) {
    const { kind, cluster, hours } = this;
    const [alerts, history, activity, use] = await Promise.all([
      kind.alerts(cluster, how),
      kind.history(cluster, hours, how),
      kind.activity(cluster, 0, how),
      kind.use(cluster, how),
    ]);
    this.chartRead = Date.now();
    return { alerts, history, activity, use };
  }

  /**
   * Reads the outlook, at most once a tick. The page does not wait for it, and is useful without it.
   * @param {number} [version] of the state that is shown, or is about to be
   */
  async look(version = this.data?.state.version) {
    if (!this.isConnected || Date.now() - this.lookedAt < OUTLOOK_MILLIS) {
      return;
    }
    this.lookedAt = Date.now();
    const outlook = await this.kind.outlook(this.cluster, { quiet: true }).catch((/** @type {unknown} */ failure) => {
      if (failure instanceof CallError) {
        return null;
      }
      throw failure;
    });
    if (version === this.data?.state.version) {
      this.outlook = outlook && { ...outlook, version };
      if (this.query.get('ceiling') === 'keep') {
        this.proposed = outlook?.keep_price_per_gpu_hour ?? null;
      }
    }
  }

  follow() {
    if (this.follower || !this.isConnected) {
      return;
    }
    this.every(OUTLOOK_AGAIN_MILLIS, () => this.look());
    this.follower = new Follower(
      this.kind.events,
      { query: { cluster: this.cluster } },
      {
        capacity: (told) => this.take(this.kind.state(told)),
        grant: () => this.happened(),
        notice: (event) => {
          this.happened();
          toast(`${nodeName(event) ?? 'A node'} goes at ${clock(event.reclaim_at)} unless you raise your ceiling.`);
        },
        'notice-withdrawn': (event) => {
          this.happened();
          toast(`${nodeName(event) ?? 'A node'} stays.`);
        },
        reclaim: (event) => {
          this.happened();
          toast(`${nodeName(event) ?? 'A node'} is being taken back: ${REASONS[event.reason] ?? event.reason}.`);
        },
        alert: (event) => {
          this.happened();
          toast(`Alert: ${event.detail}.`);
        },
        warning: (event) => (this.warning = event),
        gap: () => this.happened(),
      },
      (liveness) => (this.liveness = liveness),
      async () => this.take(await this.kind.read(this.cluster, { quiet: true })),
    );
    this.atEnd(() => {
      this.follower?.close();
      this.follower = null;
      clearTimeout(this.gathering);
    });
  }

  /** Takes a state that the stream or a write told. @param {any} state */
  take(state) {
    if (!this.data || state.version < this.data.state.version) {
      return;
    }
    const isDeclared = state.version !== this.data.state.version;
    this.data = { ...this.data, state };
    if (isDeclared) {
      this.outlook = null;
      this.lookedAt = 0;
    }
    this.happened(isDeclared ? GATHER_MILLIS : Math.max(GATHER_MILLIS, this.chartRead + CHART_MILLIS - Date.now()));
  }

  /**
   * Something happened: what lists it is read again, once for all that happens together.
   * @param {number} [wait]
   */
  happened(wait = GATHER_MILLIS) {
    if (this.isGathering) {
      this.isStale = true;
      return;
    }
    const at = Math.max(Date.now() + wait, this.gatheredAt + GATHER_PAUSE_MILLIS);
    if (this.gathering && this.gatherAt <= at) {
      return;
    }
    clearTimeout(this.gathering);
    this.gatherAt = at;
    this.gathering = setTimeout(async () => {
      this.gathering = undefined;
      this.isGathering = true;
      this.isStale = false;
      const { hours } = this;
      try {
        const lists = await this.lists({ quiet: true });
        this.look();
        if (this.data && hours === this.hours) {
          this.data = { ...this.data, ...lists };
        }
      } catch (failure) {
        if (!(failure instanceof CallError)) {
          throw failure;
        }
        // What is shown stands; the next event reads again.
      } finally {
        this.isGathering = false;
        this.gatheredAt = Date.now();
      }
      if (this.isStale && this.isConnected) {
        this.happened();
      }
    }, at - Date.now());
  }

  /** @override */
  headActions() {
    const [word, tone] = LIVENESS[this.liveness];
    return html`<span id="liveness" role="status">${badge(word, tone)}</span>`;
  }

  /** @override @param {Shown} data */
  view({ state, alerts, history, activity, use, hours }) {
    return html`
      ${this.notices(state)}${outlookText(this.outlook?.version === state.version ? this.outlook : null, state.pending)}
      <section class="sheet" aria-labelledby="now"><h2 id="now" class="unseen">Now</h2>
        <dl class="figures-row">
          ${figure('Wanted', state.declared ? count(state.declared.max_gpus, 'GPU') : '–', state.declared ? count(state.declared.max_gpus / state.gpus_per_node, 'node') : 'nothing declared')}
          ${figure('Held', count(held(state).length, 'node'), state.pending > 0 ? `${whole(state.pending)} pending` : nothing)}
          ${figure('Clearing price', dollars(state.pool.clearing_price_per_gpu_hour), 'a GPU-hour')}
          ${figure('Ceiling', dollars(state.declared?.max_price_per_gpu_hour), 'a GPU-hour')}
          ${state.declared?.min_gpus != null ? figure('Minimum', count(state.declared.min_gpus, 'GPU'), 'or none') : nothing}
          ${state.declared?.until ? figure('Ends', html`<bourse-countdown until=${state.declared.until} over="now"></bourse-countdown>`, at(state.declared.until)) : nothing}
          ${state.declared?.max_spend_usd != null ? figure('Budget', dollars(state.declared.max_spend_usd), html`since ${at(state.declared.max_spend_since)}`) : nothing}
          ${use ? figure('In use', use.utilisation === null ? '–' : `${whole(use.utilisation * 100)} %`, use.utilisation === null ? 'no node reports it' : 'of the held GPUs') : nothing}
          ${figure('Machines', `${state.gpus_per_node} × ${state.gpu_model ?? state.gpu_vendor}`, html`<a href=${`/console/market?pool=${encodeURIComponent(state.pool.pool)}`}>${state.pool.pool}</a>`)}
        </dl>
      </section>
      <bourse-declaration .kind=${this.kind} .state=${state} .proposed=${this.proposed} @declared=${(/** @type {CustomEvent} */ e) => this.take(e.detail)}></bourse-declaration>
      <section class="sheet" aria-labelledby="nodes"><h2 id="nodes">Nodes</h2>${this.nodes(state)}</section>
      <section class="sheet" aria-labelledby="past"><h2 id="past" class="unseen">Charts</h2>${this.charts(state, history, hours)}</section>
      <bourse-alerts .kind=${this.kind} .cluster=${this.cluster} .alerts=${alerts}></bourse-alerts>
      <section class="sheet" aria-labelledby="activity"><h2 id="activity">Activity</h2>${this.activity(activity)}</section>`;
  }

  /** What stands in the way of what is declared, in words. @param {any} state */
  notices(state) {
    const { declared, pool, billing_hold: hold } = state;
    const pending = count(state.pending, 'node');
    return html`
      ${state.writes_armed ? nothing : html`<p class="notice warn">Operators have paused all changes of capacity. What is held stays held.</p>`}
      ${hold
        ? html`<p class="notice bad">${hold.state === 'grace' ? 'The balance is used up' : hold.stage === 'enforce' ? 'Nodes are being taken back' : 'Nothing new is granted'}:
            ${hold.reason} <a href="/console/billing">Billing</a></p>`
        : nothing}
      ${declared && state.pending > 0
        ? declared.bid_too_low
          ? html`<p class="notice warn" id="pending">${pending} pending: rivals bid more than ${dollars(declared.max_price_per_gpu_hour)};
              ${pool.admission_price_per_gpu_hour === null ? 'no ceiling would be admitted now.' : `${dollars(pool.admission_price_per_gpu_hour)} would be admitted at the next tick.`}</p>`
          : declared.capacity_unavailable
            ? html`<p class="notice warn" id="pending">${pending} pending: there is no free machine of this class. A higher ceiling does not help; the market tries again by itself.</p>`
            : html`<p class="notice" id="pending">${pending} pending: granted at a next tick, as the pool allows.</p>`
        : nothing}
      ${declared && leaving(state).length > 0
        ? html`<p class="notice bad" id="leaving">${count(leaving(state).length, 'node')} ${leaving(state).length === 1 ? 'goes' : 'go'} ${firstAt(leaving(state).map((/** @type {any} */ one) => one.reclaim_at))} unless you raise your
            ceiling of ${dollars(declared.max_price_per_gpu_hour)}${pool.admission_price_per_gpu_hour === null ? '.' : ` above ${dollars(pool.admission_price_per_gpu_hour)}.`}</p>`
        : nothing}
      ${this.warning && declared
        ? html`<p class="notice warn">A rival bids at least ${dollars(this.warning.rival_price_per_gpu_hour)}, close to your ceiling of ${dollars(this.warning.max_price_per_gpu_hour)};
            ${count(this.warning.nodes_unprotected, 'node')} of yours ${this.warning.nodes_unprotected === 1 ? 'is' : 'are'} not protected any more.
            <button type="button" class="quiet tiny" @click=${() => (this.warning = null)}>Understood</button></p>`
        : nothing}`;
  }

  /** @param {any} state */
  nodes(state) {
    return html`<bourse-table caption="Nodes" .rows=${state.allocations} .columns=${this.nodeColumns(state)}
        .key=${(/** @type {any} */ node) => `node-${nodeName(node) ?? node.slot}`}
        .empty=${empty('No node is held', state.declared?.max_gpus > 0 ? 'They come at a tick of the market.' : 'Declare how many GPUs you want, and the most you pay.')}></bourse-table>
      ${this.kind.isVm && state.allocations.some((/** @type {any} */ node) => node.state === 'active')
        ? html`<p><button type="button" class="quiet tiny" @click=${() => this.drill()}>Start drill</button>
            <span class="hint">Tells the programs on the nodes of a notice, and takes no node.</span></p>
          <p><a href=${`${this.kind.address(this.cluster)}/gpus`}>Measurements of the GPUs</a></p>`
        : nothing}
      ${this.kind.isVm && Object.keys(state.environment.storage).length > 0 && state.allocations.length > 0
        ? html`<p class="hint">${Object.entries(state.environment.storage).map(([name, path]) => html`${name}: <code>${path}</code> `)}</p>`
        : nothing}`;
  }

  /** @param {any} state @returns {import('../components/table.js').Column[]} */
  nodeColumns(state) {
    return [
      { title: this.kind.isVm ? 'Address' : 'Name', cell: (node) => (nodeName(node) ? html`<code>${nodeName(node)}</code>` : html`<span class="faint">comes with the machine</span>`) },
      {
        title: 'State',
        cell: (node) => html`<span>${badge(node.state, node.state === 'active' ? 'good' : node.state === 'reclaiming' ? 'bad' : 'calm')}
          ${node.reclaim_at ? html`<span class="small">goes in <bourse-countdown until=${node.reclaim_at} over="a moment"></bourse-countdown></span>` : nothing}
          ${node.swap ? badge('swapping', 'warn') : nothing} ${state.nominations.includes(nodeName(node)) ? badge('goes first') : nothing}</span>`,
      },
      {
        title: 'Health',
        cell: (node) => health(node.health),
      },
      { title: 'Granted', cell: (node) => html`<bourse-ago at=${node.granted_at}></bourse-ago>` },
      { title: 'Protected', cell: (node) => (node.protected_until ? html`<bourse-countdown until=${node.protected_until} over="not any more"></bourse-countdown>` : html`<span class="faint">–</span>`) },
      ...(this.kind.isVm ? [logIn(state.environment)] : []),
      {
        title: 'Actions',
        isAction: true,
        cell: (node) => {
          const name = nodeName(node);
          return name && node.state === 'active' && !node.swap
            ? html`<button type="button" class="quiet tiny" aria-label=${`Swap ${name}`} @click=${() => this.swap(name)}>Swap</button>`
            : nothing;
        },
      },
    ];
  }

  async drill() {
    const done = await confirm({
      title: `Start a drill on ${this.cluster}?`,
      text: html`<p>The programs on all active nodes are told that their node is taken back in two minutes: they save and stop as before a
        real reclaim. No node is taken. After two minutes the notice is withdrawn.</p>`,
      action: 'Start drill',
      work: () => call('drillNodes', { body: { cluster: this.cluster } }),
    });
    if (done) {
      toast(`The nodes of ${this.cluster} are being told.`);
    }
  }

  /** @param {string} node */
  async swap(node) {
    if (await confirmSwap(node, () => this.kind.swap(this.cluster, node))) {
      toast(`${node} is being swapped.`);
      this.refresh();
    }
  }

  /** @param {any} state @param {any} history @param {string} hours */
  charts(state, history, hours) {
    const size = state.gpus_per_node;
    const perGpu = (/** @type {(number | null)[]} */ prices) => prices.map((price) => (price === null ? null : price / size));
    return html`${tabs('Span of the charts', SPANS.map((span) => ({
        href: `${this.kind.address(this.cluster)}?hours=${span.hours}`,
        text: span.text,
        current: span.hours === hours,
      })))}
      <div class="columns-2">
        <bourse-chart label="Price of a GPU-hour" .start=${history.t0} .step=${history.step} .format=${dollars}
          .series=${[
            { name: 'clearing', values: perGpu(history.price), tone: 'first' },
            { name: 'ceiling', values: perGpu(history.max_price), tone: 'second', stepped: true },
          ]}></bourse-chart>
        <bourse-chart label="Nodes" .start=${history.t0} .step=${history.step} .format=${whole}
          .series=${[
            { name: 'held', values: history.granted, tone: 'first', stepped: true },
            { name: 'declared', values: history.max_nodes, tone: 'second', stepped: true },
          ]}></bourse-chart>
      </div>`;
  }

  /** @param {any} activity */
  activity(activity) {
    return html`<bourse-table caption="Activity" .rows=${activity.entries} .columns=${ACTIVITY}
      .key=${(/** @type {any} */ entry) => `activity-${entry.id}`} ?more=${activity.more} @more=${this.older}
      .empty=${empty('Nothing happened yet', 'Declarations, grants and reclaims are listed here as they happen.')}></bourse-table>`;
  }

  async older() {
    const { data } = this;
    if (data) {
      const page = Math.floor(data.activity.entries.length / 30);
      const next = await this.kind.activity(this.cluster, page);
      const known = new Set(data.activity.entries.map((/** @type {any} */ entry) => `${entry.kind}${entry.id}`));
      const entries = [...data.activity.entries, ...next.entries.filter((/** @type {any} */ entry) => !known.has(`${entry.kind}${entry.id}`))];
      // The state may have changed meanwhile.
      this.data = { ...(this.data ?? data), activity: { entries, more: next.more } };
    }
  }
}

/** @param {any} state */
function held(state) {
  return state.allocations.filter((/** @type {any} */ one) => one.state !== 'reclaiming');
}

/** Nodes under notice, the first to go before the others. @param {any} state */
function leaving(state) {
  return state.allocations
    .filter((/** @type {any} */ one) => one.reclaim_at)
    .sort((/** @type {any} */ a, /** @type {any} */ b) => a.reclaim_at.localeCompare(b.reclaim_at));
}

/** @param {any} site what one needs to log in @returns {import('../components/table.js').Column} */
function logIn(site) {
  return {
    title: 'Log in',
    cell: (node) => {
      if (!node.public_ip || node.state === 'reclaiming') {
        return html`<span class="faint">–</span>`;
      }
      const line = `ssh ${site.ssh_port === 22 ? '' : `-p ${site.ssh_port} `}${site.ssh_user}@${node.public_ip}`;
      return html`<span class="ssh-line"><code>${line}</code> <bourse-copy value=${line} label=${`ssh line of ${node.public_ip}`}></bourse-copy></span>`;
    },
  };
}

/** @type {import('../components/table.js').Column[]} */
const ACTIVITY = [
  { title: 'When', cell: (entry) => at(entry.ts, 'ago') },
  {
    title: 'What',
    cell: (entry) =>
      entry.kind === 'request'
        ? html`<span>declared ${entry.max_gpus === null ? '' : count(entry.max_gpus, 'GPU')} at ${dollars(entry.max_price_per_gpu_hour)} ${entry.who === 'system' ? badge('platform') : nothing}${entry.reason ? html` <span class="faint">${REASONS[entry.reason] ?? entry.reason}</span>` : nothing}</span>`
        : html`<span>${entry.note ?? ''}${entry.reason ? html` <span class="faint">${REASONS[entry.reason] ?? entry.reason}</span>` : nothing}</span>`,
  },
  { title: 'Who', cell: (entry) => html`<span class="mono faint">${entry.actor ?? ''}</span>` },
];

customElements.define('bourse-cluster', ClusterPage);
export default ClusterPage;
