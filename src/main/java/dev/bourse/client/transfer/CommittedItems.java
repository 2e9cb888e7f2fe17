package dev.bourse.client.transfer;

import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Finds out whether a refused commit was published by an earlier attempt with a lost answer. */
final class CommittedItems {
  private final Service service;

  CommittedItems(Service service) {
    this.service = service;
  }

  /**
   * Returns the item if the refusal means that an earlier attempt succeeded; otherwise null.
   * Retries transient failures, because the item may be published.
   *
   * @param isOurs whether an item that is not pending has the bytes or the revision of this upload
   * @param retries the policy of the commit, whose failures count together with those of the reads
   * @throws RefusedException the last transient failure, if it is still unknown whether the commit
   *     succeeded
   */
  @Nullable JsonObject find(
      RefusedException refused, String id, Predicate<JsonObject> isOurs, RetryPolicy retries)
      throws RefusedException {
    boolean isOver =
        refused.reason().equals("not-pending") || refused.is("gone") || refused.status() == 404;
    if (!isOver) {
      return null;
    }
    while (true) {
      try {
        JsonObject item = service.call("GET", FileUpload.item(id), null);
        boolean isPending = item.getString("status", "").equals("pending");
        return !isPending && isOurs.test(item) ? item : null;
      } catch (RefusedException e) {
        if (!e.isTransient()) {
          return null;
        }
        retries.after(e);
      }
    }
  }
}
