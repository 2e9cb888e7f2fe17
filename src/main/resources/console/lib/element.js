import { LitElement } from 'lit';

/** A component of ours: it renders into the page itself, so that one style sheet and plain labels reach it. */
export class Element extends LitElement {
  /** @override */
  createRenderRoot() {
    return this;
  }
}

let lastId = 0;

/**
 * An id that nothing else in the document has.
 * @param {string} prefix
 */
export function freshId(prefix) {
  return `${prefix}-${++lastId}`;
}
