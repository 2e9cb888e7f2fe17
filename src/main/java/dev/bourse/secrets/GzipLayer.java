package dev.bourse.secrets;

import dev.bourse.secrets.SecretScan.Finding;
import java.util.Optional;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Unpacks a gzip file (RFC 1952), member after member. A file that turns out not to be gzip is no
 * error, because its own bytes are scanned anyway.
 */
final class GzipLayer implements SecretLayer {
  private static final int PIECE = 32 * 1024;
  private static final int EXTRA = 4;
  private static final int NAME = 8;
  private static final int COMMENT = 16;
  private static final int HEADER_SUM = 2;
  private static final int KNOWN_FLAGS = 31;

  /** The part of the file that comes next. */
  private enum Part {
    FIXED,
    EXTRA_LENGTH,
    EXTRA,
    NAME,
    COMMENT,
    HEADER_SUM,
    PACKED,
    TRAILER,
    NOTHING
  }

  private final SecretScan scan;
  private final Inflater inflater = new Inflater(true);
  private final byte[] unpacked = new byte[PIECE];
  private Part part = Part.FIXED;

  /** Bytes of this part received so far. */
  private int count;

  private int flags;
  private int extraLength;
  private final Unpacking unpacking;

  GzipLayer(String name, int depth, Unpacking unpacking) {
    this.unpacking = unpacking;
    this.scan = SecretScan.ofLayer(SecretFileNames.unpacked(name), depth + 1, unpacking);
  }

  @Override
  public Optional<Finding> inspect(byte[] bytes, int from, int to) {
    Optional<Finding> found = Optional.empty();
    int i = from;
    while (i < to && part != Part.NOTHING && found.isEmpty()) {
      if (part == Part.PACKED) {
        inflater.setInput(bytes, i, to - i);
        found = inflate();
        i = to - inflater.getRemaining();
      } else {
        step(bytes[i] & 0xff);
        i++;
      }
    }
    return found;
  }

  /** Unpacks the available bytes, up to the member's end. */
  private Optional<Finding> inflate() {
    Optional<Finding> found = Optional.empty();
    try {
      while (found.isEmpty() && part == Part.PACKED) {
        if (!unpacking.isAllowed()) {
          leave();
          return found;
        }
        int length = inflater.inflate(unpacked);
        unpacking.addUnpacked(length, 1);
        found = scan.inspect(unpacked, 0, length);
        if (inflater.finished()) {
          go(Part.TRAILER);
        } else if (inflater.needsDictionary()) {
          leave();
        } else if (length == 0) {
          return found;
        }
      }
    } catch (DataFormatException notPacked) {
      leave();
    }
    return found;
  }

  /** Processes a byte of a header or trailer. */
  private void step(int value) {
    count++;
    switch (part) {
      case FIXED -> fixed(value);
      case EXTRA_LENGTH -> {
        extraLength |= value << (8 * (count - 1));
        if (count == 2) {
          go(extraLength == 0 ? afterExtra() : Part.EXTRA);
        }
      }
      case EXTRA -> goWhen(count == extraLength, afterExtra());
      case NAME -> goWhen(value == 0, afterName());
      case COMMENT -> goWhen(value == 0, afterComment());
      case HEADER_SUM -> goWhen(count == 2, Part.PACKED);
      case TRAILER -> {
        if (count == 8) {
          inflater.reset();
          go(Part.FIXED);
        }
      }
      case PACKED, NOTHING -> throw new IllegalStateException("no byte of " + part);
    }
  }

  private void fixed(int value) {
    boolean isKnown =
        switch (count) {
          case 1 -> value == 0x1f;
          case 2 -> value == 0x8b;
          case 3 -> value == 8;
          case 4 -> (value & ~KNOWN_FLAGS) == 0;
          default -> true;
        };
    if (!isKnown) {
      leave();
    } else if (count == 4) {
      flags = value;
    } else if (count == 10) {
      extraLength = 0;
      go((flags & EXTRA) != 0 ? Part.EXTRA_LENGTH : afterExtra());
    }
  }

  private Part afterExtra() {
    return (flags & NAME) != 0 ? Part.NAME : afterName();
  }

  private Part afterName() {
    return (flags & COMMENT) != 0 ? Part.COMMENT : afterComment();
  }

  private Part afterComment() {
    return (flags & HEADER_SUM) != 0 ? Part.HEADER_SUM : Part.PACKED;
  }

  private void goWhen(boolean isOver, Part next) {
    if (isOver) {
      go(next);
    }
  }

  private void go(Part next) {
    part = next;
    count = 0;
  }

  private void leave() {
    go(Part.NOTHING);
    inflater.end();
  }

  @Override
  public Optional<Finding> end() {
    if (part != Part.NOTHING) {
      leave();
    }
    return scan.end();
  }
}
