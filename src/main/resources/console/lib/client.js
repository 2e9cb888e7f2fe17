/**
 * The one way to the interface. Pages name an operation of the contracts by its operationId; this module knows its
 * method and its path, adds what a session's writes need, and keeps the last requests so that each can be shown as
 * a command.
 */

/**
 * @typedef {[method: string, path: string, query: string[], body: '' | 'json' | 'bytes', noun: string | null]} Row the noun of
 *   `bourse admin`: '' for operations of members, null for those that take no credential
 */
/** @typedef {Record<string, string | number | boolean | null | undefined>} Values */

/**
 * @template {string} [Id=string]
 * @typedef {object} Input
 * @property {import('contracts').PathOf<Id>} [path] values of the path's parameters
 * @property {import('contracts').QueryOf<Id>} [query] of the query's; null, undefined and '' are left out
 * @property {import('contracts').BodyOf<Id>} [body] sent as JSON; a Blob or bytes as they are
 * @property {AbortSignal} [signal] ends the request
 * @property {Record<string, string>} [headers] further headers
 * @property {boolean} [atSignIn] a 401 is an answer like others: nobody is asked to sign in again
 * @property {boolean} [quiet] not kept among the requests to show: something the reader did not ask for
 */

/**
 * @typedef {object} Shown a request as it was made
 * @property {string} operation
 * @property {string} method
 * @property {string} address path and query
 * @property {any} body
 * @property {number} status 0 until it is answered
 */

/** A refusal, in the server's words. */
export class CallError extends Error {
  /**
   * @param {number} status 0 when the server was not reached
   * @param {any} answer
   */
  constructor(status, answer) {
    super(answer?.detail ?? answer?.error ?? `The service answered ${status}.`);
    this.name = 'CallError';
    this.status = status;
    /** @type {string} the code of the refusal */
    this.code = answer?.error ?? (status === 0 ? 'unreachable' : 'internal');
    /** @type {string} what failed, with the value and what would be accepted */
    this.detail = this.message;
    /** @type {any} all fields of the answer, such as `maximum` or `retry_after_s` */
    this.answer = answer ?? {};
    /** @type {string} the field that the refusal names; '' when it names none */
    this.field = fieldOf(this.detail);
  }
}

/**
 * Refusals begin with the field they are about: "max_gpus: 7 is not acceptable", "name is missing", "unknown field 'x'".
 * @param {string} detail
 */
function fieldOf(detail) {
  const found = /^(?:unknown field ')?([a-z][a-z0-9_]*)(?:[.[][^:' ]*)?(?:'|:| is | was )/.exec(detail);
  return found ? found[1] : '';
}

/** The build puts the contracts' operations in this place. */
const operations = {};
const ROWS = /** @type {Record<string, Row>} */ (/** @type {unknown} */ (operations));
const REMEMBERED = 20;

/**
 * A write that is not answered within this time gets no answer any more: the service answers within seconds, and a proxy
 * gives up before. Uploads take as long as they take.
 */
const WRITE_MILLIS = 120_000;

/** A preview takes a fraction of this; after it a question is asked without it. */
const PREVIEW_MILLIS = 5000;

/** The code of refusals after which a write may be stored or not; the service has it too. */
const UNKNOWN = 'outcome-unknown';

/** What a proxy answers when the service did not: the request may have reached it. */
const WITHOUT_ANSWER = [502, 504];

/** @type {Shown[]} */
let shown = [];
const news = new EventTarget();
let csrf = '';
/** @type {(() => Promise<void>) | null} */
let signInAgain = null;

/** What a session's writes carry. Told by the shell. @param {string} token */
export function useCsrf(token) {
  csrf = token;
}

/**
 * How somebody signs in again whose session ended; resolves once they have. Told by the shell.
 * @param {() => Promise<void>} ask
 */
export function onSignedOut(ask) {
  signInAgain = ask;
}

/** Whether the contracts have such an operation. @param {string} operation */
export function has(operation) {
  return operation in ROWS;
}

/**
 * The operation at a path.
 * @param {string} method
 * @param {string} path as the contract writes it
 */
export function operationAt(method, path) {
  const found = Object.keys(ROWS).find((id) => ROWS[id][0] === method && ROWS[id][1] === path);
  if (!found) {
    throw new Error(`no contract has ${method} ${path}`);
  }
  return found;
}

/**
 * The address of an operation, for links and downloads.
 * @template {string} Id
 * @param {Id} operation
 * @param {Pick<Input<Id>, 'path' | 'query'>} [input]
 */
export function address(operation, input = {}) {
  const path = /** @type {Values} */ (input.path ?? {});
  const query = /** @type {Values} */ (input.query ?? {});
  const row = ROWS[operation];
  if (!row) {
    throw new Error(`no contract has an operation ${operation}`);
  }
  const filled = row[1].replace(/\{(\w+)\}/g, (whole, name) => {
    const value = path[name];
    if (value === null || value === undefined || value === '') {
      throw new Error(`${operation} needs ${name}`);
    }
    return encodeURIComponent(String(value));
  });
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (!row[2].includes(name)) {
      throw new Error(`${operation} takes no ${name} in its query`);
    }
    if (value !== null && value !== undefined && value !== '') {
      asked.set(name, String(value));
    }
  }
  const text = asked.toString();
  return filled + (text ? `?${text}` : '');
}

