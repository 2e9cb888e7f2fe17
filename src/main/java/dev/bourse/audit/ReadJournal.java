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
 * Batches of audited reads in files of this machine, for as long as the store does not take them.
 *
 * <p>A file is of one process, which holds a lock on it. It begins with {@link #FORMAT}; behind it
 * each batch is its length, its CRC-32C and its compressed rows. A batch is appended and flushed to
 * the disk before {@link #append} returns, and batches are read from the oldest on. A file whose
 * batches are all stored is deleted, so a folder without files is the usual state.
 *
 * <p>The files of processes that ended are taken over at the first use. A process that was killed
 * leaves a batch that was being appended and was never acknowledged: the file is cut behind the
 * last whole batch. A damaged batch is passed, and the file kept as a copy. A batch may have been
 * stored before its process ended, and is stored once by its id, see {@link
 * AuditStore#insertReads}.
 *
 * <p>Every call blocks; calls may come from any thread.
 */
public final class ReadJournal implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ReadJournal.class);

  /** The bytes all files of a process may have: some ten million reads, a day of 100 a second. */
  public static final long MOST_BYTES = 256L * 1024 * 1024;

  /** A file of this length is followed by another, so that what is stored leaves the disk. */
  private static final int FULL_BYTES = 8 * 1024 * 1024;

  private static final byte[] FORMAT = "bourse reads 1\n".getBytes(StandardCharsets.US_ASCII);
  private static final String SUFFIX = ".reads";
  private static final String DAMAGED = ".damaged";
  private static final int HEAD_BYTES = 8;

  /** The rows of a batch are 1,024 at most, of some hundred bytes; a length beyond it is damage. */
  private static final int MOST_BATCH_BYTES = 16 * 1024 * 1024;

  private static final int MOST_ROWS = 1 << 16;

  /**
   * Rows of one commit under the id that has them stored once.
   *
   * @param rows in their order
   */
  record Batch(String id, List<AuditRow> rows) {}

  /** The journal holds as much as it may. */
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
   * Nothing is done to the folder before the first call.
   *
   * @param folder shared by processes of this data folder, made when it is needed
   * @param name no other process's, ever
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

  /** A file of which the bytes up to {@code head} are stored. */
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

  /** Returns false only if there is nothing to store; costs nothing. */
  boolean mayHoldBatches() {
    return mayHold;
  }

  /** Returns the bytes of batches that wait for the store; costs nothing. */
  public long bytes() {
    return waiting;
  }

  private void changed() {
    mayHold = !files.isEmpty();
    waiting = files.stream().mapToLong(file -> file.end - file.head).sum();
  }

  /**
   * Appends batches; when this returns they outlive the process and the machine.
   *
   * @throws IOException if the disk or the journal has no room; then it has none of them
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

  /** After a failed append. What cannot be cut is overwritten, or cut as torn by who takes over. */
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
        throw new IOException("another process has " + path);
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

  /** Takes the lock, which ends with the channel. */
  private static boolean isLocked(FileChannel channel) throws IOException {
    try {
      FileLock lock = channel.tryLock();
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  /** Returns the oldest batches that were not dropped, so many at most. */
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

  /** Forgets so many of the oldest batches, which are stored. */
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

  /** Adds the batch at a place to those found, or passes or cuts what is none. */
  private void read(Journal file, long at) throws IOException {
    ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES);
    int length = readFully(file, head, at) ? head.getInt(0) : 0;
    boolean isLength = length > 0 && length <= MOST_BATCH_BYTES;
    long next = at + HEAD_BYTES + length;
    if (head.hasRemaining() || (isLength && next > file.end)) {
      LOG.warn(
          "journal of audited reads {}: the last {} bytes are no whole batch and are cut",
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
          throw new DamagedException("the checksum is another");
        }
        found.add(new Found(decode(body.array()), next));
      } catch (IOException e) {
        setAside(file, at, next - at, String.valueOf(e.getMessage()));
        pass(file, next);
      }
    } else {
      setAside(file, at, file.end - at, "there is no length of a batch");
      cutBehind(file, at);
    }
  }

  private static void cutBehind(Journal file, long at) throws IOException {
    file.end = at;
    file.channel.truncate(at);
  }

  /** The bytes up to here hold no batch that was not found. */
  private void pass(Journal file, long end) {
    Found last = found.pollLast();
    if (last == null) {
      file.head = end;
    } else {
      found.add(new Found(last.batch(), end));
    }
  }

  /** Keeps a copy of a damaged file for the operators, because its batches leave the journal. */
  private static void setAside(Journal file, long at, long bytes, String why) throws IOException {
    Path copy = file.path.resolveSibling(file.path.getFileName() + DAMAGED);
    if (!Files.exists(copy)) {
      Files.copy(file.path, copy);
    }
    LOG.error(
        "journal of audited reads {}: {} bytes at {} are damaged and not stored ({}); see {}",
        file.path,
        bytes,
        at,
        why,
        copy);
  }

  /** Keeps a copy of the oldest file, one of whose batches the store refuses. */
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

  /** Takes the files of processes that ended. */
  private void takeOver() {
    if (!Files.isDirectory(folder)) {
      return;
    }
    Set<Path> paths = new TreeSet<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
      all.forEach(paths::add);
    } catch (IOException | DirectoryIteratorException e) {
      LOG.error(
          "cannot list {}; reads of processes that ended are stored after a restart", folder, e);
    }
    List<Journal> left = new ArrayList<>();
    for (Path path : paths) {
      if (!path.getFileName().toString().startsWith(name + '.')) {
        takenOver(path).ifPresent(left::add);
      }
    }
    if (!left.isEmpty()) {
      LOG.info("{} journals of audited reads were left by processes that ended", left.size());
    }
    for (int i = left.size() - 1; i >= 0; i--) {
      files.addFirst(left.get(i));
    }
  }

  private Optional<Journal> takenOver(Path path) {
    try {
      FileChannel channel =
          FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
      try {
        if (isLocked(channel) && isOurs(path, channel)) {
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
      LOG.error("cannot read {}; its audited reads are stored after a restart", path, e);
    }
    return Optional.empty();
  }

  /** Whether the file can be loaded. One that a process had no time to begin holds nothing. */
  private boolean isOurs(Path path, FileChannel channel) throws IOException {
    ByteBuffer format = ByteBuffer.allocate(FORMAT.length);
    int read = channel.read(format, 0);
    if (read == FORMAT.length && !format.flip().equals(ByteBuffer.wrap(FORMAT))) {
      LOG.error("{} is no journal of audited reads that this release knows; it is left", path);
      return false;
    }
    Duration age =
        Duration.between(Files.getLastModifiedTime(path).toInstant(), clock.instant())
            .plus(AuditedReads.MARKS_MARGIN);
    if (age.compareTo(AuditedReads.MARKS_KEPT) > 0) {
      LOG.error(
          """
          {} is from {}: whether its audited reads are stored is not known any more; it is left. \
          Touch the file and restart to store them, perhaps again.\
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

  /** Leaves the files to the next process. */
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
