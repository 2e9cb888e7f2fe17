package dev.bourse.secrets;

import dev.bourse.secrets.SecretScan.Finding;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Inspects the members of a tar (POSIX ustar and pax, GNU): their names and their other forms.
 * Their own bytes are part of the archive's and are scanned there.
 */
final class TarLayer implements SecretLayer {
  private static final int BLOCK = 512;
  private static final int MAGIC = 257;

  /** Longer names and longer pax headers are ignored. */
  private static final int LONGEST_NAME = 8 * 1024;

  /** The part of the file that comes next. */
  private enum Part {
    HEADER,
    LONG_NAME,
    MEMBER,
    PADDING,
    NOTHING
  }

  private final Unpacking unpacking;
  private final SecretScan scan;
  private final byte[] header = new byte[BLOCK];
  private final StringBuilder longName = new StringBuilder();
  private Part part = Part.HEADER;
  private int count;

  /** The remaining bytes of this part. */
  private long rest;

  private int padding;
  private int kind;
  private String name = "";

  TarLayer(int depth, Unpacking unpacking) {
    this.unpacking = unpacking;
    this.scan = SecretScan.ofLayer("", depth + 1, unpacking);
  }

  static boolean isTar(byte[] head, int length) {
    return length >= BLOCK
        && head[MAGIC] == 'u'
        && head[MAGIC + 1] == 's'
        && head[MAGIC + 2] == 't'
        && head[MAGIC + 3] == 'a'
        && head[MAGIC + 4] == 'r';
  }

  @Override
  public Optional<Finding> inspect(byte[] bytes, int from, int to) {
    Optional<Finding> found = Optional.empty();
    int i = from;
    while (i < to && part != Part.NOTHING && found.isEmpty()) {
      boolean isHeader = part == Part.HEADER;
      int length = (int) Math.min(to - i, isHeader ? BLOCK - count : rest);
      switch (part) {
        case HEADER -> {
          System.arraycopy(bytes, i, header, count, length);
          count += length;
          found = count == BLOCK ? begin() : found;
        }
        case LONG_NAME -> {
          if (longName.length() < LONGEST_NAME) {
            int read = Math.min(length, LONGEST_NAME - longName.length());
            longName.append(new String(bytes, i, read, StandardCharsets.ISO_8859_1));
          }
        }
        case MEMBER -> found = within(scan.inspect(bytes, i, i + length));
        case PADDING, NOTHING -> {}
      }
      i += length;
      if (!isHeader && found.isEmpty()) {
        found = advance(length);
      }
    }
    return found;
  }

  /** Starts the member that a header describes. */
  private Optional<Finding> begin() {
    count = 0;
    if (!isTar(header, BLOCK) || !unpacking.addMember()) {
      part = Part.NOTHING; // the zeros at the end
      return Optional.empty();
    }
    rest = size();
    if (rest < 0) {
      part = Part.NOTHING;
      return Optional.empty();
    }
    padding = (int) ((BLOCK - rest % BLOCK) % BLOCK);
    kind = header[156];
    if (kind == 'L' || kind == 'x') {
      longName.setLength(0);
      part = Part.LONG_NAME;
      return advance(0);
    }
    name = name.isEmpty() ? text(0, 100) : name;
    part = Part.MEMBER;
    scan.restart(SecretFileNames.plain(name), false);
    Optional<Finding> found =
        kind == 0 || kind == '0' || kind == '7' ? within(scan.found()) : Optional.empty();
    return found.isPresent() ? found : advance(0);
  }

  /** Counts received bytes of the part, and ends it when it is complete. */
  private Optional<Finding> advance(long length) {
    rest -= length;
    Optional<Finding> found = Optional.empty();
    if (rest == 0 && part == Part.LONG_NAME) {
      name = kind == 'x' ? ofPax(longName.toString()) : until(longName.toString(), '\0');
      part = Part.PADDING;
      rest = padding;
    } else if (rest == 0 && part == Part.MEMBER) {
      found = within(scan.end());
      name = "";
      part = Part.PADDING;
      rest = padding;
    }
    if (rest == 0 && part == Part.PADDING) {
      part = Part.HEADER;
    }
    return found;
  }

  /** The size in octal digits, or in binary with the first bit set; -1 for other formats. */
  private long size() {
    long size = 0;
    if ((header[124] & 0x80) != 0) {
      for (int i = 128; i < 136; i++) {
        size = size << 8 | (header[i] & 0xff);
      }
      return size;
    }
    for (int i = 124; i < 136 && header[i] != 0 && header[i] != ' '; i++) {
      int digit = header[i] - '0';
      if (digit < 0 || digit > 7) {
        return -1;
      }
      size = size << 3 | digit;
    }
    return size;
  }

  private String text(int from, int length) {
    return until(new String(header, from, length, StandardCharsets.ISO_8859_1), '\0');
  }

  private static String until(String text, char end) {
    int at = text.indexOf(end);
    return at < 0 ? text : text.substring(0, at);
  }

  /** The path of {@code LENGTH path=…} lines; empty when there is none. */
  private static String ofPax(String headers) {
    int at = headers.indexOf(" path=");
    return at < 0 ? "" : until(headers.substring(at + 6), '\n');
  }

  private Optional<Finding> within(Optional<Finding> found) {
    return found.map(one -> one.within(name));
  }

  @Override
  public Optional<Finding> end() {
    Optional<Finding> found = part == Part.MEMBER ? within(scan.end()) : Optional.empty();
    part = Part.NOTHING;
    return found;
  }
}
