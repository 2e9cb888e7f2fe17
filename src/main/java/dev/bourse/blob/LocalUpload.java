package dev.bourse.blob;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An open upload of a local store: a queue of steps, one of which is with the workers at any time.
 * After each step, the next one goes to the end of the workers' queue, so that uploads take turns
 * block by block.
 */
final class LocalUpload implements Upload {
  private static final Logger log = LoggerFactory.getLogger(LocalUpload.class);

  /**
   * Bytes of a stored prefix to inspect before other uploads get a turn: some milliseconds of work.
   * So reopening 50 GiB delays the reopening of 1 MiB by one slice, not by half a minute.
   */
  private static final int SLICE_BYTES = 4 * 1024 * 1024;

  /**
   * Bytes per write call. Measured: calls of 256 KiB cost the system at least three times as much
   * as calls of 64 KiB, perhaps because it then searches for large pieces of memory to cache them
   * in; that cause was not verified.
   */
  private static final int WRITE_BYTES = 64 * 1024;

  private final String id;
  private final Inspector inspector;
  private final BlobFiles files;
  private final Workers workers;
  private final int waitingBlocks;
  private final Runnable onReleased;
  private final WorkerPromise<Upload> opened;
  private final Promise<Void> released = Promise.promise();

  // Used by one step at a time.
  private @Nullable FileChannel channel;
  private byte @Nullable [] slice;
  private long inspected;
  private @Nullable Throwable broken;

  /** Written by steps; -1 until the file is open. */
  private volatile long stored = -1;

  /** Why waiting steps are to be skipped; null while they are to run. */
  private volatile @Nullable RuntimeException ended;

  // The four below are guarded by this object.
  private final ArrayDeque<Runnable> steps = new ArrayDeque<>();
  private boolean underWay = true;
  private int blocks;
  private @Nullable Throwable refusal;

  private boolean releasing;

  /**
   * Creates an upload whose opening is in progress. No other step runs until {@link #openFile} and
   * the inspection it starts have ended.
   *
   * @param onReleased called when the file is closed, before the release completes
   */
  LocalUpload(
      String id,
      Inspector inspector,
      BlobFiles files,
      Workers workers,
      int waitingBlocks,
      Runnable onReleased) {
    this.id = id;
    this.inspector = inspector;
    this.files = files;
    this.workers = workers;
    this.waitingBlocks = waitingBlocks;
    this.onReleased = onReleased;
    opened = new WorkerPromise<>(workers.home());
  }

  /** Succeeds when the stored bytes are inspected, or fails with the upload released. */
  Future<Upload> opened() {
    return opened.future();
  }

  /** Opens the file. This is the first step, on a worker's thread. */
  void openFile() {
    try {
      FileChannel file = files.openUpload(id);
      channel = file;
      stored = file.size();
      if (stored > 0) {
        slice = new byte[BlobStore.BLOCK_BYTES];
      }
    } catch (IOException e) {
      broken = files.failure("cannot open upload " + id, e);
    } catch (Throwable e) {
      broken = e;
    }
    inspectOrStart();
  }

  /** Fails the opening with a cause, in place of the first step. */
  void refuse(Throwable cause) {
    broken = cause;
    inspectOrStart();
  }

  private void inspectOrStart() {
    if (broken == null) {
      broken = ended;
    }
    if (broken == null && inspected < stored) {
      workers.check(this::inspectSlice);
      return;
    }
    slice = null;
    Throwable failure = broken;
    if (failure == null) {
      opened.succeed(this);
    } else {
      // Complete after the release, so that the caller may abandon the upload or open it again.
      release();
      released.future().onComplete(v -> opened.fail(failure));
    }
    next();
  }

  private void inspectSlice() {
    long end = Math.min(stored, inspected + SLICE_BYTES);
    try {
      FileChannel file = Objects.requireNonNull(channel);
      byte[] bytes = Objects.requireNonNull(slice);
      while (inspected < end && ended == null) {
        int most = (int) Math.min(bytes.length, end - inspected);
        int read = file.read(ByteBuffer.wrap(bytes, 0, most), inspected);
        if (read < 0) {
          throw new IOException("the file became shorter than " + stored + " bytes");
        }
        inspector.inspect(bytes, 0, read);
        inspected += read;
      }
    } catch (IOException e) {
      broken = files.failure("cannot read upload " + id, e);
    } catch (Throwable e) {
      broken = e;
    }
    inspectOrStart();
  }

