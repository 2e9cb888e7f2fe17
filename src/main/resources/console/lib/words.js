/** Amounts of money in words, so that a digit too many is seen before it is booked. */

const SMALL = 'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' ');
const TENS = '- - twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const GROUPS = ['', ' thousand', ' million', ' billion'];

/** @param {number} number below 1000 */
function belowThousand(number) {
  const hundreds = Math.floor(number / 100);
  const rest = number % 100;
  const words = hundreds > 0 ? [`${SMALL[hundreds]} hundred`] : [];
  if (rest > 0 && rest < SMALL.length) {
    words.push(SMALL[rest]);
  } else if (rest > 0) {
    const unit = rest % 10;
    words.push(TENS[Math.floor(rest / 10)] + (unit > 0 ? `-${SMALL[unit]}` : ''));
  }
  return words.join(' ');
}

/** @param {number} number a whole number below a trillion, not negative */
function wholeWords(number) {
  if (number === 0) {
    return SMALL[0];
  }
  const words = [];
  for (let group = 0, rest = number; rest > 0; group++, rest = Math.floor(rest / 1000)) {
    if (rest % 1000 > 0) {
      words.unshift(belowThousand(rest % 1000) + GROUPS[group]);
    }
  }
  return words.join(' ');
}

/**
 * An amount in words: 1250.5 is "one thousand two hundred fifty dollars and fifty cents". '' for what is no amount.
 * @param {number} dollars positive or negative, with at most two decimals
 */
export function amountInWords(dollars) {
  const cents = Math.round(Math.abs(dollars) * 100);
  // Words that round a third decimal away would not be what is sent.
  if (!Number.isFinite(cents) || cents >= 1e14 || Math.abs(Math.abs(dollars) * 100 - cents) > 1e-3) {
    return '';
  }
  const [whole, part] = [Math.floor(cents / 100), cents % 100];
  const words = `${wholeWords(whole)} ${whole === 1 ? 'dollar' : 'dollars'}${part > 0 ? ` and ${wholeWords(part)} ${part === 1 ? 'cent' : 'cents'}` : ''}`;
  return dollars < 0 ? `minus ${words}` : words;
}
