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
 * An open upload of a local store: a queue of steps of which one is with the workers at any time.
 * When a step is done the next one goes to the end of the workers' queue, so that uploads take
 * turns block by block.
 */
final class LocalUpload implements Upload {
  private static final Logger log = LoggerFactory.getLogger(LocalUpload.class);

  /**
   * How much of a stored prefix is inspected before others get a turn. Some milliseconds of work:
   * one who reopens 50 GiB holds up one who reopens 1 MiB by a slice, not by half a minute.
   */
  private static final int SLICE_BYTES = 4 * 1024 * 1024;

  /**
   * How much the system is given to write at a time. Measured: calls of 256 KiB cost it three times
   * and more the time of 64 KiB, perhaps because it then looks for large pieces of memory to cache
   * them in; that cause was not verified.
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

  /** Why what waits is not to be done any more. */
  private volatile @Nullable RuntimeException ended;

  // The four below are guarded by this object.
  private final ArrayDeque<Runnable> steps = new ArrayDeque<>();
  private boolean underWay = true;
  private int blocks;
  private @Nullable Throwable refusal;

  private boolean releasing;

  /**
   * An upload whose opening is under way: nothing else is done until {@link #openFile} and the
   * inspection it starts have ended.
   *
   * @param onReleased told when the file is closed, before anybody else is
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

  /** Ends with the stored bytes inspected, or with the reason why not and the upload released. */
  Future<Upload> opened() {
    return opened.future();
  }

  /** The first step, on a worker's thread. */
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

  /** Instead of the first step: the opening fails with this. */
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
      // Told once released, so that whoever hears of it may abandon the upload or open it again.
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

  /** What is written to a file outlives the process. */
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
        // Whatever came behind the missing block would be stored in its place.
        refusal =
            new IllegalStateException(
                "upload "
                    + id
                    + " was given a block while "
                    + blocks
                    + " waited, the most that are allowed");
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
        // The part of the block that is there was inspected, and whoever goes on asks first.
        log.warn("upload {} keeps a part of a block behind {} bytes", id, start, again);
        e.addSuppressed(again);
      }
      throw e;
    }
    stored = start + (to - from);
  }

  /** The system has every block that was appended, which outlives the process. */
  @Override
  public Future<Void> keep() {
    return Future.succeededFuture();
  }

  /** Nobody else opens it until this is released. */
  @Override
  public Future<Boolean> isCurrent() {
    return Future.succeededFuture(true);
  }

  @Override
  public boolean isInspected() {
    return true;
  }

  /** The bytes of earlier openings passed the inspector at this one. */
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

  /** Releases the upload without doing what waits; that fails with the reason. */
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