  @Override
  public long stored() {
    return stored;
  }

  /** Returns {@link #stored} because bytes written to a file survive the process. */
  @Override
  public long kept() {
    return stored;
  }

  @Override
  public Future<Void> append(byte[] bytes, int from, int to) {
    Objects.checkFromToIndex(from, to, bytes.length);
    if (to - from > BlobStore.MAX_BLOCK_BYTES) {
      return Future.failedFuture(
          new IllegalArgumentException(
              "a block of " + (to - from) + " bytes; at most " + BlobStore.MAX_BLOCK_BYTES));
    }
    WorkerPromise<Void> answer = new WorkerPromise<>(workers.home());
    synchronized (this) {
      if (refusal == null && blocks >= waitingBlocks) {
        // Bytes after the missing block would be stored in its place.
        refusal =
            new IllegalStateException(
                "upload "
                    + id
                    + " was given a block while "
                    + blocks
                    + " waited, which is the limit");
      }
      if (refusal != null) {
        return Future.failedFuture(refusal);
      }
      blocks++;
      add(() -> store(bytes, from, to, answer));
    }
    return answer.future();
  }

  private void store(byte[] bytes, int from, int to, WorkerPromise<Void> answer) {
    if (broken == null) {
      broken = ended;
    }
    if (broken == null) {
      try {
        files.checkRoom(to - from);
        inspector.inspect(bytes, from, to);
        write(bytes, from, to);
      } catch (IOException e) {
        broken = files.failure("cannot write upload " + id, e);
      } catch (Throwable e) {
        broken = e;
      }
    }
    Throwable failure = broken;
    synchronized (this) {
      blocks--;
      if (refusal == null) {
        refusal = failure;
      }
    }
    if (failure == null) {
      answer.succeed(null);
    } else {
      answer.fail(failure);
    }
  }

  private void write(byte[] bytes, int from, int to) throws IOException {
    FileChannel file = Objects.requireNonNull(channel);
    ByteBuffer block = ByteBuffer.wrap(bytes, from, to - from);
    long start = stored;
    try {
      while (block.position() < to) {
        block.limit(Math.min(to, block.position() + WRITE_BYTES));
        file.write(block, start + block.position() - from);
      }
    } catch (IOException e) {
      try {
        file.truncate(start);
      } catch (IOException again) {
        // The stored part of the block was inspected, and a client asks for the offset before it
        // resumes.
        log.warn("upload {} keeps a partial block after {} bytes", id, start, again);
        e.addSuppressed(again);
      }
      throw e;
    }
    stored = start + (to - from);
  }

  /** Does nothing: the operating system has every appended block, which survives the process. */
  @Override
  public Future<Void> keep() {
    return Future.succeededFuture();
  }

  /** Returns true because only one opening exists at a time. */
  @Override
  public Future<Boolean> isCurrent() {
    return Future.succeededFuture(true);
  }

  @Override
  public boolean isInspected() {
    return true;
  }

  /** Does nothing: the bytes of earlier openings passed the inspector when this one began. */
  @Override
  public Future<Void> finish() {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> release() {
    synchronized (this) {
      if (refusal == null) {
        refusal = new IllegalStateException("upload " + id + " was released");
      }
      if (!releasing) {
        releasing = true;
        add(this::closeFile);
      }
    }
    WorkerPromise<Void> answer = new WorkerPromise<>(workers.home());
    released.future().onComplete(v -> answer.succeed(null));
    return answer.future();
  }

  /** Releases the upload without running its waiting steps, which fail with the reason. */
  Future<Void> end(RuntimeException reason) {
    synchronized (this) {
      if (refusal == null) {
        refusal = reason;
      }
    }
    ended = reason;
    return release();
  }

  private void closeFile() {
    FileChannel file = channel;
    if (file != null) {
      BlobFiles.closeQuietly(file);
    }
    onReleased.run();
    released.complete();
  }

  /** Under this object's lock. */
  private void add(Runnable step) {
    steps.add(step);
    if (!underWay) {
      underWay = true;
      workers.block(this::runStep);
    }
  }

  private void runStep() {
    Runnable step;
    synchronized (this) {
      step = steps.remove();
    }
    step.run();
    next();
  }

  private synchronized void next() {
    if (steps.isEmpty()) {
      underWay = false;
    } else {
      workers.block(this::runStep);
    }
  }
}
