package dev.bourse.checkpoint;

import dev.bourse.core.ApiError;
import java.util.Optional;

/**
 * What a publication may take the place of.
 *
 * @param mode in general
 * @param id the one item, for {@link Mode#ONE}; empty otherwise
 */
public record ReplacePolicy(Mode mode, String id) {
  /** The three answers. */
  public enum Mode {
    /** What is at the place, when there is something. */
    ANY,
    /** Nothing. */
    NONE,
    /** The one item named, whatever its file name. */
    ONE
  }

  public static final ReplacePolicy ANY = new ReplacePolicy(Mode.ANY, "");
  public static final ReplacePolicy NONE = new ReplacePolicy(Mode.NONE, "");

  /** The one item of this id. */
  public static ReplacePolicy one(String id) {
    return new ReplacePolicy(Mode.ONE, id);
  }

  /**
   * The item to replace; empty to make a new one.
   *
   * @param atPlace the item of the same organization, visibility and file name
   * @param named the organization's item that {@link #id} names
   * @param publisher who publishes
   * @throws ApiError {@code conflict} {@code exists} when the place is taken; {@code gone} when the
   *     named item is not the publisher's; {@code bad-request} when it is of another visibility
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
        throw ApiError.badField(
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
      throw taken(atPlace.get());
    }
    return atPlace;
  }

  /** The refusal of a file whose place another item has. */
  static ApiError taken(Checkpoint there) {
    return ConflictReason.EXISTS.of(
        """
        checkpoint %s of %s has this file name and visibility; take another name or, if it is \
        yours, replace it\
        """,
        there.id(), there.creator());
  }
}
