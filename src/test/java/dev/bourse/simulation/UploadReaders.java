package dev.bourse.simulation;

import dev.bourse.checkpoint.ContentService;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import java.util.SortedSet;
import java.util.TreeSet;

/** Members who read and delete the files that {@link UploadClients} published. */
final class UploadReaders {
  private final World world;
  private final UploadClients clients;
  private final TreeSet<String> deleted = new TreeSet<>();

  UploadReaders(World world, UploadClients clients) {
    this.world = world;
    this.clients = clients;
  }

  /** Returns items whose deletion was acknowledged. */
  SortedSet<String> deleted() {
    return deleted;
  }

  /** Reads a file back. */
  void read(UploadPlace place) {
    Replica process = clients.keeper();
    UploadPlace.Acknowledged due = place.acknowledged;
    if (process == null || due == null) {
      return;
    }
    world.clients.call(
        process,
        "reads " + due.itemId(),
        core ->
            core.contents()
                .openShown(place.organization, due.itemId())
                .compose(
                    opened -> whole(opened).onSuccess(bytes -> compare(place, due, opened, bytes)))
                .onFailure(e -> notRead(place, due, e)));
  }

  private static Future<byte[]> whole(ContentService.Opened opened) {
    return opened
        .bytes()
        .piece(0, (int) opened.bytes().length())
        .map(piece -> piece.getBytes())
        .eventually(() -> opened.bytes().close());
  }

  private void compare(
      UploadPlace place, UploadPlace.Acknowledged due, ContentService.Opened opened, byte[] bytes) {
    String sha256 = UploadClients.digest(bytes);
    boolean isDue =
        opened.content().revision() == due.revision()
            ? sha256.equals(due.sha256())
            : opened.content().revision() > due.revision() && place.contents.containsKey(sha256);
    if (!isDue) {
      world.fail(
          new ViolationException(
              "ReadersGetWhatWasPublished",
              due + " was acknowledged, and read is " + opened.content() + " with " + sha256));
    }
  }

  private void notRead(UploadPlace place, UploadPlace.Acknowledged due, Throwable cause) {
    if (cause instanceof ApiException e
        && (e.code() == ErrorCode.CONFLICT || e.code() == ErrorCode.GONE)
        && due.equals(place.acknowledged)
        && !place.isDeletionInDoubt
        && !world.access.retirements().containsKey(place.organization)) {
      world.fail(
          new ViolationException(
              "ReadersGetWhatWasPublished", due + " was acknowledged; read: " + cause));
    }
  }

  /** Deletes an acknowledged file. */
  void delete(UploadPlace place) {
    Replica process = clients.keeper();
    UploadPlace.Acknowledged last = place.acknowledged;
    if (process == null || last == null || place.isBusy) {
      return;
    }
    place.isBusy = true;
    boolean wasInDoubt = place.isDeletionInDoubt;
    place.isDeletionInDoubt = true;
    world.clients.call(
        process,
        "deletes " + last.itemId(),
        core ->
            core.checkpoints()
                .delete(UploadClients.publisher(core, place.organization), last.itemId())
                .onSuccess(
                    at -> {
                      deleted.add(last.itemId());
                      place.acknowledged = null;
                      place.isDeletionInDoubt = wasInDoubt;
                      place.isBusy = false;
                    }));
    // Without an answer the client continues with other work.
    world.scheduler.afterMillis(30_000, () -> place.isBusy = false);
  }
}
