import { html, nothing } from 'lit';
import { CallError, call, soon } from '../lib/client.js';
import { dollars, nodeName, utc } from '../lib/format.js';
import { declarationQuestion, isRefusal, lossText, unseenQuestion } from '../lib/losses.js';
import { CONDITIONS, conditionFields, conditionLabel, conditionText, saidOf, unsaid } from './conditions.js';
import { askFirst } from './dialog.js';
import { Form, field, formFault, onSubmit, submitButton } from './form.js';
import { Element, at, figure } from './parts.js';
import { toast } from './toast.js';

/** After the last key: long enough to type a figure, short enough to feel live. */
const TYPING_MILLIS = 250;

/**
 * What can be done about a refusal. @param {any} refusal @returns {unknown}
 */
export function remedy(refusal) {
  switch (refusal.error) {
    case 'no-ssh-keys':
      return html`Nobody could log in to a node yet. <a href="/console/ssh-keys">Add a key</a> first.`;
    case 'bid-too-low':
      return refusal.minimum === undefined ? 'Raise the ceiling.' : html`At ${dollars(refusal.minimum)} it would be accepted.`;
    case 'price-above-maximum':
      return html`${dollars(refusal.maximum)} is the most that a ceiling may be here.`;
    case 'price-precision':
      return 'Whole cents only.';
    case 'static-posture':
      return 'Operators manage the size of this cluster. You can still lower it.';
    case 'capacity-writes-disabled':
      return 'Operators have paused all changes. What is held stays held.';
    case 'unknown-node':
      return 'A node that was to go first is not held any more.';
    case 'version-mismatch':
      return 'Somebody changed the declaration meanwhile.';
    default:
      return nothing;
  }
}

/**
 * `<bourse-declaration .kind .state .proposed>`: the declaration or the bid of a cluster as a form. Each change of it shows
 * what it would do. When somebody else changes the declaration meanwhile, both stand side by side until one is chosen.
 */
class Declaration extends Element {
  static properties = {
    kind: { attribute: false },
    state: { attribute: false },
    base: { state: true },
    seen: { state: true },
    isLooking: { state: true },
    past: { state: true },
    proposed: { attribute: false },
  };

