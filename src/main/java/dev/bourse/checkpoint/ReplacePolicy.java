package dev.bourse.checkpoint;

import dev.bourse.core.ApiException;
import java.util.Optional;

/**
 * Decides which item a publication may replace.
 *
 * @param mode the rule
 * @param id the one item, for {@link Mode#ONE}; empty otherwise
 */
public record ReplacePolicy(Mode mode, String id) {
  /** The three rules. */
  public enum Mode {
    /** Replaces the item at the place, if there is one. */
    ANY,
    /** Replaces nothing. */
    NONE,
    /** Replaces the named item, even if its file name differs. */
    ONE
  }

  public static final ReplacePolicy ANY = new ReplacePolicy(Mode.ANY, "");
  public static final ReplacePolicy NONE = new ReplacePolicy(Mode.NONE, "");

  /** Returns the policy that replaces the item of this id. */
  public static ReplacePolicy one(String id) {
    return new ReplacePolicy(Mode.ONE, id);
  }

  /**
   * Returns the item to replace; empty to create a new one.
   *
   * @param atPlace the item with the same organization, visibility and file name
   * @param named the organization's item that {@link #id} names
   * @param publisher the publisher
   * @throws ApiException {@code conflict} {@code exists} if the place is taken; {@code gone} if the
   *     named item is not the publisher's; {@code bad-request} if it has another visibility
   */
  Optional<Checkpoint> choose(
      Optional<Checkpoint> atPlace,
      Optional<Checkpoint> named,
      Publisher publisher,
      Visibility visibility) {
    if (mode == Mode.ONE) {
      Checkpoint one =
          named
              .filter(publisher::owns)
              .orElseThrow(() -> Checkpoint.unknown(publisher.orgId(), id));
      if (one.visibility() != visibility) {
        throw ApiException.badField(
            "visibility",
            visibility.label(),
            one.visibility().label() + ", the visibility of " + id);
      }
      if (atPlace.isPresent() && !atPlace.get().id().equals(one.id())) {
        throw taken(atPlace.get());
      }
      return Optional.of(one);
    }
    if (atPlace.isPresent() && (mode == Mode.NONE || !publisher.owns(atPlace.get()))) {
      throw mode == Mode.ANY && publisher.credential() != null
          ? takenFromJobs(atPlace.get())
          : taken(atPlace.get());
    }
    return atPlace;
  }

  /** Returns the error for a job whose request asks to replace an item already. */
  private static ApiException takenFromJobs(Checkpoint there) {
    return ConflictReason.EXISTS.of(
        """
        checkpoint %s of %s has this file name and visibility; a publishing credential replaces \
        only what publishing credentials of the same member published; take another name\
        """,
        there.id(), there.creator());
  }

  /** Returns the error for a place that another item has. */
  static ApiException taken(Checkpoint there) {
    return ConflictReason.EXISTS.of(
        """
        checkpoint %s of %s has this file name and visibility; take another name or, if it is \
        yours, replace it\
        """,
        there.id(), there.creator());
  }
}
