package dev.bourse.simulation;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Inspector;
import dev.bourse.blob.Reading;
import dev.bourse.blob.Upload;
import dev.bourse.core.Page;
import io.vertx.core.Future;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

/** Bugs of the storage of bytes. */
enum UploadBug implements Bug {
  /**
   * A publication is acknowledged before the bytes are stored; a crash or a bad disk loses them.
   */
  BLOB_ROW_BEFORE_BYTES {
    @Override
    public BlobStore around(BlobStore blobs, World world, World.Slot slot) {
      Replica process = slot.replica;
      return new Forwarding(blobs) {
        @Override
        public Future<Void> publish(String uploadId, String key) {
          if (process != null) {
            process.afterMillis(LATE_MILLIS, () -> super.publish(uploadId, key));
          }
          return Future.succeededFuture();
        }
      };
    }
  },

  /** A reopened upload has another first byte. */
  REOPENED_UPLOAD_CHANGES {
    @Override
    public BlobStore around(BlobStore blobs, World world, World.Slot slot) {
      return new Forwarding(blobs) {
        @Override
        public Future<Upload> open(String uploadId, Inspector inspector) {
          return super.open(uploadId, inspector)
              .onSuccess(
                  upload -> {
                    Disk.File file = slot.disk.uploads.get(uploadId);
                    if (file != null && file.bytes.length > 1) {
                      file.bytes = Arrays.copyOf(file.bytes, file.bytes.length);
                      file.bytes[0] ^= 1;
                    }
                  });
        }
      };
    }
  },

  /** Bytes that are lost with the process are acknowledged. */
  TAKEN_TOLD_AS_KEPT {
    @Override
    public BlobStore around(BlobStore blobs, World world, World.Slot slot) {
      return new Forwarding(blobs) {
        @Override
        public Future<Upload> open(String uploadId, Inspector inspector) {
          return super.open(uploadId, inspector).map(KeepingNothing::new);
        }
      };
    }
  },

  /** Deleted bytes stay on the disk. */
  DELETED_BYTES_STAY {
    @Override
    public BlobStore around(BlobStore blobs, World world, World.Slot slot) {
      return new Forwarding(blobs) {
        @Override
        public Future<Void> delete(String key, Instant before) {
          return Future.succeededFuture();
        }
      };
    }
  };

  private static final long LATE_MILLIS = 300;

  /** An upload that reports received bytes as stored. */
  private record KeepingNothing(Upload upload) implements Upload {
    @Override
    public long stored() {
      return upload.stored();
    }

    @Override
    public long kept() {
      return upload.stored();
    }

    @Override
    public Future<Void> append(byte[] bytes, int from, int to) {
      return upload.append(bytes, from, to);
    }

    @Override
    public Future<Void> keep() {
      return Future.succeededFuture();
    }

    @Override
    public Future<Boolean> isCurrent() {
      return upload.isCurrent();
    }

    @Override
    public boolean isInspected() {
      return upload.isInspected();
    }

    @Override
    public Future<Void> finish() {
      return upload.finish();
    }

    @Override
    public Future<Void> release() {
      return upload.release();
    }
  }

  /** A store that delegates. */
  private static class Forwarding implements BlobStore {
    private final BlobStore blobs;

    Forwarding(BlobStore blobs) {
      this.blobs = blobs;
    }

    @Override
    public Future<Upload> open(String uploadId, Inspector inspector) {
      return blobs.open(uploadId, inspector);
    }

    @Override
    public Future<Long> stored(String uploadId) {
      return blobs.stored(uploadId);
    }

    @Override
    public Future<Void> publish(String uploadId, String key) {
      return blobs.publish(uploadId, key);
    }

    @Override
    public Future<Void> abandon(String uploadId) {
      return blobs.abandon(uploadId);
    }

    @Override
    public Future<Void> delete(String key, Instant before) {
      return blobs.delete(key, before);
    }

    @Override
    public Future<Boolean> exists(String key) {
      return blobs.exists(key);
    }

    @Override
    public Future<Reading> read(String key) {
      return blobs.read(key);
    }

    @Override
    public boolean sharesReadings() {
      return blobs.sharesReadings();
    }

    @Override
    public Future<Integer> tidy() {
      return blobs.tidy();
    }

    @Override
    public Future<Optional<URI>> address(
        String key, Duration lifetime, Map<String, String> headers) {
      return blobs.address(key, lifetime, headers);
    }

    @Override
    public Future<Page<String>> listUploads(Instant before, String after, int limit) {
      return blobs.listUploads(before, after, limit);
    }

    @Override
    public Future<Page<String>> listBlobs(Instant before, String after, int limit) {
      return blobs.listBlobs(before, after, limit);
    }

    @Override
    public Future<Void> close() {
      return blobs.close();
    }
  }
}
