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
 * Keeps blobs: byte strings of up to many GiB that are written once, as an upload, and then read
 * under a key until they are deleted.
 *
 * <p>Names of uploads and keys are 1 to 128 letters, digits, dots, dashes and underscores, and
 * start with no dot; another name fails the call with {@link IllegalArgumentException}. A key is
 * never used again, not even after its blob was deleted, so nothing is ever overwritten.
 *
 * <p>Every call may be made from an event loop and any of them may fail with {@link StorageFault}
 * (the disk or the service behind it does not do what it was asked) or {@link StorageBusy} (too
 * much is asked at once). Futures complete on the context they were asked from.
 */
public interface BlobStore {
  /** The size of block to append: large enough that handing it to a thread costs nothing beside. */
  int BLOCK_BYTES = 256 * 1024;

  /** The largest block and the largest piece: what one call may hold in memory. */
  int MAX_BLOCK_BYTES = 1024 * 1024;

  /** Whoever learns of an address has the blob meanwhile, so it ends soon. */
  Duration LONGEST_ADDRESS = Duration.ofHours(1);

  /** A time after every publication. */
  Instant EVER = Instant.ofEpochMilli(Long.MAX_VALUE);

  /** What the answer at an address can be made to say: the headers that S3 lets a reader set. */
  List<String> ADDRESS_HEADERS = List.of("Content-Type", "Content-Disposition", "Cache-Control");

  /**
   * Opens an upload for appending: a new one, or one an earlier call or process left. What it holds
   * already passes through the inspector at once where it can be read, about half a second per GiB,
   * in the background, and other uploads' blocks do not wait for it; otherwise at {@link
   * Upload#finish}.
   *
   * <p>Of two processes that open the same upload, where processes share a store, the later has it:
   * what the earlier one appends from then on fails with {@link UploadBusy}, and is not kept. But
   * one that is at the upload's end, which may take minutes, is left to it: the later is refused.
   *
   * <p>Fails with {@link UploadBusy} when the upload is open or at its end, with {@link
   * StorageBusy} when too many are open, with {@link StorageFull} when it cannot be created for
   * want of room, with {@link BlobGone} when it is abandoned meanwhile, and with what the inspector
   * threw.
   *
   * @param inspector a fresh one; what it has learned belongs to this opening alone
   */
  Future<Upload> open(String uploadId, Inspector inspector);

  /**
   * How many bytes of the upload are kept, whether it is open or not; 0 when there is none. After a
   * crash this is whatever had arrived, which may be less or more than was last answered.
   */
  Future<Long> stored(String uploadId);

  /**
   * Makes the upload's bytes readable under the key and as durable as the store can make them, and
   * ends the upload. A crash leaves either the upload or the blob, whole; the same call does the
   * rest, and it succeeds when all was done already. The blob's age counts from the last such call,
   * so that it is not deleted as one that nobody wants while its publisher stores who wants it. The
   * upload has been finished, as {@link Upload#finish} says, and released.
   *
   * <p>Fails with {@link UploadBusy} while the upload is open, with {@link BlobGone} when there is
   * neither the upload nor the blob, with {@link StorageFull} when there is no room for the blob's
   * name, which leaves the upload as it was, and with {@link StorageFault}. When bytes could not be
   * made durable the upload is gone with that: nobody knows which of them were lost.
   */
  Future<Void> publish(String uploadId, String key);

  /** Deletes the upload. Appends that wait fail with {@link BlobGone}. Nothing to do: succeeds. */
  Future<Void> abandon(String uploadId);

  /**
   * Deletes the blob. Whoever reads it may go on; from a store over a network as long as the answer
   * that brings the bytes does. Nothing to do: succeeds.
   *
   * <p>When it fails the blob may be gone already; then {@link #tidy} deletes its bytes.
   */
  default Future<Void> delete(String key) {
    return delete(key, EVER);
  }

  /**
   * Deletes the blob if {@link #listBlobs} before the same time still lists it. A blob of which
   * {@link #publish} succeeded meanwhile, even if it was published already, stays.
   */
  Future<Void> delete(String key, Instant before);

  /** Whether there is a blob under the key. */
  Future<Boolean> exists(String key);

  /** Opens a blob for reading. Fails with {@link BlobGone} when there is none. */
  Future<Reading> read(String key);

  /**
   * Whether readings of one blob at the same time are one to the bound on what may be read at once;
   * else each is one more.
   */
  boolean sharesReadings();

  /**
   * An address at which whoever has it may read the blob for a while, straight from the store.
   * Empty where the store has none: the bytes are then served by {@link #read}.
   *
   * @param lifetime 1 second to 1 hour
   * @param headers what the answer is to say: {@code Content-Type}, {@code Content-Disposition},
   *     {@code Cache-Control}; others are refused with {@link IllegalArgumentException}
   */
  Future<Optional<URI>> address(String key, Duration lifetime, Map<String, String> headers);

  /**
   * Uploads nothing was appended to since some time, for whoever looks for those nobody knows of.
   * It reads whole folders and is not for the way of a request.
   *
   * @param before only what was last written earlier than this
   * @param after the last item of the page before; empty for the first page
   * @param limit the most items, 1 to 1,000
   * @return names in an order of the store's own, the same on every call
   */
  Future<Page<String>> listUploads(Instant before, String after, int limit);

  /** Keys published before some time, in pages as {@link #listUploads} gives them. */
  Future<Page<String>> listBlobs(Instant before, String after, int limit);

  /**
   * Deletes what crashes left inside the store that is neither an upload nor a blob; a bounded
   * piece of it, to be asked now and then in the background. Succeeds with how much it was.
   */
  Future<Integer> tidy();

  /**
   * Ends what is open: uploads keep their whole blocks, readings break off. Succeeds when nothing
   * of the store is under way any more; further calls fail with {@link StorageBusy}.
   */
  Future<Void> close();

  /**
   * A name fit for an upload or a blob, and so for a file and a path.
   *
   * @throws IllegalArgumentException when it is not one the port allows
   */
  static String checkedName(String name) {
    if (!isName(name)) {
      throw new IllegalArgumentException(
          """
          '%s' names no blob; expected 1 to 128 letters, digits, dots, dashes and underscores, no \
          dot first\
          """
              .formatted(Text.shown(name)));
    }
    return name;
  }

  /**
   * Checks what an address is asked for with, as {@link #address} says it.
   *
   * @throws IllegalArgumentException when that is not accepted
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
            "'%s' is no header of an address; expected one of %s"
                .formatted(Text.shown(header), String.join(", ", ADDRESS_HEADERS)));
      }
    }
  }

  /** Whether the port allows this name. */
  static boolean isName(String name) {
    return name.matches("[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}");
  }
}
