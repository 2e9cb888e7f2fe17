/**
 * SHA-256 of files, a slice at a time. The browser's own digests take all bytes at once, so a file as large as the
 * memory would not fit, and pages that are served without TLS do not have them.
 */

/** A slice that is digested in some milliseconds, so that the page stays responsive. */
const SLICE_BYTES = 2 ** 20;

const BLOCK = 64;

const { ROOTS, START } = constants();

/** The fractions of cube roots and square roots of the first primes, as the standard defines its constants. */
function constants() {
  const roots = new Int32Array(64);
  const start = new Int32Array(8);
  for (let number = 2, found = 0; found < 64; number++) {
    let prime = true;
    for (let factor = 2; factor * factor <= number; factor++) {
      prime &&= number % factor !== 0;
    }
    if (prime) {
      if (found < 8) {
        start[found] = fraction(number ** (1 / 2));
      }
      roots[found++] = fraction(number ** (1 / 3));
    }
  }
  return { ROOTS: roots, START: start };
}

/** @param {number} root */
function fraction(root) {
  return ((root - Math.floor(root)) * 2 ** 32) | 0;
}

/** A digest under way. */
class Digest {
  constructor() {
    this.state = START.slice();
    this.words = new Int32Array(64);
    this.rest = new Uint8Array(BLOCK);
    this.restBytes = 0;
    this.bytes = 0;
  }

  /** @param {Uint8Array} bytes */
  add(bytes) {
    this.bytes += bytes.length;
    let at = 0;
    if (this.restBytes > 0) {
      at = Math.min(BLOCK - this.restBytes, bytes.length);
      this.rest.set(bytes.subarray(0, at), this.restBytes);
      this.restBytes += at;
      if (this.restBytes < BLOCK) {
        return;
      }
      this.block(this.rest, 0);
    }
    for (; at + BLOCK <= bytes.length; at += BLOCK) {
      this.block(bytes, at);
    }
    this.rest.set(bytes.subarray(at));
    this.restBytes = bytes.length - at;
  }

  /** @param {Uint8Array} bytes @param {number} from */
  block(bytes, from) {
    const { words, state } = this;
    for (let i = 0, at = from; i < 16; i++, at += 4) {
      words[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
    }
    for (let i = 16; i < 64; i++) {
      const x = words[i - 15];
      const y = words[i - 2];
      const early = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const late = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      words[i] = (words[i - 16] + early + words[i - 7] + late) | 0;
    }
    let a = state[0];
    let b = state[1];
    let c = state[2];
    let d = state[3];
    let e = state[4];
    let f = state[5];
    let g = state[6];
    let h = state[7];
    for (let i = 0; i < 64; i++) {
      const high = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const first = (h + high + ((e & f) ^ (~e & g)) + ROOTS[i] + words[i]) | 0;
      const low = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const second = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + second) | 0;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
  }

  /** The digest in hex; nothing can be added after it. */
  hex() {
    const bits = this.bytes * 8;
    const padding = new Uint8Array((this.restBytes < BLOCK - 8 ? BLOCK : 2 * BLOCK) - this.restBytes);
    padding[0] = 0x80;
    const length = new DataView(padding.buffer, padding.length - 8);
    length.setUint32(0, Math.floor(bits / 2 ** 32));
    length.setUint32(4, bits >>> 0);
    this.add(padding);
    return [...this.state].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }
}

/** The SHA-256 of a text in UTF-8, in hex. @param {string} text */
export function sha256OfText(text) {
  const digest = new Digest();
  digest.add(new TextEncoder().encode(text));
  return digest.hex();
}

/**
 * The SHA-256 of a file, in hex.
 * @param {Blob} file
 * @param {(bytes: number) => void} read called with the length of each slice
 * @param {AbortSignal} signal
 */
export async function sha256(file, read, signal) {
  const digest = new Digest();
  for (let at = 0; at < file.size; at += SLICE_BYTES) {
    signal.throwIfAborted();
    const slice = new Uint8Array(await file.slice(at, at + SLICE_BYTES).arrayBuffer());
    digest.add(slice);
    read(slice.length);
  }
  return digest.hex();
}
