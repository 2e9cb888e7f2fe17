package dev.bourse.audit;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Encodes and decodes a segment: reads of one trail in the order of their ids. Pure.
 *
 * <p>Each text is written once, and so is each combination of actor, action, subject and detail. An
 * entry is the difference of its id and time to the previous entry, and the number of its
 * combination. The result is deflated, which halves the two bytes of a frequent token's entry and
 * saves a quarter for many different tokens. A checksum precedes it.
 */
final class ReadSegment {
  /** The largest number of reads in one commit; a batch of seals has about as many. */
  static final int MAX_ENTRIES = 1_024;

  /** The first byte, which differs for other formats. */
  private static final byte FORM = 1;

  private static final int HEAD_BYTES = 1 + Integer.BYTES + Integer.BYTES;

  /**
   * Far more than {@link #MAX_ENTRIES} with texts of maximum length take. It keeps damaged bytes
   * from causing a huge allocation.
   */
  private static final int MAX_BYTES = 64 << 20;

  /** The bytes are not a valid segment. */
  static final class DamagedSegmentException extends RuntimeException {
    DamagedSegmentException(String message) {
      super(message);
    }
  }

  private record Kind(String actor, String action, String subject, String detail) {}

  private ReadSegment() {}

  /**
   * Encodes entries in the order of their ids.
   *
   * @param entries at least one
   */
  static byte[] encode(List<TrailEntry> entries) {
    Map<String, Integer> texts = new LinkedHashMap<>();
    Map<Kind, Integer> kinds = new LinkedHashMap<>();
    Out rows = new Out();
    TrailEntry before = entries.get(0);
    rows.signed(before.atMillis());
    for (TrailEntry entry : entries) {
      Kind kind = new Kind(entry.actor(), entry.action(), entry.subject(), entry.detail());
      rows.unsigned(entry.id() - before.id());
      rows.signed(entry.atMillis() - before.atMillis());
      rows.unsigned(number(kinds, kind));
      before = entry;
    }
    Out named = new Out();
    for (Kind kind : kinds.keySet()) {
      named.unsigned(number(texts, kind.actor()));
      named.unsigned(number(texts, kind.action()));
      named.unsigned(number(texts, kind.subject()));
      named.unsigned(number(texts, kind.detail()));
    }
    Out all = new Out();
    all.unsigned(texts.size());
    texts.keySet().forEach(all::text);
    all.unsigned(kinds.size());
    all.writeBytes(named.toByteArray());
    all.unsigned(entries.size());
    all.writeBytes(rows.toByteArray());
    return deflated(all.toByteArray());
  }

  private static <T> int number(Map<T, Integer> numbers, T value) {
    int next = numbers.size();
    Integer known = numbers.putIfAbsent(value, next);
    return known == null ? next : known;
  }

  /**
   * Decodes the entries of a segment.
   *
   * @param firstId the id of the first entry
   * @throws DamagedSegmentException if {@link #encode} cannot have produced the bytes
   */
  static List<TrailEntry> decode(long firstId, byte[] bytes) {
    In in = new In(inflated(bytes));
    List<String> texts = new ArrayList<>();
    for (long n = in.count(); n > 0; n--) {
      texts.add(in.text());
    }
    List<Kind> kinds = new ArrayList<>();
    for (long n = in.count(); n > 0; n--) {
      kinds.add(new Kind(in.of(texts), in.of(texts), in.of(texts), in.of(texts)));
    }
    List<TrailEntry> entries = new ArrayList<>();
    long n = in.count();
    long id = firstId;
    long atMillis = in.signed();
    for (; n > 0; n--) {
      id += in.unsigned();
      atMillis += in.signed();
      Kind kind = in.of(kinds);
      entries.add(new TrailEntry(id, atMillis, kind.actor, kind.action, kind.subject, kind.detail));
    }
    in.end();
    return entries;
  }

  private static byte[] deflated(byte[] plain) {
    // Runs once per flush and organization; a higher level would save only a few percent.
    Deflater deflater = new Deflater(Deflater.BEST_SPEED, true);
    try {
      deflater.setInput(plain);
      deflater.finish();
      ByteArrayOutputStream out = new ByteArrayOutputStream(HEAD_BYTES + plain.length / 2);
      out.writeBytes(
          ByteBuffer.allocate(HEAD_BYTES)
              .put(FORM)
              .putInt(checksum(plain))
              .putInt(plain.length)
              .array());
      byte[] buffer = new byte[8192];
      while (!deflater.finished()) {
        out.write(buffer, 0, deflater.deflate(buffer));
      }
      return out.toByteArray();
    } finally {
      deflater.end();
    }
  }

