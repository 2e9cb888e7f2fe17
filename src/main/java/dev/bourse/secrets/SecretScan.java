package dev.bourse.secrets;

import dev.bourse.core.Text;
import dev.bourse.secrets.SecretRule.Judge;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Scans a file for credentials while it arrives: call {@link #inspect} for each piece in order,
 * then {@link #end}. After a finding, every later call returns it.
 *
 * <p>The result does not depend on the pieces: a keyword is judged when all bytes its rule may read
 * have arrived ({@value SecretText#AFTER} bytes, or the end). So a finding may come up to {@value
 * #BLOCK} plus that many bytes late, and nothing may be published before {@link #end} was called.
 *
 * <p>A {@link SecretLayer} (UTF-16 text; content of gzip, bzip2, xz, zip and tar) and {@link
 * EncodedRuns} (base64 and hexadecimal digits) are inspected alongside the file's own bytes, with
 * scans of their own, within the bounds of {@link Unpacking}; a finding in one may come first.
 *
 * <p>Memory is constant: some 85 KiB, the same again for each open layer, and that of an unpacker.
 * Not thread-safe.
 */
public final class SecretScan {
  /**
   * The place of a credential in a file; never the credential itself.
   *
   * @param rule the kind: {@code github-token}, {@code private-key}, … {@code file-name} if the
   *     name alone rejects the file
   * @param offset of its first byte, or of the first byte of its name if it has one; within the
   *     member, or in the unpacked file; for encoded text, of the text's first byte
   * @param member the path of the archive member that contains it; empty if there is none
   */
  public record Finding(String rule, long offset, String member) {
    private static final int LONGEST = 255;

    public Finding(String rule, long offset) {
      this(rule, offset, "");
    }

    Finding within(String outer) {
      String path = member.isEmpty() ? outer : outer + "/" + member;
      String shown = Text.plain(path.substring(0, Math.min(path.length(), LONGEST)));
      return new Finding(rule, offset, shown);
    }
  }

  private static final List<SecretRule> RULES = SecretRule.ALL;
  private static final Keywords KEYWORDS =
      new Keywords(RULES.stream().map(SecretRule::keywords).toList());

  /** Fits the second-level cache together with the piece it is filled from. */
  private static final int BLOCK = 64 * 1024;

  private static final int CAPACITY = SecretText.BEFORE + BLOCK + SecretText.AFTER;

  private final int capacity;
  private final byte[] buffer;
  private final SecretText text;
  private final Judge[] judges = new Judge[RULES.size()];

  /** The offset in the file of the buffer's first byte. */
  private long base;

  private int filled;

  /** The next place of the buffer to look at; all earlier keywords were judged. */
  private int next;

  private boolean ended;
  private Optional<Finding> finding = Optional.empty();

  private final int depth;
  private final Unpacking unpacking;
  private String plain = "";

  /** Whether the bytes themselves are judged, in addition to their other forms. */
  private boolean isJudged = true;

  /** The first bytes, which identify other forms of content; null after that. */
  private byte @Nullable [] head;

  private int headLength;
  private @Nullable SecretLayer layer;
  private @Nullable EncodedRuns runs;

  /**
   * A scan of a file.
   *
   * @param fileName the uploader's name for it, with or without folders
   */
  public SecretScan(String fileName) {
    this(SecretFileNames.plain(fileName), 0, new Unpacking(), CAPACITY);
  }

  /**
   * @param depth the number of enclosing layers
   * @param capacity the bytes in memory at once; fewer than {@link #CAPACITY} only if the file has
   *     no more
   */
  private SecretScan(String plain, int depth, Unpacking unpacking, int capacity) {
    this.depth = depth;
    this.unpacking = unpacking;
    this.capacity = capacity;
    buffer = new byte[capacity + Keywords.MARGIN];
    text = new SecretText(buffer);
    restart(plain, true);
  }

  /**
   * Starts over with another file.
   *
   * @param isJudged false if its own bytes are scanned elsewhere; then only its name and its other
   *     forms are inspected
   */
  void restart(String plain, boolean isJudged) {
    this.plain = plain;
    this.isJudged = isJudged || SecretFileNames.isOfSettings(plain);
    for (int i = 0; i < judges.length; i++) {
      judges[i] = RULES.get(i).judge().apply(plain);
    }
    base = 0;
    filled = 0;
    next = 0;
    ended = false;
    finding = ofPlainName(plain);
    head = new byte[Math.min(SecretLayer.HEAD, capacity)];
    headLength = 0;
    layer = null;
    if (runs != null) {
      runs.restart();
    }
  }

  private static Optional<Finding> ofPlainName(String plain) {
    return SecretFileNames.isRefused(plain)
        ? Optional.of(new Finding("file-name", 0))
        : Optional.empty();
  }

  /** A scan of the content of a layer. */
  static SecretScan ofLayer(String plainName, int depth, Unpacking unpacking) {
    return new SecretScan(plainName, depth, unpacking, CAPACITY);
  }

  /**
   * Judges a file by its name alone.
   *
   * @param fileName the uploader's name for it, with or without folders
   */
  public static Optional<Finding> ofName(String fileName) {
    return ofPlainName(SecretFileNames.plain(fileName));
  }

  /**
   * Scans a text that accompanies a file. Memory grows with the text, because a set can bring
   * thousands of short texts at once.
   */
  public static Optional<Finding> ofText(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    SecretScan scan = new SecretScan("", 0, new Unpacking(), Math.min(bytes.length, CAPACITY));
    scan.inspect(bytes, 0, bytes.length);
    return scan.end();
  }

  /**
   * Scans the next bytes of the file; keeps no reference to the array.
   *
   * @throws IllegalStateException after {@link #end}
   * @throws IndexOutOfBoundsException when the range is not within the array
   */
  public Optional<Finding> inspect(byte[] bytes, int from, int to) {
    Objects.checkFromToIndex(from, to, bytes.length);
    if (ended) {
      throw new IllegalStateException("the file has ended");
    }
    if (depth == 0) {
      unpacking.addSent(to - from);
    }
    int rest = isJudged ? from : to;
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
    if (finding.isEmpty()) {
      inspectLayer(bytes, from, to);
    }
    return finding;
  }

  private void inspectLayer(byte[] bytes, int from, int to) {
    int i = from;
    if (head != null) {
      int length = Math.min(to - i, head.length - headLength);
      System.arraycopy(bytes, i, head, headLength, length);
      headLength += length;
      i += length;
      if (headLength == head.length) {
        beginLayer();
      }
    }
    if (layer != null && finding.isEmpty()) {
      finding = layer.inspect(bytes, i, to);
    }
  }

  /** Called when the first bytes have arrived, or the file has ended. */
  private void beginLayer() {
    byte[] first = head;
    if (first != null) {
      head = null;
      layer = SecretLayer.of(plain, first, headLength, depth, unpacking);
      finding = layer == null ? finding : layer.inspect(first, 0, headLength);
    }
  }

  /** A credential in the name or in the bytes so far. */
  Optional<Finding> found() {
    return finding;
  }

  /** Scans the last bytes and ends the file. */
  public Optional<Finding> end() {
    if (!ended) {
      ended = true;
      Arrays.fill(buffer, filled, filled + Keywords.MARGIN, (byte) 0);
      if (finding.isEmpty()) {
        judgeUpTo(filled);
      }
      if (finding.isEmpty()) {
        beginLayer();
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
        // Encoded text before this place comes first, as it would in smaller pieces.
        Optional<Finding> before = inspectRuns(place);
        finding = before.isPresent() ? before : finding;
        return;
      }
      place = KEYWORDS.next(buffer, place + 2, limit);
    }
    next = Math.max(next, place);
    finding = inspectRuns(limit);
  }

  private Optional<Finding> inspectRuns(int limit) {
    if (depth >= Unpacking.DEPTH) {
      return Optional.empty();
    }
    if (runs == null) {
      runs = new EncodedRuns(depth, unpacking, capacity);
    }
    return runs.inspect(text, base, limit, filled, ended && limit == filled);
  }

  /** Judges all keywords that start at this place; returns whether one of them is a finding. */
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
    int seen = runs == null ? next : Math.min(next, runs.place(base));
    int kept = Math.max(0, seen - 1 - SecretText.BEFORE);
    System.arraycopy(buffer, kept, buffer, 0, filled - kept);
    base += kept;
    filled -= kept;
    next -= kept;
  }
}
