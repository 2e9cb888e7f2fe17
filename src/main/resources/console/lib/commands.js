/** Requests as commands, so that a program can do what the reader just did. */
import { quoted, row } from './client.js';

/** @typedef {import('./client.js').Shown} Shown */

/** Fields whose values are secrets. */
const SECRET = /^(token|secret|password)$/;

/** @param {any} body */
function shownBody(body) {
  return JSON.stringify(body, (name, value) => (SECRET.test(name) && typeof value === 'string' ? '…' : value));
}

/** A request as a `curl` command. A token of the reader's stands in for the session. @param {Shown} one */
export function asCurl(one) {
  const [, , , body, noun] = row(one.operation);
  const parts = ['curl -sS'];
  if (one.method !== 'GET') {
    parts.push(`-X ${one.method}`);
  }
  parts.push(quoted(location.origin + one.address));
  if (noun !== null) {
    parts.push('-H "Authorization: Bearer $BOURSE_TOKEN"');
  }
  if (one.body !== undefined) {
    parts.push("-H 'Content-Type: application/json'", `-d ${quoted(shownBody(one.body))}`);
  } else if (body === 'bytes') {
    parts.push('--data-binary @FILE');
  }
  return parts.join(' \\\n  ');
}

/**
 * The commands of `bourse` that members have, by operation.
 * @type {Record<string, (one: Shown) => string[]>}
 */
const OF_MEMBERS = {
  listCheckpoints: ({ address: asked }) => {
    const q = new URL(asked, location.origin).searchParams.get('q');
    return ['bourse', 'checkpoint', 'list', ...(q ? ['-q', q] : [])];
  },
  publishCheckpoint: ({ body }) => [
    ...['bourse', 'checkpoint', 'push', body.filename, '--title', body.title],
    ...(body.description ? ['--description', body.description] : []),
    ...(body.visibility === 'public' ? ['--public'] : []),
    ...(typeof body.replace === 'string' ? ['--replace', body.replace] : []),
  ],
};

/**
 * A request as a command of `bourse`; '' where there is none.
 * @param {Shown} one
 */
export function asCommand(one) {
  const [method, template, query, body, noun] = row(one.operation);
  const own = OF_MEMBERS[one.operation];
  if (own) {
    return own(one).map(quoted).join(' ');
  }
  if (!noun || body === 'bytes') {
    return '';
  }
  const url = new URL(one.address, location.origin);
  const names = new RegExp(`^${template.replace(/\{\w+\}/g, '([^/]+)')}$`).exec(url.pathname)?.slice(1) ?? [];
  const parts = ['bourse admin', noun, verb(one.operation), ...names.map((name) => quoted(decodeURIComponent(name)))];
  /** @type {[string, any][]} */
  const options = query.map((name) => [name, url.searchParams.get(name)]);
  if (method !== 'GET') {
    options.push(...Object.entries(one.body ?? {}));
  }
  for (const [name, value] of options) {
    if (value !== null && value !== undefined) {
      const text = SECRET.test(name) ? '…' : typeof value === 'object' ? JSON.stringify(value) : String(value);
      parts.push(`--${name.replaceAll('_', '-')}`, quoted(text));
    }
  }
  return parts.join(' ');
}

/** The command line's word for what an operation does, as `bourse admin` derives it. @param {string} operation */
function verb(operation) {
  const first = /^[a-z]+/.exec(operation)?.[0] ?? operation;
  if (first === 'export') {
    return operation.endsWith('Csv') ? 'export-csv' : 'export-ndjson';
  }
  return { read: 'show', write: 'set' }[first] ?? first;
}
