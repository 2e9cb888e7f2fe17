package dev.bourse.org;

import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The port to a directory of people. The service's own rows define the members; a directory adds
 * personal data such as names.
 */
public interface Directory {
  /**
   * A person as a directory knows them.
   *
   * @param email empty when there is none
   * @param name the full name, empty when there is none
   * @param active false when the account is suspended
   * @param lastLoginAtMillis null if the directory does not record it
   */
  record Person(String email, String name, boolean active, @Nullable Long lastLoginAtMillis) {}

  /**
   * Returns the directory's data on these members, by username. Omits members that are unknown to
   * the directory or whose look-up is not answered in time. Never fails, and never takes much
   * longer than the directory's time-out.
   */
  Future<Map<String, Person>> find(List<Member> members);

  /** Closes the connections; later calls find nobody. */
  default Future<Void> close() {
    return Future.succeededFuture();
  }
}
