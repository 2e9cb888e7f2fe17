package dev.bourse.access;

import io.vertx.core.Future;
import java.util.List;
import java.util.Set;

/**
 * Who may act as a member, in memory: everybody on a roster who is not suspended. An entry is some
 * 100 bytes. A removed or suspended member is refused at the next request, whatever they hold.
 */
public final class Members {
  /** What other processes are told when members come, go or are suspended. */
  public static final String CHANGED = "members";

  private final AccessStore store;
  private volatile Set<List<String>> active = Set.of();
  private Future<Void> lastReading = Future.succeededFuture();

  public Members(AccessStore store) {
    this.store = store;
  }

  /** Reads all of them anew, after any reading under way. */
  public synchronized Future<Void> load() {
    lastReading =
        lastReading
            .otherwiseEmpty()
            .compose(read -> store.listActiveMembers())
            .map(
                found -> {
                  active = Set.copyOf(found);
                  return null;
                });
    return lastReading;
  }

  /** Whether somebody is on the roster and not suspended. */
  public boolean isActive(String orgId, String username) {
    return active.contains(List.of(orgId, username));
  }
}
