package dev.bourse.org;

import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The port to who people are. Our own rows say who is a member; a directory says what is known of
 * them besides.
 */
public interface Directory {
  /**
   * A person as a directory knows them.
   *
   * @param email empty when there is none
   * @param name the full name, empty when there is none
   * @param active false when the account is suspended
   * @param lastLoginAtMillis null when the directory cannot tell
   */
  record Person(String email, String name, boolean active, @Nullable Long lastLoginAtMillis) {}

  /**
   * What is known of these members, by username. Those the directory does not know, or cannot tell
   * of in time, are left out. Never fails, and never takes much longer than the directory's
   * time-out.
   */
  Future<Map<String, Person>> find(List<Member> members);

  /** Gives up what is held for calls; later ones find nobody. */
  default Future<Void> close() {
    return Future.succeededFuture();
  }
}
