/** How figures read. Each takes null for what is not known and shows a dash. */

const NONE = '–';

/** @param {number} least @param {number} most */
function dollarsWith(least, most) {
  return new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency: 'USD',
    // What rounds to nothing has no sign.
    signDisplay: 'negative',
    minimumFractionDigits: least,
    maximumFractionDigits: most,
  });
}

const DOLLARS = dollarsWith(2, 2);
const FINE_DOLLARS = dollarsWith(2, 6);
const WHOLE = new Intl.NumberFormat('en-US');
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const SHORT_DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const MINUTE = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});

/** @typedef {string | number | Date | null | undefined} Moment RFC 3339 text, epoch milliseconds, or a date */

/** Dollars as served: 2.5 is $2.50. @param {number | null | undefined} amount */
export function dollars(amount) {
  return amount === null || amount === undefined ? NONE : DOLLARS.format(amount);
}

/** Cents: 250 is $2.50. @param {number | null | undefined} amount */
export function cents(amount) {
  return amount === null || amount === undefined ? NONE : DOLLARS.format(amount / 100);
}

/** Millionths of a dollar: 2500000 is $2.50. @param {number | null | undefined} amount */
export function micros(amount) {
  return amount === null || amount === undefined ? NONE : FINE_DOLLARS.format(amount / 1e6);
}

/** Millionths of a dollar to the cent, where many stand together: 2534567 is $2.53. @param {number | null | undefined} amount */
export function roughly(amount) {
  return amount === null || amount === undefined ? NONE : DOLLARS.format(amount / 1e6);
}

/** @param {number | null | undefined} number */
export function whole(number) {
  return number === null || number === undefined ? NONE : WHOLE.format(number);
}

/**
 * A number and its noun: 1 node, 2 nodes.
 * @param {number} number
 * @param {string} one
 * @param {string} [many]
 */
export function count(number, one, many = `${one}s`) {
  return `${WHOLE.format(number)} ${number === 1 ? one : many}`;
}

/** @param {Moment} moment */
function date(moment) {
  return moment === null || moment === undefined || moment === '' ? null : new Date(moment);
}

/** Day and minute, in the reader's time zone. @param {Moment} moment */
export function time(moment) {
  const at = date(moment);
  return at ? MINUTE.format(at) : NONE;
}

/** The day, in the reader's time zone. @param {Moment} moment */
export function day(moment) {
  const at = date(moment);
  return at ? DAY.format(at) : NONE;
}

/** The time of day to the second, after the day if that is not today. @param {Moment} moment */
export function clock(moment) {
  const at = date(moment);
  if (!at) {
    return NONE;
  }
  return at.toDateString() === new Date().toDateString() ? CLOCK.format(at) : `${SHORT_DAY.format(at)}, ${CLOCK.format(at)}`;
}

/**
 * When several things happen: "at 08:37:00", "the first at 08:37:00" if they differ or some are unknown, '' if none is
 * known.
 * @param {(string | null)[]} moments
 */
export function firstAt(moments) {
  const known = moments.filter((one) => one !== null).sort((a, b) => Date.parse(a) - Date.parse(b));
  if (known.length === 0) {
    return '';
  }
  const first = clock(known[0]);
  const isSame = known.length === moments.length && clock(known[known.length - 1]) === first;
  return `${isSame ? 'at' : 'the first at'} ${first}`;
}

/** What a node is called: its address, or its name in a Kubernetes cluster; null if it has no address yet. @param {any} node @returns {string | null} */
export function nodeName(node) {
  return node.public_ip ?? node.name ?? null;
}

/** "you lose 3 nodes at 08:37:00". @param {any[]} losses @param {string} otherwise when, if no time is known */
export function lossTitle(losses, otherwise) {
  const when = firstAt(losses.map(({ reclaim_at: at }) => at));
  return `At today’s bids you lose ${count(losses.length, 'node')}${when.startsWith('the') ? ', ' : ' '}${when || otherwise}`;
}

/** The time of day to the second, in the reader's time zone. @param {Moment} moment */
export function second(moment) {
  const at = date(moment);
  return at ? CLOCK.format(at) : NONE;
}

/** The same moment in UTC, for titles. @param {Moment} moment */
export function utc(moment) {
  const at = date(moment);
  return at ? `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC` : '';
}

/**
 * A span in the two largest units that say something: 3 d 4 h, 12 min, 40 s.
 * @param {number} millis
 */
export function duration(millis) {
  let seconds = Math.max(0, Math.round(millis / 1000));
  const parts = [];
  for (const [unit, size] of /** @type {[string, number][]} */ ([['d', 86400], ['h', 3600], ['min', 60], ['s', 1]])) {
    const number = Math.floor(seconds / size);
    if (number > 0 || (unit === 's' && parts.length === 0)) {
      parts.push(`${number} ${unit}`);
      seconds -= number * size;
    } else if (parts.length > 0) {
      break;
    }
    if (parts.length === 2) {
      break;
    }
  }
  return parts.join(' ');
}

/** How long ago, or how long until. @param {Moment} moment */
export function ago(moment) {
  const at = date(moment);
  if (!at) {
    return NONE;
  }
  const passed = Date.now() - at.getTime();
  if (Math.abs(passed) < 5000) {
    return 'just now';
  }
  return passed > 0 ? `${duration(passed).split(/(?<=[a-z]) /)[0]} ago` : `in ${duration(-passed)}`;
}

/** Bytes in binary units: 32 MiB. @param {number | null | undefined} bytes */
export function bytes(bytes) {
  if (bytes === null || bytes === undefined) {
    return NONE;
  }
  let size = bytes;
  for (const unit of ['bytes', 'KiB', 'MiB', 'GiB']) {
    if (size < 1024 || unit === 'GiB') {
      return `${unit === 'bytes' ? size : size.toFixed(size < 10 ? 1 : 0)} ${unit}`;
    }
    size /= 1024;
  }
  return NONE;
}
