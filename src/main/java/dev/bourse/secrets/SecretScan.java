package dev.bourse.secrets;

import dev.bourse.secrets.SecretRule.Judge;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Looks for credentials in a file that arrives piece by piece: {@link #inspect} for each piece in
 * order, then {@link #end}. The first finding stays the answer of every later call.
 *
 * <p>What is found does not depend on the pieces: a keyword is judged only once all that its rule
 * may read has arrived ({@value SecretText#AFTER} bytes, or the end), so a finding may come up to
 * {@value #BLOCK} bytes and that late, and nothing may be published before {@link #end} was asked.
 *
 * <p>Text in UTF-16 that begins with its mark, and what a gzip file unpacks to up to a bound, are
 * looked into beside the file's own bytes; a finding in either may come first. Other packed and
 * encrypted contents, and what is packed twice, are not.
 *
 * <p>Memory is constant, some 85 KiB, and as much again for each of those. Not safe for use by
 * several threads at once.
 */
public final class SecretScan {
  /**
   * A credential in the file; never the credential itself.
   *
   * @param rule what kind it is: {@code github-token}, {@code private-key}, … {@code file-name}
   *     when the name of the file alone refuses it
   * @param offset of its first byte, or of the first byte of its name when it has one; in what it
   *     unpacks to for a gzip file
   */
  public record Finding(String rule, long offset) {}

  private static final List<SecretRule> RULES = SecretRule.ALL;
  private static final Keywords KEYWORDS =
      new Keywords(RULES.stream().map(SecretRule::keywords).toList());

  /** Fits the second-level cache with the piece it is filled from. */
  private static final int BLOCK = 64 * 1024;

  private static final int CAPACITY = SecretText.BEFORE + BLOCK + SecretText.AFTER;

  private final int capacity;
  private final byte[] buffer;
  private final SecretText text;
  private final Judge[] judges;

  /** The offset in the file of the buffer's first byte. */
  private long base;

  private int filled;

  /** The next place of the buffer to look at; keywords that begin before the last were judged. */
  private int next;

  private boolean ended;
  private Optional<Finding> finding;

  private final String plain;
  private final boolean mayBePacked;

  /** The first byte, once it came; the second tells whether there is a layer. */
  private int first = -1;

  private boolean isBegun;
  private @Nullable SecretLayer layer;

  /**
   * A scan of a file.
   *
   * @param fileName as the uploader calls it, with or without folders
   */
  public SecretScan(String fileName) {
    this(SecretFileNames.plain(fileName), true, CAPACITY);
  }

  /**
   * @param capacity bytes that are in memory at once; fewer than {@link #CAPACITY} only where no
   *     more than these come
   */
  private SecretScan(String plain, boolean mayBePacked, int capacity) {
    this.plain = plain;
    this.mayBePacked = mayBePacked;
    this.capacity = capacity;
    buffer = new byte[capacity + Keywords.MARGIN];
    text = new SecretText(buffer);
    judges = RULES.stream().map(rule -> rule.judge().apply(plain)).toArray(Judge[]::new);
    finding = ofPlainName(plain);
  }

  private static Optional<Finding> ofPlainName(String plain) {
    return SecretFileNames.isRefused(plain)
        ? Optional.of(new Finding("file-name", 0))
        : Optional.empty();
  }

  /** A scan of what a layer shows, in which nothing packed is looked for. */
  static SecretScan ofLayer(String plainName) {
    return new SecretScan(plainName, false, CAPACITY);
  }

  /**
   * Judges a file by its name alone.
   *
   * @param fileName as the uploader calls it, with or without folders
   */
  public static Optional<Finding> ofName(String fileName) {
    return ofPlainName(SecretFileNames.plain(fileName));
  }

  /**
   * Looks for a credential in text that comes with a file. Takes memory as the text is long, for a
   * set brings thousands of short ones at once.
   */
  public static Optional<Finding> ofText(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    SecretScan scan = new SecretScan("", true, Math.min(bytes.length, CAPACITY));
    scan.inspect(bytes, 0, bytes.length);
    return scan.end();
  }

  /**
   * Takes the next bytes of the file; keeps no reference to the array.
   *
   * @throws IllegalStateException after {@link #end}
   * @throws IndexOutOfBoundsException when the range is not within the array
   */
  public Optional<Finding> inspect(byte[] bytes, int from, int to) {
    Objects.checkFromToIndex(from, to, bytes.length);
    if (ended) {
      throw new IllegalStateException("the file has ended");
    }
    int rest = from;
    while (rest < to && finding.isEmpty()) {
      if (filled == capacity) {
        dropJudged();
      }
      int length = Math.min(to - rest, capacity - filled);
      System.arraycopy(bytes, rest, buffer, filled, length);
      filled += length;
      rest += length;
      judgeUpTo(filled - SecretText.AFTER);
    }
    if (finding.isEmpty() && (layer != null || !isBegun)) {
      inspectLayer(bytes, from, to);
    }
    return finding;
  }

  private void inspectLayer(byte[] bytes, int from, int to) {
    int i = from;
    if (first < 0 && i < to) {
      first = bytes[i++] & 0xff;
    }
    if (!isBegun && i < to) {
      isBegun = true;
      int second = bytes[i++] & 0xff;
      layer = SecretLayer.of(plain, first, second, mayBePacked);
      if (layer != null) {
        finding = layer.inspect(new byte[] {(byte) first, (byte) second}, 0, 2);
      }
    }
    if (layer != null && finding.isEmpty()) {
      finding = layer.inspect(bytes, i, to);
    }
  }

  /** Judges the last bytes; no more may come. */
  public Optional<Finding> end() {
    if (!ended) {
      ended = true;
      Arrays.fill(buffer, filled, filled + Keywords.MARGIN, (byte) 0);
      if (finding.isEmpty()) {
        judgeUpTo(filled);
      }
      if (layer != null) {
        Optional<Finding> inLayer = layer.end();
        finding = finding.isPresent() ? finding : inLayer;
      }
    }
    return finding;
  }

  private void judgeUpTo(int limit) {
    int place = KEYWORDS.next(buffer, next, limit);
    while (place < limit) {
      if (judgeAt(place - 1) || judgeAt(place)) {
        return;
      }
      place = KEYWORDS.next(buffer, place + 2, limit);
    }
    next = Math.max(next, place);
  }

  /** Judges all keywords that start there; whether one of them is a finding. */
  private boolean judgeAt(int start) {
    if (start < 0) {
      return false;
    }
    for (int entry = KEYWORDS.first(buffer, start); entry != 0; entry = KEYWORDS.following(entry)) {
      if (KEYWORDS.isAt(entry, buffer, start, filled)) {
        text.look(start, filled, base);
        int rule = KEYWORDS.rule(entry);
        int found = judges[rule].judge(text, start, start + KEYWORDS.length(entry));
        if (found != SecretText.NOTHING) {
          finding = Optional.of(new Finding(RULES.get(rule).name(), base + found));
          return true;
        }
      }
    }
    return false;
  }

  private void dropJudged() {
    int kept = Math.max(0, next - 1 - SecretText.BEFORE);
    System.arraycopy(buffer, kept, buffer, 0, filled - kept);
    base += kept;
    filled -= kept;
    next -= kept;
  }
}
