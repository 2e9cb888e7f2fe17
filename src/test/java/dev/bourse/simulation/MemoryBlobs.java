package dev.bourse.simulation;

import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Inspector;
import dev.bourse.blob.Reading;
import dev.bourse.blob.StorageBusyException;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.blob.StorageFullException;
import dev.bourse.blob.Upload;
import dev.bourse.core.Page;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One process's blob store on its machine's disk, with no more than the port's guarantees: calls
 * take time, are rejected or fail; whole parts of received bytes are stored, and the rest is stored
 * on request and otherwise lost with the process; an operation in progress when the process dies
 * may be partly done; a failed publication may have been executed, or have lost the upload.
 */
final class MemoryBlobs implements BlobStore {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}");
  private static final int OPEN_UPLOADS = 128;
  private static final int WAITING_BLOCKS = 4;

  /** Clients send up to 6,000 bytes, so that an upload has several parts or none. */
  private static final int PART_BYTES = 1_500;

  private final Replica process;
  private final Disk disk;
  private final Map<String, Open> open = new HashMap<>();
  private final Set<String> ending = new HashSet<>();
  private boolean isClosed;

  MemoryBlobs(Replica process, Disk disk) {
    this.process = process;
    this.disk = disk;
  }

  private static String checked(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException("no name of an upload or blob: " + name);
    }
    return name;
  }

  private static StorageFaultException fault() {
    return new StorageFaultException("the disk does not do what it was asked", null);
  }

  /** Schedules work on the disk, which happens later if the process still runs then. */
  private <T> Future<T> ask(Supplier<T> work) {
    Context caller = process.vertx().getOrCreateContext();
    Promise<T> answer = Promise.promise();
    if (isClosed || disk.luck.isBusy()) {
      return Future.failedFuture(new StorageBusyException("too much is asked at once"));
    }
    process.after(
        disk.luck.delayNanos(),
        () -> {
          try {
            T value = work.get();
            caller.runOnContext(v -> answer.complete(value));
          } catch (RuntimeException e) {
            caller.runOnContext(v -> answer.fail(e));
          }
        });
    return answer.future();
  }

  @Override
  public Future<Upload> open(String uploadId, Inspector inspector) {
    checked(uploadId);
    if (open.size() >= OPEN_UPLOADS || open.containsKey(uploadId) || ending.contains(uploadId)) {
      return Future.failedFuture(new StorageBusyException("upload " + uploadId + " is in use"));
    }
    Open opened = new Open(uploadId, inspector);
    open.put(uploadId, opened);
    return this.<Upload>ask(
            () -> {
              if (disk.luck.faults()) {
                throw fault();
              }
              Disk.File there = disk.uploads.get(uploadId);
              if (there == null && disk.luck.isFull()) {
                throw new StorageFullException("no room for an upload", null);
              }
              if (there == null) {
                there = new Disk.File(new byte[0], disk.nowMillis());
                disk.uploads.put(uploadId, there);
              }
              opened.begin(there);
              return opened;
            })
        .onFailure(e -> open.remove(uploadId, opened));
  }

  @Override
  public Future<Long> stored(String uploadId) {
    checked(uploadId);
    return ask(
        () -> {
          if (disk.luck.faults()) {
            throw fault();
          }
          Open opened = open.get(uploadId);
          Disk.File there = disk.uploads.get(uploadId);
          return opened != null && opened.kept >= 0
              ? opened.kept
              : there == null ? 0L : there.bytes.length;
        });
  }

  @Override
  public Future<Void> publish(String uploadId, String key) {
    checked(uploadId);
    checked(key);
    if (open.containsKey(uploadId) || ending.contains(uploadId)) {
      return Future.failedFuture(new StorageBusyException("upload " + uploadId + " is in use"));
    }
    ending.add(uploadId);
    return this.<Void>ask(
            () -> {
              Disk.File blob = disk.blobs.get(key);
              if (blob != null) {
                blob.writtenMillis = disk.nowMillis();
                disk.uploads.remove(uploadId);
                return null;
              }
              Disk.File there = disk.uploads.get(uploadId);
              if (there == null) {
                throw new BlobNotFoundException(
                    "there is neither an upload " + uploadId + " nor " + key);
              }
              if (disk.luck.isFull()) {
                throw new StorageFullException("no room for a name", null);
              }
              boolean faults = disk.luck.faults();
              int how = disk.luck.below(3);
              if (faults && how == 0) {
                throw fault();
              }
              disk.uploads.remove(uploadId);
              if (faults && how == 1) {
                disk.lose();
                throw new StorageFaultException("the upload could not be made durable", null);
              }
              there.writtenMillis = disk.nowMillis();
              disk.blobs.put(key, there);
              if (faults) {
                throw fault();
              }
              return null;
            })
        .onComplete(done -> ending.remove(uploadId));
  }

  @Override
  public Future<Void> abandon(String uploadId) {
    checked(uploadId);
    Open opened = open.get(uploadId);
    if (opened != null) {
      return opened
          .end(new BlobNotFoundException("upload " + uploadId + " was abandoned"))
          .compose(released -> abandon(uploadId));
    }
    if (ending.contains(uploadId)) {
      return Future.failedFuture(new StorageBusyException("upload " + uploadId + " is in use"));
    }
    ending.add(uploadId);
    return this.<Void>ask(
            () -> {
              if (disk.luck.faults()) {
                throw fault();
              }
              disk.uploads.remove(uploadId);
              return null;
            })
        .onComplete(done -> ending.remove(uploadId));
  }

  @Override
  public Future<Void> delete(String key, Instant before) {
    checked(key);
    return ask(
        () -> {
          if (disk.luck.faults()) {
            throw fault();
          }
          Disk.File blob = disk.blobs.get(key);
          if (blob != null && blob.writtenMillis < before.toEpochMilli()) {
            disk.blobs.remove(key);
          }
          return null;
        });
  }

  @Override
  public Future<Boolean> exists(String key) {
    checked(key);
    return ask(
        () -> {
          if (disk.luck.faults()) {
            throw fault();
          }
          return disk.blobs.containsKey(key);
        });
  }

  @Override
  public Future<Reading> read(String key) {
    checked(key);
    return ask(
        () -> {
          if (disk.luck.faults()) {
            throw fault();
          }
          Disk.File there = disk.blobs.get(key);
          if (there == null) {
            throw new BlobNotFoundException("there is no blob " + key);
          }
          return new Opened(there.bytes);
        });
  }

  @Override
  public boolean sharesReadings() {
    return true;
  }

  @Override
  public Future<Integer> tidy() {
    return Future.succeededFuture(0);
  }

  @Override
  public Future<Optional<URI>> address(String key, Duration lifetime, Map<String, String> headers) {
    return Future.succeededFuture(Optional.empty());
  }

  @Override
  public Future<Page<String>> listUploads(Instant before, String after, int limit) {
    return list(disk.uploads, before, after, limit);
  }

  @Override
  public Future<Page<String>> listBlobs(Instant before, String after, int limit) {
    return list(disk.blobs, before, after, limit);
  }

  private Future<Page<String>> list(
      NavigableMap<String, Disk.File> files, Instant before, String after, int limit) {
    return ask(
        () -> {
          List<String> found = new ArrayList<>();
          files
              .tailMap(after, false)
              .forEach(
                  (name, file) -> {
                    if (file.writtenMillis < before.toEpochMilli() && found.size() <= limit) {
                      found.add(name);
                    }
                  });
          return Page.of(found, limit);
        });
  }

  @Override
  public Future<Void> close() {
    isClosed = true;
    StorageBusyException reason = new StorageBusyException("the store closes");
    return Future.join(List.copyOf(open.values()).stream().map(o -> o.end(reason)).toList())
        .mapEmpty();
  }

  private final class Opened implements Reading {
    private final byte[] bytes;

    Opened(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    public long length() {
      return bytes.length;
    }

    @Override
    public Optional<FileChannel> file() {
      return Optional.empty();
    }

    @Override
    public Future<Buffer> piece(long offset, int length) {
      Objects.checkFromIndexSize(offset, length, bytes.length);
      return ask(
          () -> {
            if (disk.luck.faults()) {
              throw fault();
            }
            return Buffer.buffer(Arrays.copyOfRange(bytes, (int) offset, (int) offset + length));
          });
    }

    @Override
    public Future<Void> close() {
      return Future.succeededFuture();
    }
  }

  /** An open upload: one block after the other is written, each in two halves. */
  private final class Open implements Upload {
    @SuppressWarnings("ArrayRecordComponent") // blocks are not compared.
    private record Block(byte[] bytes, int from, int to, Context caller, Promise<Void> answer) {}

    private final String id;
    private final Inspector inspector;
    private final ArrayDeque<Block> waiting = new ArrayDeque<>();
    private final Promise<Void> released = Promise.promise();

    /** The length that the file should have; negative before it is open. */
    private int kept = -1;

    /** Received bytes after those, which are lost with the process. */
    private byte[] rest = new byte[0];

    private boolean isUnderWay;
    private boolean isReleasing;
    private @Nullable RuntimeException refusal;

    Open(String id, Inspector inspector) {
      this.id = id;
      this.inspector = inspector;
    }

    void begin(Disk.File there) {
      if (refusal != null) {
        throw refusal;
      }
      inspector.inspect(there.bytes, 0, there.bytes.length);
      kept = there.bytes.length;
    }

    @Override
    public long stored() {
      return (long) kept + rest.length;
    }

    @Override
    public long kept() {
      return kept;
    }

    @Override
    public Future<Void> append(byte[] bytes, int from, int to) {
      Objects.checkFromToIndex(from, to, bytes.length);
      if (refusal == null && waiting.size() >= WAITING_BLOCKS) {
        refusal = new IllegalStateException("upload " + id + " was given a block too many");
      }
      if (refusal == null && isReleasing) {
        refusal = new IllegalStateException("upload " + id + " was released");
      }
      if (refusal != null) {
        return Future.failedFuture(refusal);
      }
      Block block =
          new Block(bytes, from, to, process.vertx().getOrCreateContext(), Promise.promise());
      waiting.add(block);
      next();
      return block.answer.future();
    }

    private void next() {
      Block block = waiting.peek();
      if (isUnderWay) {
        return;
      }
      if (block == null) {
        if (isReleasing) {
          endAppending();
        }
        return;
      }
      isUnderWay = true;
      long delay = disk.luck.delayNanos();
      process.after(delay / 2, () -> begin(block));
      process.after(delay, () -> finish(block));
    }

    private Disk.@Nullable File file() {
      return disk.uploads.get(id);
    }

    /** If the process dies between this and the next step, any part of the block may be stored. */
    private void begin(Block block) {
      Disk.File file = file();
      if (refusal == null && file != null) {
        byte[] all = joined(rest, block.bytes, block.from, block.to);
        file.bytes = joined(file.bytes, all, 0, disk.luck.below(all.length + 1));
        file.writtenMillis = disk.nowMillis();
      }
    }

    private void finish(Block block) {
      Disk.File file = file();
      if (file != null) {
        file.bytes = Arrays.copyOf(file.bytes, kept);
      }
      if (refusal == null) {
        try {
          if (disk.luck.isFull()) {
            throw new StorageFullException("no room for a block", null);
          }
          inspector.inspect(block.bytes, block.from, block.to);
          if (file == null || disk.luck.faults()) {
            throw fault();
          }
          rest = joined(rest, block.bytes, block.from, block.to);
          keep(file, rest.length - (kept + rest.length) % PART_BYTES);
        } catch (RuntimeException e) {
          refusal = e;
        }
      }
      waiting.remove();
      isUnderWay = false;
      RuntimeException failure = refusal;
      block.caller.runOnContext(
          v -> {
            if (failure == null) {
              block.answer.complete();
            } else {
              block.answer.fail(failure);
            }
          });
      next();
    }

    /** Moves bytes of the rest to the file; none if a part ends before them. */
    private void keep(Disk.File file, int count) {
      if (count > 0) {
        file.bytes = joined(file.bytes, rest, 0, count);
        file.writtenMillis = disk.nowMillis();
        kept = file.bytes.length;
        rest = Arrays.copyOfRange(rest, count, rest.length);
      }
    }

    /** Operations on the whole upload, of which every block is written. */
    private Future<Void> keepRest() {
      if (!waiting.isEmpty()) {
        return Future.failedFuture(
            new IllegalStateException("upload " + id + " has blocks waiting"));
      }
      if (refusal != null) {
        return Future.failedFuture(refusal);
      }
      return ask(
          () -> {
            Disk.File file = file();
            if (refusal != null) {
              throw refusal;
            }
            if (disk.luck.isFull()) {
              throw new StorageFullException("no room for the rest", null);
            }
            if (file == null || disk.luck.faults()) {
              throw fault();
            }
            keep(file, rest.length);
            return null;
          });
    }

    private void endAppending() {
      Disk.File file = file();
      // A release reports no errors: bytes that cannot be stored then are lost, and were never
      // acknowledged.
      if (refusal == null && file != null && !disk.luck.faults()) {
        keep(file, rest.length);
      }
      if (open.remove(id, this)) {
        released.tryComplete();
      }
    }

    private static byte[] joined(byte[] before, byte[] bytes, int from, int to) {
      byte[] all = Arrays.copyOf(before, before.length + to - from);
      System.arraycopy(bytes, from, all, before.length, to - from);
      return all;
    }

    @Override
    public Future<Void> keep() {
      return keepRest();
    }

    @Override
    public Future<Boolean> isCurrent() {
      return Future.succeededFuture(true);
    }

    @Override
    public boolean isInspected() {
      return true;
    }

    @Override
    public Future<Void> finish() {
      return keepRest();
    }

    @Override
    public Future<Void> release() {
      isReleasing = true;
      next();
      Context caller = process.vertx().getOrCreateContext();
      Promise<Void> answer = Promise.promise();
      released.future().onComplete(v -> caller.runOnContext(w -> answer.complete()));
      return answer.future();
    }

    Future<Void> end(RuntimeException reason) {
      if (refusal == null) {
        refusal = reason;
      }
      return release();
    }
  }
}
