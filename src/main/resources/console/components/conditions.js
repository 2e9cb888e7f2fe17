import { html, nothing } from 'lit';
import { dollars, time, whole } from '../lib/format.js';
import { field } from './form.js';

/**
 * What a declaration is under besides its size and its price: the minimum, the end and the budget. An empty field keeps
 * what stands, and "none" beside it clears that.
 */

/** @typedef {'min_gpus' | 'until' | 'max_spend_usd'} Condition the name of its field at the interface */

/** @type {Condition[]} */
export const CONDITIONS = ['min_gpus', 'until', 'max_spend_usd'];

/**
 * Each condition's label, how what stands reads, and how what is typed is sent.
 * @type {Record<Condition, {label: string, none: string, shown: (standing: any) => string, sent: (typed: string) => unknown}>}
 */
const OF = {
  min_gpus: { label: 'Minimum', none: 'No minimum', shown: (gpus) => `${whole(gpus)} GPUs`, sent: Number },
  until: { label: 'End', none: 'No end', shown: time, sent: (typed) => new Date(typed).toISOString() },
  max_spend_usd: { label: 'Budget', none: 'No budget', shown: dollars, sent: Number },
};

/** The form's value that says "none". @param {Condition} name */
function noneOf(name) {
  return `${name}_none`;
}

/** The values of a form that says nothing of them. @returns {Record<string, any>} */
export function unsaid() {
  return Object.fromEntries(CONDITIONS.flatMap((name) => [[name, ''], [noneOf(name), false]]));
}

/** What a form says of them, as the interface takes it: nothing of what is kept. @param {Record<string, any>} values */
export function saidOf(values) {
  /** @type {Record<string, any>} */
  const said = {};
  for (const name of CONDITIONS) {
    if (values[noneOf(name)]) {
      said[name] = null;
    } else if (values[name] !== '') {
      said[name] = OF[name].sent(values[name]);
    }
  }
  return said;
}

/**
 * A condition in words: what a form says of it, or what stands.
 * @param {Condition} name
 * @param {any} declared
 * @param {Record<string, any>} [said] what `saidOf` answers
 */
export function conditionText(name, declared, said = {}) {
  const value = name in said ? said[name] : declared?.[name];
  return value === null || value === undefined ? 'none' : OF[name].shown(value);
}

/** A condition's label. @param {Condition} name */
export function conditionLabel(name) {
  return OF[name].label;
}

/**
 * The fields, folded away while there is nothing to see.
 * @param {import('./form.js').Form} form
 * @param {object} how
 * @param {any} how.declared what stands; null for nothing
 * @param {number} how.gpusPerNode
 * @param {() => void} how.changed
 */
export function conditionFields(form, { declared, gpusPerNode, changed }) {
  const isOpen = CONDITIONS.some((name) => stands(declared, name) || form.values[name] !== '' || form.errors[name]);
  const hints = {
    min_gpus: `Fewer GPUs are worth nothing, so it gets as many or none. In nodes of ${gpusPerNode}.`,
    until: 'Everything is given back then, in your time zone. Send it again to renew.',
    max_spend_usd: 'Everything is given back before it costs more than this from now on.',
  };
  const input = /** @type {const} */ ({
    min_gpus: { type: 'number', min: gpusPerNode, step: gpusPerNode },
    until: { type: 'datetime-local' },
    max_spend_usd: { type: 'number', min: 0, step: 0.01, unit: 'USD' },
  });
  return html`<details class="field" id="conditions" ?open=${isOpen}>
    <summary>${CONDITIONS.map((name, i) => (i === 0 ? OF[name].label : OF[name].label.toLowerCase())).join(', ')}</summary>
    <div class="fields-row">
      ${CONDITIONS.map((name) => {
        const isStanding = stands(declared, name);
        return html`<div class="condition">
          ${field(form, {
            name,
            label: OF[name].label,
            ...input[name],
            hint: isStanding ? `Stands at ${conditionText(name, declared)}; empty keeps that. ${hints[name]}` : hints[name],
            changed: () => {
              form.set(noneOf(name), false);
              changed();
            },
          })}
          ${isStanding
            ? field(form, {
                name: noneOf(name),
                label: OF[name].none,
                type: 'checkbox',
                changed: () => {
                  form.set(name, '');
                  changed();
                },
              })
            : nothing}
        </div>`;
      })}
    </div>
  </details>`;
}

/** @param {any} declared @param {Condition} name */
function stands(declared, name) {
  return declared?.[name] !== null && declared?.[name] !== undefined;
}
