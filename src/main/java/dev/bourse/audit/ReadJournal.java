package dev.bourse.audit;

import dev.bourse.core.PrivateFile;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.CRC32C;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores batches of audited reads in local files while the store does not take them.
 *
 * <p>A file belongs to one process, which holds a lock on it. It starts with {@link #FORMAT},
 * followed by the batches, each with its length, its CRC-32C and its compressed rows. A batch is
 * appended and flushed to the disk before {@link #append} returns, and batches are read oldest
 * first. A file is deleted when all its batches are stored, so the folder is usually empty.
 *
 * <p>The files of ended processes are taken over at the first use. A killed process may leave an
 * incomplete batch at the end, which was not acknowledged: the file is cut after the last complete
 * batch. A damaged batch is skipped, and a copy of the file is kept. A batch may have been stored
 * before its process ended; its id prevents a second copy, see {@link AuditStore#insertReads}.
 *
 * <p>Every call blocks. Thread-safe.
 */
public final class ReadJournal implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ReadJournal.class);

  /** The limit of all files of a process: some ten million reads, a day at 100 a second. */
  public static final long MOST_BYTES = 256L * 1024 * 1024;

  /** A file of this length is followed by a new one, so that stored batches free disk space. */
  private static final int FULL_BYTES = 8 * 1024 * 1024;

  private static final byte[] FORMAT = "bourse reads 1\n".getBytes(StandardCharsets.US_ASCII);
  private static final String SUFFIX = ".reads";
  private static final String DAMAGED = ".damaged";
  private static final int HEAD_BYTES = 8;

  /** A batch has at most 1,024 rows of some hundred bytes, so a larger length means damage. */
  private static final int MOST_BATCH_BYTES = 16 * 1024 * 1024;

  private static final int MOST_ROWS = 1 << 16;

  /**
   * The rows of one commit, and the id that prevents storing them twice.
   *
   * @param rows the rows in order
   */
  record Batch(String id, List<AuditRow> rows) {}

  /** The journal has reached its limit. */
  static final class JournalFullException extends IOException {
    JournalFullException(long most) {
      super("the journal of audited reads holds " + most + " bytes, its limit");
    }
  }

  private static final class DamagedException extends IOException {
    DamagedException(String message) {
      super(message);
    }
  }

  private final Path folder;
  private final String name;
  private final long mostBytes;
  private final Clock clock;

  // The rest is guarded by this object.
  private final Deque<Journal> files = new ArrayDeque<>();
  private @Nullable Journal own;

  private int made;
  private boolean isOpen;
  private volatile boolean mayHold = true;
  private volatile long waiting;

  /** Batches of the first file that were read and are not stored yet. */
  private final Deque<Found> found = new ArrayDeque<>();

  private record Found(Batch batch, long end) {}

  /**
   * Creates a journal; does not touch the folder before the first call.
   *
   * @param folder shared by the processes of this data folder, created when needed
   * @param name a name that no other process has or will have
   */
  public ReadJournal(Path folder, String name, Clock clock) {
    this(folder, name, MOST_BYTES, clock);
  }

  ReadJournal(Path folder, String name, long mostBytes, Clock clock) {
    this.folder = folder;
    this.name = name;
    this.mostBytes = mostBytes;
    this.clock = clock;
  }

  /** A file whose bytes up to {@code head} are stored. */
  private static final class Journal {
    final Path path;
    final FileChannel channel;
    long head = FORMAT.length;
    long end = FORMAT.length;

    Journal(Path path, FileChannel channel) {
      this.path = path;
      this.channel = channel;
    }
  }

  /** Returns false only if there is nothing to store. A cheap call. */
  boolean mayHoldBatches() {
    return mayHold;
  }

  /** Returns the bytes of batches that wait for the store. A cheap call. */
  public long bytes() {
    return waiting;
  }

  private void changed() {
    mayHold = !files.isEmpty();
    waiting = files.stream().mapToLong(file -> file.end - file.head).sum();
  }

  /**
   * Appends batches. After it returns, they survive a crash of the process and the machine.
   *
   * @throws IOException if the disk or the journal is full; then none of them is stored
   */
  synchronized void append(List<Batch> batches) throws IOException {
    ByteArrayOutputStream encoded = new ByteArrayOutputStream();
    for (Batch batch : batches) {
      byte[] body = encode(batch);
      CRC32C sum = new CRC32C();
      sum.update(body);
      encoded.write(
          ByteBuffer.allocate(HEAD_BYTES).putInt(body.length).putInt((int) sum.getValue()).array());
      encoded.write(body);
    }
    long held = files.stream().mapToLong(file -> file.end).sum();
    if (held + encoded.size() > mostBytes) {
      throw new JournalFullException(mostBytes);
    }
    Journal file = own();
    ByteBuffer bytes = ByteBuffer.wrap(encoded.toByteArray());
    try {
      long at = file.end;
      while (bytes.hasRemaining()) {
        at += file.channel.write(bytes, at);
      }
      file.channel.force(false);
      file.end = at;
      changed();
    } catch (IOException e) {
      cut(file, e);
      throw e;
    }
  }

  /**
   * Cuts a file after a failed append. If that fails too, the rest is overwritten later, or the
   * next process cuts it.
   */
  private static void cut(Journal file, IOException cause) {
    try {
      file.channel.truncate(file.end);
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }

  private Journal own() throws IOException {
    Journal known = own;
    if (known != null && known.end < FULL_BYTES) {
      return known;
    }
    PrivateFile.createFolders(folder);
    Path path = folder.resolve("%s.%d%s".formatted(name, ++made, SUFFIX));
    FileChannel channel =
        PrivateFile.open(
            path,
            Set.of(
                StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE));
    try {
      if (!isLocked(channel)) {
        throw new IOException("another process has locked " + path);
      }
      channel.write(ByteBuffer.wrap(FORMAT), 0);
      PrivateFile.flushFolder(folder);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
    Journal begun = new Journal(path, channel);
    files.add(begun);
    own = begun;
    return begun;
  }

  /** Tries to acquire the lock, which ends with the channel. */
  private static boolean isLocked(FileChannel channel) throws IOException {
    try {
      FileLock lock = channel.tryLock();
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  /** Returns the oldest batches that were not dropped, at most {@code most}. */
  synchronized List<Batch> oldest(int most) throws IOException {
    if (!isOpen) {
      takeOver();
      isOpen = true;
    }
    while (found.size() < most) {
      Journal first = files.peek();
      if (first == null) {
        break;
      }
      long at = found.isEmpty() ? first.head : found.getLast().end();
      if (at < first.end) {
        read(first, at);
      } else if (found.isEmpty()) {
        end(first);
      } else {
        break;
      }
    }
    changed();
    return found.stream().limit(most).map(Found::batch).toList();
  }

  /** Drops the oldest batches, which are stored. */
  synchronized void drop(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      files.getFirst().head = found.remove().end();
    }
    Journal first = files.peek();
    if (first != null && first.head == first.end) {
      end(first);
    }
    changed();
  }

  private void end(Journal file) throws IOException {
    files.remove(file);
    if (file == own) {
      own = null;
    }
    // In this order, because another process would take over a file without a lock.
    Files.deleteIfExists(file.path);
    file.channel.close();
  }

  /** Reads the batch at a position. Skips or cuts bytes that are not a batch. */
  private void read(Journal file, long at) throws IOException {
    ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES);
    int length = readFully(file, head, at) ? head.getInt(0) : 0;
    boolean isLength = length > 0 && length <= MOST_BATCH_BYTES;
    long next = at + HEAD_BYTES + length;
    if (head.hasRemaining() || (isLength && next > file.end)) {
      LOG.warn(
          "journal of audited reads {}: cut the last {} bytes, an incomplete batch",
          file.path,
          file.end - at);
      cutBehind(file, at);
    } else if (isLength) {
      ByteBuffer body = ByteBuffer.allocate(length);
      readFully(file, body, at + HEAD_BYTES);
      CRC32C sum = new CRC32C();
      sum.update(body.array());
      try {
        if ((int) sum.getValue() != head.getInt(4)) {
          throw new DamagedException("the checksum differs");
        }
        found.add(new Found(decode(body.array()), next));
      } catch (IOException e) {
        setAside(file, at, next - at, String.valueOf(e.getMessage()));
        pass(file, next);
      }
    } else {
      setAside(file, at, file.end - at, "the length of a batch is not valid");
      cutBehind(file, at);
    }
  }

  private static void cutBehind(Journal file, long at) throws IOException {
    file.end = at;
    file.channel.truncate(at);
  }

  /** Marks the bytes up to a position as read. */
  private void pass(Journal file, long end) {
    Found last = found.pollLast();
    if (last == null) {
      file.head = end;
    } else {
      found.add(new Found(last.batch(), end));
    }
  }

  /**
   * Keeps a copy of a damaged file for the operators, because its batches are dropped from the
   * journal.
   */
  private static void setAside(Journal file, long at, long bytes, String why) throws IOException {
    Path copy = file.path.resolveSibling(file.path.getFileName() + DAMAGED);
    if (!Files.exists(copy)) {
      Files.copy(file.path, copy);
    }
    LOG.error(
        "journal of audited reads {}: {} bytes at {} are damaged and not stored ({}); copy in {}",
        file.path,
        bytes,
        at,
        why,
        copy);
  }

  /** Keeps a copy of the oldest file, which has a batch that the store rejects. */
  synchronized void setAsideOldest(String batchId, Throwable refusal) throws IOException {
    Journal first = files.peek();
    if (first != null) {
      setAside(first, first.head, first.end - first.head, "batch " + batchId + ": " + refusal);
    }
  }

  private static boolean readFully(Journal file, ByteBuffer into, long from) throws IOException {
    while (into.hasRemaining()) {
      long at = from + into.position();
      if (at + into.remaining() > file.end || file.channel.read(into, at) < 0) {
        return false;
      }
    }
    return true;
  }

  /** Takes over the files of ended processes. */
  private void takeOver() {
    if (!Files.isDirectory(folder)) {
      return;
    }
    Set<Path> paths = new TreeSet<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
      all.forEach(paths::add);
    } catch (IOException | DirectoryIteratorException e) {
      LOG.error("cannot list {}; a restart will store the reads of ended processes", folder, e);
    }
    List<Journal> left = new ArrayList<>();
    for (Path path : paths) {
      if (!path.getFileName().toString().startsWith(name + '.')) {
        openLeft(path).ifPresent(left::add);
      }
    }
    if (!left.isEmpty()) {
      LOG.info("found {} journals of audited reads of ended processes", left.size());
    }
    for (int i = left.size() - 1; i >= 0; i--) {
      files.addFirst(left.get(i));
    }
  }

  private Optional<Journal> openLeft(Path path) {
    try {
      FileChannel channel =
          FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
      try {
        if (isLocked(channel) && isLoadable(path, channel)) {
          Journal file = new Journal(path, channel);
          file.end = Math.max(channel.size(), FORMAT.length);
          return Optional.of(file);
        }
      } catch (IOException e) {
        channel.close();
        throw e;
      }
      channel.close();
    } catch (NoSuchFileException e) {
      // Another process has stored it.
    } catch (IOException e) {
      LOG.error("cannot read {}; a restart will store its audited reads", path, e);
    }
    return Optional.empty();
  }

  /** Returns whether the file can be loaded. A file without a complete header is empty. */
  private boolean isLoadable(Path path, FileChannel channel) throws IOException {
    ByteBuffer format = ByteBuffer.allocate(FORMAT.length);
    int read = channel.read(format, 0);
    if (read == FORMAT.length && !format.flip().equals(ByteBuffer.wrap(FORMAT))) {
      LOG.error(
          "{} is not a journal of audited reads that this release can read; ignoring it", path);
      return false;
    }
    Duration age =
        Duration.between(Files.getLastModifiedTime(path).toInstant(), clock.instant())
            .plus(AuditedReads.MARKS_MARGIN);
    if (age.compareTo(AuditedReads.MARKS_KEPT) > 0) {
      LOG.error(
          """
          {} is from {}: the record of whether its audited reads are stored has expired; ignoring \
          it. Touch the file and restart to store them, perhaps a second time.\
          """,
          path,
          Files.getLastModifiedTime(path));
      return false;
    }
    return true;
  }

  private static byte[] encode(Batch batch) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Deflater fast = new Deflater(Deflater.BEST_SPEED);
    try (DataOutputStream out = new DataOutputStream(new DeflaterOutputStream(bytes, fast))) {
      write(out, batch.id());
      out.writeInt(batch.rows().size());
      for (AuditRow row : batch.rows()) {
        out.writeLong(row.atMillis());
        write(out, row.orgId());
        write(out, row.actor());
        write(out, row.action());
        write(out, row.subject());
        write(out, row.detail());
      }
    } finally {
      fast.end();
    }
    return bytes.toByteArray();
  }

  private static void write(DataOutputStream out, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static Batch decode(byte[] body) throws IOException {
    try (DataInputStream in =
        new DataInputStream(new InflaterInputStream(new ByteArrayInputStream(body)))) {
      String id = read(in);
      int count = in.readInt();
      if (count < 0 || count > MOST_ROWS) {
        throw new DamagedException("a batch of " + count + " audited reads");
      }
      List<AuditRow> rows = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        rows.add(new AuditRow(in.readLong(), read(in), read(in), read(in), read(in), read(in)));
      }
      return new Batch(id, rows);
    }
  }

  private static String read(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > MOST_BATCH_BYTES) {
      throw new DamagedException("a text of " + length + " bytes in an audited read");
    }
    return new String(in.readNBytes(length), StandardCharsets.UTF_8);
  }

  /** Closes the files and leaves them to the next process. */
  @Override
  public synchronized void close() throws IOException {
    for (Journal file : files) {
      file.channel.close();
    }
    files.clear();
    found.clear();
    own = null;
    changed();
  }
}