  private static byte[] inflated(byte[] bytes) {
    if (bytes.length < HEAD_BYTES || bytes[0] != FORM) {
      throw new DamagedSegmentException("its first byte is not that of a segment");
    }
    ByteBuffer head = ByteBuffer.wrap(bytes, 1, HEAD_BYTES - 1);
    int checksum = head.getInt();
    int length = head.getInt();
    if (length < 0 || length > MAX_BYTES) {
      throw new DamagedSegmentException("it declares " + length + " bytes");
    }
    Inflater inflater = new Inflater(true);
    try {
      inflater.setInput(bytes, HEAD_BYTES, bytes.length - HEAD_BYTES);
      byte[] plain = new byte[length];
      int at = 0;
      while (at < length) {
        int more = inflater.inflate(plain, at, length - at);
        if (more == 0) {
          throw new DamagedSegmentException("it ends after " + at + " of " + length + " bytes");
        }
        at += more;
      }
      if (inflater.inflate(new byte[1]) != 0
          || !inflater.finished()
          || inflater.getRemaining() != 0) {
        throw new DamagedSegmentException("it continues after " + length + " bytes");
      }
      if (checksum(plain) != checksum) {
        throw new DamagedSegmentException("its checksum differs");
      }
      return plain;
    } catch (DataFormatException e) {
      throw new DamagedSegmentException("it cannot be inflated: " + e.getMessage());
    } finally {
      inflater.end();
    }
  }

  private static int checksum(byte[] plain) {
    CRC32 crc = new CRC32();
    crc.update(plain);
    return (int) crc.getValue();
  }

  /**
   * Writes integers in groups of seven bits, lowest first; signed ones with the sign in the lowest
   * bit.
   */
  private static final class Out extends ByteArrayOutputStream {
    void unsigned(long value) {
      long rest = value;
      while ((rest & ~0x7fL) != 0) {
        write((int) (rest & 0x7f) | 0x80);
        rest >>>= 7;
      }
      write((int) rest);
    }

    void signed(long value) {
      unsigned(value << 1 ^ value >> 63);
    }

    void text(String value) {
      byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
      unsigned(bytes.length);
      writeBytes(bytes);
    }
  }

  private static final class In {
    private final byte[] bytes;
    private int at;

    In(byte[] bytes) {
      this.bytes = bytes;
    }

    long unsigned() {
      long value = 0;
      for (int shift = 0; shift < Long.SIZE; shift += 7) {
        if (at == bytes.length) {
          throw new DamagedSegmentException("it ends within a number");
        }
        byte next = bytes[at++];
        value |= (next & 0x7fL) << shift;
        if (next >= 0) {
          return value;
        }
      }
      throw new DamagedSegmentException("it has a number of more than 64 bits");
    }

    long signed() {
      long value = unsigned();
      return value >>> 1 ^ -(value & 1);
    }

    /** Reads a count of items, each of which has at least one byte. */
    long count() {
      long count = unsigned();
      if (count < 0 || count > bytes.length - at) {
        throw new DamagedSegmentException(
            "it declares " + count + " items in " + (bytes.length - at) + " bytes");
      }
      return count;
    }

    String text() {
      int length = (int) count();
      String text = new String(bytes, at, length, StandardCharsets.UTF_8);
      at += length;
      return text;
    }

    <T> T of(List<T> values) {
      long number = unsigned();
      if (number < 0 || number >= values.size()) {
        throw new DamagedSegmentException("it refers to item " + number + " of " + values.size());
      }
      return values.get((int) number);
    }

    void end() {
      if (at != bytes.length) {
        throw new DamagedSegmentException("it continues after its last entry");
      }
    }
  }

  /**
   * Shifts ids past those that other processes took in between, because a segment is encoded before
   * its ids are known.
   *
   * @param skips {@code place:ids} separated by commas: the number of ids that others took before
   *     the entry at a position
   * @throws DamagedSegmentException if the text is malformed
   */
  static List<TrailEntry> skipping(List<TrailEntry> entries, String skips) {
    if (skips.isEmpty()) {
      return entries;
    }
    long[] added = new long[entries.size()];
    for (String skip : skips.split(",", -1)) {
      int colon = skip.indexOf(':');
      try {
        int place = Integer.parseInt(skip.substring(0, Math.max(0, colon)));
        added[place] = Long.parseLong(skip.substring(colon + 1));
      } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
        throw new DamagedSegmentException("its skipped ids are malformed: " + skips);
      }
    }
    Arrays.parallelPrefix(added, Long::sum);
    List<TrailEntry> moved = new ArrayList<>(entries.size());
    for (int i = 0; i < added.length; i++) {
      TrailEntry e = entries.get(i);
      moved.add(
          new TrailEntry(
              e.id() + added[i], e.atMillis(), e.actor(), e.action(), e.subject(), e.detail()));
    }
    return moved;
  }
}
