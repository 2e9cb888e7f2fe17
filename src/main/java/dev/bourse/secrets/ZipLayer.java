package dev.bourse.secrets;

import dev.bourse.secrets.SecretScan.Finding;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Inspects the members of a zip in order of their local headers: their names, and the content of
 * deflated ones. The bytes of stored members are part of the file's and are scanned there; here
 * only their other forms are inspected. Encrypted members and those of other methods are skipped.
 *
 * <p>The directory at the end is ignored, because it arrives after the members. For a member whose
 * length comes after it, the next header is searched for.
 */
final class ZipLayer implements SecretLayer {
  private static final int PIECE = 32 * 1024;
  private static final int HEADER = 30;

  /** {@code PK} and 3, 4, as a number that is shifted in byte by byte. */
  private static final int SIGNATURE = 0x504b0304;

  private static final int ENCRYPTED = 1;
  private static final int LENGTH_BEHIND = 8;
  private static final int STORED = 0;
  private static final int DEFLATED = 8;
  private static final long UNKNOWN = 0xffffffffL;

  /** The part of the file that comes next. */
  private enum Part {
    SIGNATURE,
    HEADER,
    NAME,
    EXTRA,
    /** A stored member of known length. */
    STORED,
    /** A stored member that ends at the next header. */
    OPEN,
    DEFLATED,
    /** A member that cannot be read. */
    SKIPPED,
    NOTHING
  }

  private final Unpacking unpacking;
  private final SecretScan scan;
  private final Inflater inflater = new Inflater(true);
  private final byte[] unpacked = new byte[PIECE];
  private final byte[] header = new byte[HEADER];
  private final StringBuilder names = new StringBuilder();
  private Part part = Part.SIGNATURE;
  private int last;
  private int count;

  /** The remaining bytes of this part. */
  private long rest;

  private String name = "";

  ZipLayer(int depth, Unpacking unpacking) {
    this.unpacking = unpacking;
    this.scan = SecretScan.ofLayer("", depth + 1, unpacking);
  }

  @Override
  public Optional<Finding> inspect(byte[] bytes, int from, int to) {
    Optional<Finding> found = Optional.empty();
    int i = from;
    while (i < to && part != Part.NOTHING && found.isEmpty()) {
      switch (part) {
        case SIGNATURE -> i = seek(bytes, i, to);
        case HEADER -> {
          header[count++] = bytes[i++];
          if (count == HEADER) {
            go(Part.NAME, number(26, 2));
          }
        }
        case NAME -> {
          names.append((char) (bytes[i++] & 0xff));
          rest--;
        }
        case EXTRA -> {
          int length = (int) Math.min(rest, to - i);
          i += length;
          rest -= length;
        }
        case STORED, SKIPPED -> {
          int length = (int) Math.min(rest, to - i);
          found = part == Part.STORED ? within(scan.inspect(bytes, i, i + length)) : found;
          i += length;
          rest -= length;
        }
        case OPEN -> {
          int end = seek(bytes, i, to);
          found = within(scan.inspect(bytes, i, end));
          i = end;
        }
        case DEFLATED -> {
          inflater.setInput(bytes, i, to - i);
          found = inflate();
          i = to - inflater.getRemaining();
        }
        case NOTHING -> throw new IllegalStateException("nothing more is read");
      }
      found = found.isPresent() ? found : advance();
    }
    return found;
  }

  /** Skips past the next header's signature, or to the end of the bytes. */
  private int seek(byte[] bytes, int from, int to) {
    int i = from;
    while (i < to && last != SIGNATURE) {
      last = last << 8 | (bytes[i++] & 0xff);
    }
    return i;
  }

  /** Continues with the next part when this one is complete. */
  private Optional<Finding> advance() {
    Optional<Finding> found = Optional.empty();
    if ((part == Part.SIGNATURE || part == Part.OPEN) && last == SIGNATURE) {
      found = part == Part.OPEN ? within(scan.end()) : found;
      last = 0;
      count = 4;
      names.setLength(0);
      part = unpacking.addMember() ? Part.HEADER : Part.NOTHING;
    }
    if (part == Part.NAME && rest == 0) {
      go(Part.EXTRA, number(28, 2));
    }
    if (part == Part.EXTRA && rest == 0) {
      return begin();
    }
    if ((part == Part.STORED || part == Part.SKIPPED) && rest == 0) {
      found = part == Part.STORED ? within(scan.end()) : found;
      part = Part.SIGNATURE;
    }
    return found;
  }

  private Optional<Finding> begin() {
    int flags = (int) number(6, 2);
    int method = (int) number(8, 2);
    long packed = number(18, 4);
    boolean isKnown = (flags & LENGTH_BEHIND) == 0 && packed != UNKNOWN;
    name = names.toString();
    scan.restart(SecretFileNames.plain(name), method != STORED);
    rest = packed;
    if ((flags & ENCRYPTED) != 0 || (method != STORED && method != DEFLATED)) {
      part = isKnown ? Part.SKIPPED : Part.SIGNATURE;
    } else if (method == DEFLATED) {
      inflater.reset();
      part = Part.DEFLATED;
    } else {
      part = isKnown ? Part.STORED : Part.OPEN;
    }
    return within(scan.found());
  }

  /** Unpacks the available bytes, up to the member's end. */
  private Optional<Finding> inflate() {
    try {
      while (true) {
        if (!unpacking.isAllowed()) {
          leave();
          return Optional.empty();
        }
        int length = inflater.inflate(unpacked);
        unpacking.addUnpacked(length, 1);
        Optional<Finding> found = within(scan.inspect(unpacked, 0, length));
        if (found.isPresent()) {
          return found;
        }
        if (inflater.finished() || inflater.needsDictionary()) {
          part = Part.SIGNATURE;
          return within(scan.end());
        }
        if (length == 0) {
          return Optional.empty();
        }
      }
    } catch (DataFormatException damaged) {
      part = Part.SIGNATURE;
      return within(scan.end());
    }
  }

  private long number(int at, int length) {
    long number = 0;
    for (int i = length - 1; i >= 0; i--) {
      number = number << 8 | (header[at + i] & 0xff);
    }
    return number;
  }

  private void go(Part next, long length) {
    part = next;
    rest = length;
  }

  private Optional<Finding> within(Optional<Finding> found) {
    return found.map(
        one ->
            one.within(
                new String(name.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8)));
  }

  private void leave() {
    part = Part.NOTHING;
    inflater.end();
  }

  @Override
  public Optional<Finding> end() {
    boolean isOpen = part == Part.STORED || part == Part.OPEN || part == Part.DEFLATED;
    Optional<Finding> found = isOpen ? within(scan.end()) : Optional.empty();
    leave();
    return found;
  }
}
