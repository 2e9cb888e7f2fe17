package dev.bourse.uploads;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Upload;
import dev.bourse.checkpoint.BlobName;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.ConflictReason;
import dev.bourse.checkpoint.Publication;
import dev.bourse.checkpoint.ReviewCheck;
import dev.bourse.checkpoint.Revision;
import dev.bourse.checkpoint.SetFile;
import dev.bourse.checkpoint.SetStore;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The end of a set: when all its files have arrived, its manifest is stored durably, and one commit
 * publishes the set. After a crash the next commit repeats the missing steps.
 */
final class SetPublication {
  /** Remarks about files that the reviewer sees; further ones are only counted. */
  private static final int MOST_FINDINGS = 50;

  private final SetStore sets;
  private final Publication publication;
  private final BlobStore blobs;

  SetPublication(SetStore sets, Publication publication, BlobStore blobs) {
    this.sets = sets;
    this.publication = publication;
    this.blobs = blobs;
  }

  /**
   * Publishes a set.
   *
   * @param wanted the digest its manifest must have; null for any
   */
  Future<Checkpoint> commit(
      String actor, Checkpoint item, Revision draft, @Nullable String wanted) {
    return sets.list(item.id(), draft.number())
        .compose(
            files -> {
              requireAll(item, files);
              byte[] manifest = SetFile.manifest(files);
              String sha256 = SetFile.digest(manifest);
              Inspection.requireDigest(wanted, sha256);
              List<String> findings = findings(files);
              String key = BlobName.key(item.id(), draft.number(), sha256);
              return publication
                  .note(item, draft, sha256, findings)
                  .compose(noted -> blobs.exists(key))
                  .compose(
                      exists ->
                          exists
                              ? Future.succeededFuture()
                              : keep(BlobName.upload(item.id(), draft.number()), key, manifest))
                  .compose(
                      durable ->
                          publication.publish(
                              actor,
                              item,
                              draft,
                              sha256,
                              findings,
                              auditDetail(item, draft, files)));
            });
  }

  /**
   * Returns the audit detail: the number of files, and how many of them were sent with this set.
   */
  private static String auditDetail(Checkpoint item, Revision draft, List<SetFile> files) {
    long sent =
        files.stream()
            .filter(file -> BlobName.isOf(String.valueOf(file.key()), item.id(), draft.number()))
            .count();
    return " files=%s sent=%s linked=%s".formatted(files.size(), sent, files.size() - sent);
  }

  private static void requireAll(Checkpoint item, List<SetFile> files) {
    List<SetFile> awaited = files.stream().filter(file -> file.key() == null).toList();
    if (!awaited.isEmpty()) {
      throw ConflictReason.OBJECT_MISSING.of(
          "%s of %s files of %s have not arrived, the first is number %s, %s",
          awaited.size(), files.size(), item.id(), awaited.get(0).number(), awaited.get(0).path());
    }
  }

  private static List<String> findings(List<SetFile> files) {
    Set<String> all = new LinkedHashSet<>();
    for (SetFile file : files) {
      List<String> found = new ArrayList<>(ReviewCheck.findings(file.metadata(), new byte[0]));
      found.addAll(file.findings());
      found.stream().distinct().forEach(finding -> all.add(file.path() + ": " + finding));
    }
    List<String> shown = all.stream().limit(MOST_FINDINGS).toList();
    if (all.size() > MOST_FINDINGS) {
      shown = new ArrayList<>(shown);
      shown.add("and " + (all.size() - MOST_FINDINGS) + " more remarks about other files");
    }
    return shown;
  }

  /** Stores the manifest durably; an earlier attempt is discarded. */
  private Future<Void> keep(String name, String key, byte[] manifest) {
    return blobs
        .abandon(name)
        .compose(abandoned -> blobs.open(name, (bytes, from, to) -> {}))
        .compose(
            upload ->
                append(upload, manifest, 0)
                    .compose(appended -> upload.finish())
                    .transform(
                        done ->
                            upload
                                .release()
                                .compose(
                                    released ->
                                        done.succeeded()
                                            ? Future.<Void>succeededFuture()
                                            : Future.failedFuture(done.cause()))))
        .compose(finished -> blobs.publish(name, key));
  }

  private static Future<Void> append(Upload upload, byte[] bytes, int from) {
    if (from == bytes.length) {
      return Future.succeededFuture();
    }
    int to = Math.min(bytes.length, from + BlobStore.BLOCK_BYTES);
    return upload.append(bytes, from, to).compose(appended -> append(upload, bytes, to));
  }
}