/**
 * Calls an operation.
 * @template {string} Id
 * @param {Id} operation its operationId
 * @param {Input<Id>} [input]
 * @returns {Promise<import('contracts').AnswerOf<Id>>} the JSON answered; null when there is none
 * @throws {CallError}
 */
export async function call(operation, input = {}) {
  return (await request(operation, input)).json;
}

/**
 * Calls an operation and tells the answer's headers, too.
 * @template {string} Id
 * @param {Id} operation
 * @param {Input<Id>} [input]
 * @returns {Promise<{json: import('contracts').AnswerOf<Id>, response: Response}>}
 */
export async function request(operation, input = {}) {
  const target = address(operation, input);
  const [method, , , body] = ROWS[operation];
  /** @type {Shown} */
  const one = { operation, method, address: target, body: body === 'json' ? input.body : undefined, status: 0 };
  if (!input.quiet) {
    remember(one);
  }
  for (let again = false; ; again = true) {
    const response = await send(operation, target, input);
    one.status = response.status;
    news.dispatchEvent(new Event('change'));
    const json = await read(response);
    if (response.ok) {
      return { json, response };
    }
    if (response.status === 401 && signInAgain && !again && !input.atSignIn) {
      await signInAgain();
      continue;
    }
    throw isWrite(operation) && WITHOUT_ANSWER.includes(response.status) ? unknownOutcome(response.status) : new CallError(response.status, json);
  }
}

/** Whether an operation changes anything; previews are sent by POST and change nothing. @param {string} operation */
function isWrite(operation) {
  return ROWS[operation][0] !== 'GET' && !operation.startsWith('preview');
}

/**
 * @param {string} operation
 * @param {string} target
 * @param {Input} input
 */
async function send(operation, target, input) {
  const [method, , , kind] = ROWS[operation];
  /** @type {Record<string, string>} */
  const headers = { accept: 'application/json', ...input.headers };
  if (method !== 'GET' && csrf) {
    headers['x-csrf-token'] = csrf;
  }
  /** @type {BodyInit | undefined} */
  let body;
  if (kind === 'json' && input.body !== undefined) {
    headers['content-type'] = 'application/json';
    body = JSON.stringify(input.body);
  } else if (kind === 'bytes') {
    body = input.body;
  }
  const late = new AbortController();
  const timer = isWrite(operation) && kind !== 'bytes' ? setTimeout(() => late.abort(), WRITE_MILLIS) : undefined;
  const signal = timer === undefined ? input.signal : AbortSignal.any([late.signal, ...(input.signal ? [input.signal] : [])]);
  try {
    return await fetch(target, { method, headers, body, signal, credentials: 'same-origin' });
  } catch (fault) {
    if (input.signal?.aborted) {
      throw fault;
    }
    if (isWrite(operation)) {
      throw unknownOutcome(0);
    }
    throw new CallError(0, { detail: 'The service cannot be reached. Check the connection, then try again.' });
  } finally {
    clearTimeout(timer);
  }
}

/** The refusal of a write to which no answer came. @param {number} status */
function unknownOutcome(status) {
  return new CallError(status, {
    error: UNKNOWN,
    detail: 'No answer came, so it is unknown whether this was done. Reload the page and look before you send it again.',
  });
}

/**
 * Whether a write may have been done although it was refused.
 * @param {unknown} failure
 * @returns {failure is CallError}
 */
export function isUnknownOutcome(failure) {
  return failure instanceof CallError && failure.code === UNKNOWN;
}

/**
 * Ends a read before a question that takes too long.
 * @param {AbortSignal} signal ends it earlier
 * @returns {AbortSignal}
 */
export function soon(signal) {
  return AbortSignal.any([signal, AbortSignal.timeout(PREVIEW_MILLIS)]);
}

/** @param {Response} response */
async function read(response) {
  // The manifest of a set has a type of its own, which ends in +json.
  if (!/^application\/([a-z.-]+\+)?json\b/.test(response.headers.get('content-type') ?? '')) {
    return null;
  }
  try {
    return await response.json();
  } catch {
    return null;
  }
}

/** @param {Shown} one */
function remember(one) {
  shown = [one, ...shown.filter((old) => old.method !== one.method || old.address !== one.address)];
  shown.length = Math.min(shown.length, REMEMBERED);
}

/** Forgets the requests; another page begins. */
export function forgetRequests() {
  shown = [];
  news.dispatchEvent(new Event('change'));
}

/** The requests of this page, the last one first. */
export function requests() {
  return shown;
}

/**
 * Calls back when there is another request.
 * @param {() => void} listener
 * @returns {() => void} ends it
 */
export function onRequest(listener) {
  news.addEventListener('change', listener);
  return () => news.removeEventListener('change', listener);
}

/** What the contracts say of an operation. @param {string} operation */
export function row(operation) {
  return ROWS[operation];
}

/** @param {string} text */
export function quoted(text) {
  return /^[\w./:=@%?&,+-]+$/.test(text) && !/[?&]/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