  constructor() {
    super();
    /** @type {import('../lib/kinds.js').Kind} */
    this.kind;
    /** @type {any} the cluster as last told */
    this.state = null;
    /** @type {any} the cluster as it was when the form was filled from it */
    this.base = null;
    /** @type {{body: string, preview: any, fault: Error | null} | null} what the last preview said, and of what */
    this.seen = null;
    this.isLooking = false;
    /** @type {number[]} the pool's clearing prices of the past day, as read when the ceiling was last focused */
    this.past = [];
    /** @type {number | null} a ceiling to fill in, which the member may change or declare */
    this.proposed = null;
    this.form = new Form(this, { max_gpus: '', release: [], auto_swap: false, ...unsaid() });
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {AbortController | null} */
    this.looking = null;
    /** @type {AbortController | null} */
    this.sending = null;
    /** What the form held when it was sent. */
    this.sent = '';
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.timer);
    this.looking?.abort();
    this.sending?.abort();
  }

  /** The field of the ceiling. */
  get price() {
    return this.kind.price;
  }

  /** The field that a refusal is about, where its words do not begin with one. */
  get fieldOfCode() {
    return {
      'bid-too-low': this.price,
      'price-above-maximum': this.price,
      'price-precision': this.price,
      'static-posture': 'max_gpus',
      'no-ssh-keys': 'max_gpus',
      'unknown-node': 'release',
    };
  }

  /** @override @param {Map<string, unknown>} changes */
  willUpdate(changes) {
    if (changes.has('state') && this.state) {
      this.takeState();
    }
    if (changes.has('proposed') && this.proposed !== null && this.base && !this.isTouched()) {
      this.form.set(this.price, String(this.proposed));
      this.look();
    }
  }

  takeState() {
    if (!this.base || (this.base.version !== this.state.version && !this.isTouched())) {
      this.fill(this.state);
    } else if (this.base.version === this.state.version) {
      this.base = this.state;
      this.look();
    }
  }

  /** Fills the form with what is declared. @param {any} state */
  fill(state) {
    this.base = state;
    this.form.reset(this.declared(state));
    this.look();
  }

  /** The declaration as values of the form's fields; without one, a proposed price and no size. @param {any} state */
  declared(state) {
    const price = state.declared?.max_price_per_gpu_hour ?? state.pool.admission_price_per_gpu_hour ?? state.pool.reserve_price_per_gpu_hour;
    return {
      max_gpus: String(state.declared?.max_gpus ?? ''),
      [this.price]: String(price),
      release: [...state.nominations],
      auto_swap: state.declared?.auto_swap ?? false,
      ...unsaid(),
    };
  }

  /** Reads the pool's prices of the past day. The form is useful without them. */
  async readPast() {
    try {
      const history = await call('readMarketHistory', { query: { pool: this.state.pool.pool, hours: 24 }, quiet: true });
      this.past = history.clearing_price.filter((/** @type {number | null} */ price) => price !== null);
    } catch (failure) {
      if (!(failure instanceof CallError)) {
        throw failure;
      }
    }
  }

  ceilingHint() {
    const { max_price_cap_per_gpu_hour: cap, pool } = this.state;
    const admission = pool.admission_price_per_gpu_hour;
    return html`The most you pay, at most ${dollars(cap)}.
      ${admission === null ? nothing : `Now admitted: ${dollars(admission)}.`}
      ${this.proposed !== null && Number(this.form.values[this.price]) === this.proposed && this.isTouched() ? 'At today’s bids this ceiling keeps the nodes that higher bids would take. It applies once you declare it.' : nothing}
      ${this.past.length === 0 ? nothing : `The pool cleared at ${priceRange(this.past)} in the past day.`}`;
  }

  isTouched() {
    const values = this.declared(this.base);
    const typed = this.form.values;
    return (
      Number(typed.max_gpus) !== Number(values.max_gpus) ||
      Number(typed[this.price]) !== Number(values[this.price]) ||
      String([...typed.release].sort()) !== String([...values.release].sort()) ||
      typed.auto_swap !== values.auto_swap ||
      Object.keys(saidOf(typed)).length > 0
    );
  }

  /** Whether there is something to declare that is not in force. */
  get isChanged() {
    return !this.base.declared || this.isTouched();
  }

  /** Whether the form holds enough to be previewed. */
  get isFull() {
    return this.form.values.max_gpus !== '' && this.form.values[this.price] !== '';
  }

  /** Somebody else changed what the form was filled from, and the form has changes of its own. */
  get isContested() {
    return this.base.version !== this.state.version;
  }

  body() {
    const { max_gpus: gpus, release, auto_swap } = this.form.values;
    const held = heldNames(this.state);
    const price = this.form.values[this.price];
    return {
      // An empty field is sent, and refused: without the field, a bid would keep the standing value.
      max_gpus: gpus === '' ? '' : Number(gpus),
      [this.price]: price === '' ? '' : Number(price),
      expected_version: this.base.version,
      release: release.filter((/** @type {string} */ address) => held.includes(address)),
      cluster: this.state.cluster,
      auto_swap,
      ...saidOf(this.form.values),
    };
  }

  /** Looks, after the last key, at what the form would do. */
  look(wait = TYPING_MILLIS) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.lookNow(), wait);
  }

  async lookNow() {
    this.looking?.abort();
    if (!this.isFull || !this.isChanged || this.isContested) {
      this.seen = null;
      return;
    }
    const body = this.body();
    const looking = new AbortController();
    this.looking = looking;
    this.isLooking = true;
    try {
      const preview = await this.kind.preview(body, { signal: looking.signal });
      if (!looking.signal.aborted) {
        this.seen = { body: JSON.stringify(body), preview, fault: null };
        this.pointAt(preview.would_refuse && new CallError(422, preview.would_refuse));
      }
    } catch (failure) {
      if (looking.signal.aborted) {
        return;
      }
      const wait = failure instanceof CallError ? failure.answer.retry_after_s : undefined;
      if (wait) {
        this.look(wait * 1000);
      } else {
        this.seen = { body: JSON.stringify(body), preview: null, fault: /** @type {Error} */ (failure) };
        this.pointAt(failure instanceof CallError ? failure : null);
      }
    } finally {
      if (this.looking === looking) {
        this.isLooking = false;
      }
    }
  }

  /** Shows what a preview says of a field at that field, too. @param {CallError | null} refusal */
  pointAt(refusal) {
    const field = this.form.fieldOf(refusal, this.fieldOfCode);
    this.form.errors = refusal && field ? { [field]: refusal.detail } : {};
    this.requestUpdate();
  }

  /** Fills the form with what is declared, and sends nothing that is not sent yet. */
  discard() {
    this.sending?.abort();
    this.fill(this.state);
  }

  /**
   * Sends what the form holds, after a question if something is lost by it. The preview that the question shows is of the
   * same body, and is repeated right before the body is sent.
   */
  async send() {
    if (this.form.busy) {
      return;
    }
    if (!this.isChanged) {
      toast('This is in force already.');
      return;
    }
    clearTimeout(this.timer);
    this.looking?.abort();
    const body = Object.freeze(this.body());
    const sending = new AbortController();
    this.sending = sending;
    this.sent = JSON.stringify(this.form.values);
    await askFirst(
      {
        ask: (signal) => this.compared(sending, () => this.question(body, sending, signal)),
        work: () => this.compared(sending, () => this.declare(body)),
        form: this.form,
        fieldOfCode: this.fieldOfCode,
      },
      sending.signal,
    );
  }

  /** Whether nothing was typed since the form was sent. */
  get isAsSent() {
    return JSON.stringify(this.form.values) === this.sent;
  }

  /**
   * What to ask before a body is sent; null if nothing is lost by it.
   * @param {any} body
   * @param {AbortController} sending
   * @param {AbortSignal} signal
   */
  async question(body, sending, signal) {
    try {
      const preview = await this.kind.preview(body, { signal: soon(signal) });
      if (preview.would_refuse) {
        throw new CallError(409, preview.would_refuse);
      }
      this.endIfTyped(sending);
      this.seen = { body: JSON.stringify(body), preview, fault: null };
      return declarationQuestion(this.base, body, preview);
    } catch (failure) {
      if (signal.aborted || sending.signal.aborted || isRefusal(failure) || !this.isFull) {
        throw failure;
      }
      this.endIfTyped(sending);
      return unseenQuestion(this.state, body, failure);
    }
  }

  /** Ends the sending if something was typed during the check. @param {AbortController} sending */
  endIfTyped(sending) {
    if (!sending.signal.aborted && !this.isAsSent) {
      toast('The form changed during the check. Nothing was declared.');
      sending.abort();
      this.look();
    }
    sending.signal.throwIfAborted();
  }

  /**
   * Does what compares versions; shows both sides if somebody else changed the declaration meanwhile.
   * @template T
   * @param {AbortController} sending
   * @param {() => Promise<T>} work
   */
  async compared(sending, work) {
    try {
      return await work();
    } catch (failure) {
      if (failure instanceof CallError && failure.code === 'version-mismatch') {
        const state = await this.kind.read(this.state.cluster, { quiet: true });
        this.dispatchEvent(new CustomEvent('declared', { detail: state }));
        if (state.version !== this.base.version) {
          // The page shows both sides from now on, which replaces the refusal.
          sending.abort();
        }
      }
      throw failure;
    }
  }

  /** @param {any} body */
  async declare(body) {
    const state = await this.kind.write(body, this.state);
    if (this.isAsSent) {
      this.fill(state);
    } else {
      // What was typed meanwhile stays.
      this.base = state;
      this.look();
    }
    this.dispatchEvent(new CustomEvent('declared', { detail: state }));
    toast('Declared.');
  }

  /** @override */
  render() {
    if (!this.base) {
      return nothing;
    }
    const { state, form } = this;
    return html`<div class="columns-2">
      <form class="sheet" id="declaration" @submit=${onSubmit(() => this.send())}>
        <h2>Declaration</h2>
        ${this.isContested ? this.conflict() : nothing}
        <div class="fields-row" @focusin=${(/** @type {FocusEvent} */ e) => /** @type {HTMLInputElement} */ (e.target).name === this.price && this.readPast()}>
          ${field(form, {
            name: 'max_gpus',
            label: 'GPUs wanted',
            type: 'number',
            min: 0,
            step: state.gpus_per_node,
            required: true,
            hint: `In nodes of ${state.gpus_per_node}. 0 releases everything.`,
            changed: () => this.look(),
          })}
          ${field(form, {
            name: this.price,
            label: 'Ceiling, a GPU-hour',
            type: 'number',
            min: 0,
            step: 0.01,
            unit: 'USD',
            required: true,
            hint: this.ceilingHint(),
            changed: () => this.look(),
          })}
        </div>
        ${conditionFields(form, { declared: state.declared, gpusPerNode: state.gpus_per_node, changed: () => this.look() })}
        ${field(form, {
          name: 'auto_swap',
          label: 'Swap failed nodes',
          type: 'checkbox',
          hint: 'A node with a fault of its hardware, or without an answer, is replaced without a request. It stays until its replacement is active.',
          changed: () => this.look(),
        })}
        ${this.release()}
        ${formFault(form)}
        <div class="actions">
          ${submitButton(form, 'Declare', { disabled: this.isContested || !state.writes_armed })}
          ${this.isTouched()
            ? html`<button type="button" class="quiet" @click=${() => this.discard()}>Discard changes</button>`
            : nothing}
        </div>
        ${state.declared
          ? html`<p class="hint">Declared ${at(state.declared.updated_at, 'ago')} by <span class="mono">${state.declared.updated_by}</span></p>`
          : html`<p class="hint">Nothing is declared yet.</p>`}
      </form>
      <section class="sheet" id="preview" aria-labelledby="preview-title" aria-busy=${this.isLooking ? 'true' : 'false'}>
        <h2 id="preview-title">What it would do</h2>
        <div aria-live="polite">${this.outcome()}</div>
      </section>
    </div>`;
  }

  /** Which nodes a shrink takes first. */
  release() {
    const held = heldNames(this.state);
    if (held.length === 0) {
      return nothing;
    }
    const chosen = this.form.values.release;
    const error = this.form.errors.release;
    return html`<details class="field" ?open=${chosen.length > 0 || Boolean(error)}>
      <summary>Nodes that go first when it shrinks${chosen.length > 0 ? ` (${chosen.length})` : ''}</summary>
      <fieldset class="choices"><legend class="unseen">Nodes that go first when the cluster shrinks</legend>
        ${held.map((address) => html`<label class="choice"><input type="checkbox" name="release" value=${address} .checked=${chosen.includes(address)}
          @change=${(/** @type {Event} */ e) => this.nominate(address, /** @type {HTMLInputElement} */ (e.target).checked)}>
          <span class="mono">${address}</span></label>`)}
      </fieldset>
      ${error ? html`<p class="fault">${error}</p>` : nothing}
    </details>`;
  }

  /** @param {string} address @param {boolean} isChosen */
  nominate(address, isChosen) {
    const others = this.form.values.release.filter((/** @type {string} */ one) => one !== address);
    this.form.set('release', isChosen ? [...others, address] : others);
    this.look();
  }

  conflict() {
    const theirs = this.declared(this.state);
    const mine = this.form.values;
    const by = this.state.declared;
    return html`<div class="notice warn" role="alert" id="conflict">
      <p><b>Somebody changed this</b> while you were editing${by
        ? html`: <span class="mono">${by.updated_by}</span>, <span title=${utc(by.updated_at)}>${at(by.updated_at, 'ago')}</span>`
        : nothing}.</p>
      <table>
        <thead><tr><td></td><th scope="col" class="number">Theirs, in force</th><th scope="col" class="number">Yours</th></tr></thead>
        <tbody>
          <tr><th scope="row">GPUs</th><td class="number">${theirs.max_gpus}</td><td class="number">${mine.max_gpus}</td></tr>
          <tr><th scope="row">Ceiling</th><td class="number">${dollars(Number(theirs[this.price]))}</td><td class="number">${dollars(Number(mine[this.price]))}</td></tr>
          ${CONDITIONS.map((name) => {
            const [inForce, wished] = [conditionText(name, by), conditionText(name, by, saidOf(mine))];
            return inForce === 'none' && wished === 'none'
              ? nothing
              : html`<tr><th scope="row">${conditionLabel(name)}</th><td class="number">${inForce}</td><td class="number">${wished}</td></tr>`;
          })}
          ${theirs.auto_swap === mine.auto_swap
            ? nothing
            : html`<tr><th scope="row">Swap failed nodes</th><td class="number">${theirs.auto_swap ? 'yes' : 'no'}</td><td class="number">${mine.auto_swap ? 'yes' : 'no'}</td></tr>`}
        </tbody>
      </table>
      <div class="actions">
        <button type="button" id="keep-mine" @click=${this.keepMine}>Go on with mine</button>
        <button type="button" class="quiet" id="take-theirs" @click=${() => this.fill(this.state)}>Take theirs</button>
      </div>
    </div>`;
  }

  keepMine() {
    this.base = this.state;
    this.look(0);
  }

  outcome() {
    const { state } = this;
    if (this.isContested) {
      return html`<p class="muted">Choose first which declaration to go on from.</p>`;
    }
    if (!this.isFull || !this.isChanged) {
      return html`<p class="muted">${this.isFull ? 'Change a field to see the cost and the nodes.' : 'Enter GPUs and a ceiling to see the cost and the nodes.'}</p>`;
    }
    const body = this.body();
    if (this.seen?.body !== JSON.stringify(body)) {
      return html`<div class="skeleton" aria-hidden="true"><i></i><i></i><i></i></div>`;
    }
    const { preview, fault } = this.seen;
    if (fault) {
      return html`<p class="notice bad">${fault.message}</p>`;
    }
    if (preview.would_refuse) {
      return html`<div class="notice bad" id="refusal"><p>It would be refused: ${preview.would_refuse.detail}</p>
        <p>${remedy(preview.would_refuse)} <code class="faint">${preview.would_refuse.error}</code></p></div>`;
    }
    return html`<dl class="figures-row">
        ${figure('Costs an hour', dollars(preview.cost_per_hour), preview.clearing_price_per_gpu_hour === null
          ? 'nobody would hold a node'
          : `at ${dollars(preview.clearing_price_per_gpu_hour)} a GPU`)}
        ${figure('At most', dollars(Number(body.max_gpus) * Number(body[this.price])), 'an hour, at the ceiling')}
        ${preview.worst_case_usd === null ? nothing : figure('In all', dollars(preview.worst_case_usd), 'at most, until it ends')}
        ${CONDITIONS.filter((name) => preview.state.declared[name] !== null).map((name) =>
          figure(conditionLabel(name), conditionText(name, preview.state.declared)),
        )}
        ${figure('Nodes won', preview.nodes_won, preview.nodes_won === preview.nodes_granted ? 'at the next tick' : `${preview.nodes_granted} of them at the next tick`)}
        ${figure('Left pending', preview.nodes_unfilled, preview.nodes_unfilled > 0 ? 'nodes' : nothing)}
      </dl>
      ${preview.paused
        ? html`<p class="notice warn" id="market-paused">An operator has the market of this pool paused: it grants and takes nothing. What is declared waits until it goes on.</p>`
        : nothing}
      ${preview.minimum_missed
        ? html`<p class="notice warn" id="minimum-missed">${preview.minimum_missed === 'price'
            ? 'The minimum would not be won at this ceiling; a higher one could win it. Until then nothing is granted.'
            : 'There are not as many nodes to win as the minimum asks for, whatever the ceiling. Until then nothing is granted.'}</p>`
        : nothing}
      ${!preview.minimum_missed && preview.nodes_unfilled > 0 && preview.admission_price_per_gpu_hour !== null && preview.admission_price_per_gpu_hour > body[this.price]
        ? html`<p class="notice warn">Rivals bid more: ${dollars(preview.admission_price_per_gpu_hour)} would be admitted at the next tick.</p>`
        : !preview.paused && !preview.minimum_missed && preview.nodes_unfilled > 0
          ? html`<p class="notice warn">There is not enough for all of it now, or the spend limit does not allow more. The rest stays pending, and is tried again by itself.</p>`
          : nothing}
      ${preview.losses.length + preview.unprotected.length > 0 ? html`<div class="notice bad" id="losses">${lossText(preview)}</div>` : nothing}
      ${state.billing_hold && state.billing_hold_enforced ? html`<p class="notice warn">Under a billing hold nothing new is granted.</p>` : nothing}
      <p class="hint">If nobody else does anything before the next tick.</p>`;
  }
}

/** @param {number[]} prices at least one */
function priceRange(prices) {
  const [least, most] = [dollars(Math.min(...prices)), dollars(Math.max(...prices))];
  return least === most ? least : `${least} to ${most}`;
}

/** What the nodes are called that a shrink can take. @param {any} state @returns {string[]} */
function heldNames(state) {
  return state.allocations.filter((/** @type {any} */ one) => nodeName(one) && one.state !== 'reclaiming').map(nodeName);
}

customElements.define('bourse-declaration', Declaration);
