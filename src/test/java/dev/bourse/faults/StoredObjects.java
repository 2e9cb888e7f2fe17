package dev.bourse.faults;

import dev.bourse.blob.s3.S3Config;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.MultipartUpload;

/** What an object store holds, beside what the rows say of it. */
final class StoredObjects implements AutoCloseable {
  /** An ending that a process left half done is taken over after a minute. */
  private static final int SECONDS = 180;

  private final S3Config config;
  private final Connection rows;
  private final S3Client store;

  StoredObjects(S3Config config, Connection rows) {
    this.config = config;
    this.rows = rows;
    store = client(config);
  }

  private static S3Client client(S3Config config) {
    return S3Client.builder()
        .endpointOverride(config.endpoint().orElseThrow())
        .region(Region.of(config.region()))
        .forcePathStyle(true)
        .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
        .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
        .httpClientBuilder(UrlConnectionHttpClient.builder())
        .build();
  }

  static void makeBucket(S3Config config) {
    try (S3Client store = client(config)) {
      store.createBucket(request -> request.bucket(config.bucket()));
    }
  }

  /** Waits until there is the object of each blob, and no object that no row names. */
  void requireAsTheRowsSay() {
    FaultWorld.until(
        "the store holds what the rows say",
        SECONDS,
        () -> {
          Set<String> there = objects();
          Set<String> blobs = ask("SELECT object FROM blob");
          boolean areThere = there.containsAll(blobs);
          there.removeAll(blobs);
          there.removeAll(
              ask("SELECT object FROM blob_piece UNION SELECT object FROM blob_upload"));
          return areThere && there.isEmpty();
        });
  }

  /** Uploads of one opening: all that a process may have begun for a request that came late. */
  private static final String OPENED_ONCE =
      "SELECT upload FROM blob_upload WHERE state = 'open' AND epoch = 1";

  /**
   * What may stay for a while when all was deleted.
   *
   * @param objects those whose makers died before they noted that they are there: their rows and
   *     they go once their requests, too, must have ended
   * @param uploads those that a process opened for a request whose client had the file published
   *     and deleted by way of the other meanwhile, and died before it saw that. Each goes as one
   *     that belongs to no checkpoint, within an hour
   */
  record Late(int objects, int uploads) {}

  /** Waits until nothing is left of any blob or upload, but what is late. */
  Late requireNothing() {
    try {
      FaultWorld.until("nothing is left", SECONDS, () -> left().isEmpty());
    } catch (ViolatedException late) {
      throw new ViolatedException("these are left after " + SECONDS + " s: " + left(), late);
    }
    requireAsTheRowsSay();
    return new Late(ask("SELECT object FROM blob_piece").size(), ask(OPENED_ONCE).size());
  }

  /** What there is of blobs and uploads, each with what tells why it stays. */
  private Set<String> left() {
    return ask(
        """
        SELECT 'blob ' || blob_key FROM blob
        UNION SELECT 'upload ' || upload || ', ' || state || ', opened ' || epoch
          || ' times, since ' || changed_at FROM blob_upload WHERE upload NOT IN (%1$s)
        UNION SELECT 'piece ' || object || ' of upload ' || upload FROM blob_piece
          WHERE kept = 1 AND upload NOT IN (%1$s)\
        """
            .formatted(OPENED_ONCE));
  }

  /** Waits until there is no object at all. */
  void requireEmpty() {
    FaultWorld.until("no object is left", 2 * SECONDS + 60, () -> objects().isEmpty());
  }

  /** Multipart uploads that have parts and that no row names; each is ended after a day. */
  Set<String> unknownParts() {
    Set<String> known = ask("SELECT multipart_id FROM blob_upload");
    return store.listMultipartUploads(request -> request.bucket(config.bucket())).uploads().stream()
        .filter(upload -> !known.contains(upload.uploadId()) && hasParts(upload))
        .map(MultipartUpload::key)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private boolean hasParts(MultipartUpload upload) {
    return !store
        .listParts(
            request ->
                request.bucket(config.bucket()).key(upload.key()).uploadId(upload.uploadId()))
        .parts()
        .isEmpty();
  }

  private Set<String> objects() {
    return store
        .listObjectsV2Paginator(request -> request.bucket(config.bucket()))
        .contents()
        .stream()
        .map(object -> object.key().substring(config.prefix().length()))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private Set<String> ask(String sql) {
    try (Statement statement = rows.createStatement();
        ResultSet found = statement.executeQuery(sql)) {
      Set<String> all = new TreeSet<>();
      while (found.next()) {
        String one = found.getString(1);
        if (one != null) {
          all.add(one);
        }
      }
      return all;
    } catch (SQLException e) {
      throw new ViolatedException("the database does not answer", e);
    }
  }

  @Override
  public void close() {
    store.close();
  }
}
