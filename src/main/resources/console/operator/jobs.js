import { html, nothing } from 'lit';
import { OperatorPage } from '../lib/operator-page.js';
import { call } from '../lib/client.js';
import { duration } from '../lib/format.js';
import { at, badge } from '../components/parts.js';
import { toast } from '../components/toast.js';
import '../components/table.js';

const RUNS_IN = { 'each-process': 'each process', 'one-process': 'one process', 'lease-holder': 'lease holder' };
const SKIPPED = { 'no-confirmed-time': 'no confirmed time', 'other-process': 'other process' };

/** How often the list is read again while it is seen. */
const AGAIN_MILLIS = 10_000;

/** The background jobs of the process that answers. */
class Jobs extends OperatorPage {
  /** @override */
  get heading() {
    return 'Jobs';
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    // A run that ends makes its button usable again.
    this.every(AGAIN_MILLIS, () => this.refresh());
  }

  /** @override */
  async load(/** @type {AbortSignal} */ signal) {
    return call('listJobs', { query: { limit: 500 }, signal });
  }

  /** @override */
  view(/** @type {any} */ { process, jobs }) {
    return html`<p class="muted">As process <span class="mono">${process}</span> has run them since its start.</p>
      <bourse-table caption="Background jobs" search .rows=${jobs} .columns=${this.columns()}
        .key=${(/** @type {any} */ job) => `job-${job.name}`}></bourse-table>`;
  }

  /** @returns {import('../components/table.js').Column[]} */
  columns() {
    return [
      { title: 'Job', value: (job) => `${job.name} ${job.summary}`, cell: (job) => html`<span class="mono">${job.name}</span> <span class="faint">${job.summary}</span>` },
      { title: 'Every', numeric: true, value: (job) => job.period_ms, cell: (job) => duration(job.period_ms) },
      { title: 'Runs in', value: (job) => job.runs_in, cell: (job) => RUNS_IN[/** @type {keyof RUNS_IN} */ (job.runs_in)] },
      { title: 'Result', value: (job) => result(job), cell: (job) => outcome(job) },
      { title: 'Last run', value: (job) => job.last_run_at, cell: (job) => (job.last_run_at ? html`${at(job.last_run_at)} <span class="faint">${took(job.last_duration_ms)}</span>` : 'none yet') },
      { title: 'Next run', value: (job) => job.next_run_at, cell: (job) => (job.next_run_at ? at(job.next_run_at) : 'running') },
      { title: 'Failures', numeric: true, value: (job) => job.failures, cell: (job) => `${job.failures} of ${job.runs}` },
      { title: 'Actions', isAction: true, cell: (job) => this.ifWriting(() => this.action(job)) },
    ];
  }

  /** The button, with the reason when it is disabled. A process of an earlier release gives none. @param {any} job */
  action(job) {
    return html`<button type="button" class="quiet tiny" aria-label=${`Run now: ${job.name}`} ?disabled=${job.can_run === false}
      @click=${() => this.run(job)}>Run now</button>
      ${job.can_run !== false ? nothing : html`<div class="faint small reason">${job.cannot_run_because}</div>`}`;
  }

  /** @param {any} job */
  async run(job) {
    try {
      await call('runJob', { path: { job: job.name } });
      toast(`${job.name} is running`);
    } catch (failure) {
      toast(String(/** @type {Error} */ (failure).message));
    }
    await this.refresh();
  }
}

/** @param {number} millis */
function took(millis) {
  return millis < 1000 ? `${millis} ms` : duration(millis);
}

/** @param {any} job */
function result(job) {
  return job.skipped ?? job.last_result ?? '';
}

/** @param {any} job */
function outcome(job) {
  if (job.skipped) {
    return html`${badge(SKIPPED[/** @type {keyof SKIPPED} */ (job.skipped)])} ${job.holder ? html`<span class="faint mono">${job.holder}</span>` : nothing}`;
  }
  if (!job.last_result) {
    return nothing;
  }
  return job.last_result === 'succeeded' ? badge('succeeded', 'good') : html`${badge('failed', 'bad')} <span class="faint">${job.last_error}</span>`;
}

customElements.define('bourse-jobs', Jobs);
export default Jobs;
