package dev.bourse.blob;

import dev.bourse.core.Page;
import dev.bourse.core.Text;
import io.vertx.core.Future;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Stores blobs: byte strings of up to many GiB that are written once, as an upload, and then read
 * under a key until they are deleted.
 *
 * <p>Names of uploads and keys have 1 to 128 letters, digits, dots, dashes and underscores, and do
 * not start with a dot. Any other name fails the call with {@link IllegalArgumentException}. A key
 * is never reused, even after its blob was deleted, so no blob is ever overwritten.
 *
 * <p>Every call may be made from an event loop. Any call may fail with {@link
 * StorageFaultException} (the disk or the service behind the store failed) or {@link
 * StorageBusyException} (too many calls at once). Futures complete on the caller's context.
 */
public interface BlobStore {
  /**
   * The recommended size of a block to append: large enough to make the cost of the thread switch
   * negligible.
   */
  int BLOCK_BYTES = 256 * 1024;

  /** The largest block and the largest piece, which bounds the memory of one call. */
  int MAX_BLOCK_BYTES = 1024 * 1024;

  /**
   * The longest lifetime of a blob's address. It is short because anybody who learns the address
   * can read the blob.
   */
  Duration LONGEST_ADDRESS = Duration.ofHours(1);

  /** A time after every publication. */
  Instant EVER = Instant.ofEpochMilli(Long.MAX_VALUE);

  /** The response headers that a blob's address may set; these are the ones S3 supports. */
  List<String> ADDRESS_HEADERS = List.of("Content-Type", "Content-Disposition", "Cache-Control");

  /**
   * Opens an upload for appending: a new one, or one that an earlier call or process left. Bytes
   * that it already holds pass through the inspector in the background if they can be read now, at
   * about half a second per GiB, without delaying other uploads' blocks. Otherwise they pass
   * through it in {@link Upload#finish}.
   *
   * <p>If two processes that share a store open the same upload, the later one takes it over:
   * further appends of the earlier one fail with {@link UploadBusyException} and are not stored. An
   * upload that is being finished, which may take minutes, stays with its process, and the later
   * one is rejected.
   *
   * <p>Fails with {@link UploadBusyException} if the upload is open or being finished, with {@link
   * StorageBusyException} if too many uploads are open, with {@link StorageFullException} if there
   * is no room to create it, with {@link BlobNotFoundException} if it is abandoned at the same
   * time, and with any exception of the inspector.
   *
   * @param inspector a new inspector; its state belongs to this opening alone
   */
  Future<Upload> open(String uploadId, Inspector inspector);

  /**
   * Returns how many bytes of the upload are stored, whether it is open or not, and 0 if there is
   * no such upload. After a crash this may be less or more than the last answer said.
   */
  Future<Long> stored(String uploadId);

  /**
   * Makes the upload's bytes readable under the key, as durable as the store can make them, and
   * ends the upload. A crash leaves either the upload or the whole blob; repeating the call
   * completes the rest, and it succeeds if everything was done already. The blob's age counts from
   * the last such call, so that a cleanup of unreferenced blobs does not delete it before its
   * publisher has stored a reference. The caller has finished the upload with {@link Upload#finish}
   * and released it.
   *
   * <p>Fails with {@link UploadBusyException} while the upload is open, with {@link
   * BlobNotFoundException} if neither the upload nor the blob exists, with {@link
   * StorageFullException} if there is no room for the blob's name, which leaves the upload
   * unchanged, and with {@link StorageFaultException}. If the bytes could not be made durable, the
   * upload is deleted, because it is unknown which bytes were lost.
   */
  Future<Void> publish(String uploadId, String key);

  /** Deletes the upload. Waiting appends fail with {@link BlobNotFoundException}. Idempotent. */
  Future<Void> abandon(String uploadId);

  /**
   * Deletes the blob. Open readings continue; those from a network store continue until the
   * response that carries their bytes ends. Idempotent.
   *
   * <p>If the call fails, the blob may be deleted already; {@link #tidy} then deletes its bytes.
   */
  default Future<Void> delete(String key) {
    return delete(key, EVER);
  }

  /**
   * Deletes the blob if {@link #listBlobs} with the same time still lists it. A blob that {@link
   * #publish} published again in the meantime stays.
   */
  Future<Void> delete(String key, Instant before);

  /** Returns whether there is a blob under the key. */
  Future<Boolean> exists(String key);

  /** Opens a blob for reading. Fails with {@link BlobNotFoundException} if there is none. */
  Future<Reading> read(String key);

  /**
   * Returns whether concurrent readings of one blob count as one towards the limit of open blobs.
   * Otherwise each reading counts.
   */
  boolean sharesReadings();

  /**
   * Returns a temporary address; anybody with the address can read the blob directly from the
   * store. Empty if the store has no addresses; callers then serve the bytes through {@link #read}.
   *
   * @param lifetime 1 second to 1 hour
   * @param headers headers of the response: {@code Content-Type}, {@code Content-Disposition},
   *     {@code Cache-Control}; others are rejected with {@link IllegalArgumentException}
   */
  Future<Optional<URI>> address(String key, Duration lifetime, Map<String, String> headers);

  /**
   * Lists uploads without an append since a time. Used to delete uploads without a reference. It
   * reads whole folders, so do not call it while a request waits.
   *
   * @param before lists only uploads last written before this time
   * @param after the last item of the previous page; empty for the first page
   * @param limit the page size, 1 to 1,000
   * @return names in an order of the store's own, which is the same on every call
   */
  Future<Page<String>> listUploads(Instant before, String after, int limit);

  /** Lists keys published before a time, paged like {@link #listUploads}. */
  Future<Page<String>> listBlobs(Instant before, String after, int limit);

  /**
   * Deletes a bounded number of leftovers of crashes that are neither uploads nor blobs. Call it
   * periodically in the background. Returns how many were deleted.
   */
  Future<Integer> tidy();

  /**
   * Closes the store: uploads keep their complete blocks, readings are interrupted. Succeeds when
   * no call of the store is in progress; later calls fail with {@link StorageBusyException}.
   */
  Future<Void> close();

  /**
   * Returns the name if it is valid for an upload or a blob, and so for a file and a path.
   *
   * @throws IllegalArgumentException if the name is not valid
   */
  static String checkedName(String name) {
    if (!isName(name)) {
      throw new IllegalArgumentException(
          """
          '%s' is not a valid blob name; use 1 to 128 letters, digits, dots, dashes and underscores, \
          without a leading dot\
          """
              .formatted(Text.shown(name)));
    }
    return name;
  }

  /**
   * Checks the arguments of {@link #address}.
   *
   * @throws IllegalArgumentException if one is not accepted
   */
  static void checkAddress(String key, Duration lifetime, Map<String, String> headers) {
    checkedName(key);
    if (lifetime.toSeconds() < 1 || lifetime.compareTo(LONGEST_ADDRESS) > 0) {
      throw new IllegalArgumentException(
          "an address of " + lifetime + "; expected 1 second to 1 hour");
    }
    for (String header : headers.keySet()) {
      if (!ADDRESS_HEADERS.contains(header)) {
        throw new IllegalArgumentException(
            "'%s' is not a header of an address; expected one of %s"
                .formatted(Text.shown(header), String.join(", ", ADDRESS_HEADERS)));
      }
    }
  }

  /** Returns whether the name is valid for an upload or a blob. */
  static boolean isName(String name) {
    return name.matches("[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}");
  }
}
