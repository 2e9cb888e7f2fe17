package dev.bourse.checkpoint;

import static dev.bourse.checkpoint.CheckpointSamples.item;
import static dev.bourse.checkpoint.CheckpointSamples.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.ErrorCode;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a publication may take the place of. */
class ReplaceTest {
  private static final Optional<Checkpoint> NONE = Optional.empty();
  private static final Optional<Checkpoint> ALICES = Optional.of(item(Visibility.ORG));
  private static final Replace ONE = Replace.one("ckp_1");

  private static void isTaken(Replace replace, Optional<Checkpoint> named, String member) {
    assertEquals(
        "exists",
        refused(ErrorCode.CONFLICT, () -> replace.choose(ALICES, named, member, Visibility.ORG))
            .extras()
            .get("reason"));
  }

  @Test
  void itsCreatorRepublishingReplacesAnItem() {
    assertEquals(ALICES, Replace.ANY.choose(ALICES, NONE, "alice", Visibility.ORG));
    assertEquals(NONE, Replace.ANY.choose(NONE, NONE, "alice", Visibility.ORG));
  }

  @Test
  void aNewItemFindsItsPlaceFree() {
    assertEquals(NONE, Replace.NONE.choose(NONE, NONE, "alice", Visibility.ORG));
    isTaken(Replace.NONE, NONE, "alice");
  }

  @Test
  void anotherMembersPlaceIsTaken() {
    isTaken(Replace.ANY, NONE, "bob");
  }

  @Test
  void anItemIsReplacedByItsIdWhateverItsName() {
    assertEquals(ALICES, ONE.choose(NONE, ALICES, "alice", Visibility.ORG));
    assertEquals(ALICES, ONE.choose(ALICES, ALICES, "alice", Visibility.ORG));
    refused(ErrorCode.GONE, () -> ONE.choose(NONE, ALICES, "bob", Visibility.ORG));
    refused(ErrorCode.GONE, () -> ONE.choose(NONE, NONE, "alice", Visibility.ORG));
    refused(ErrorCode.BAD_REQUEST, () -> ONE.choose(NONE, ALICES, "alice", Visibility.PUBLIC));
    Optional<Checkpoint> other =
        Optional.of(
            Checkpoint.create(
                "ckp_2",
                "acme",
                Visibility.ORG,
                "alice",
                null,
                CheckpointSamples.draft(1, "b.bin")));
    isTaken(Replace.one("ckp_2"), other, "alice");
  }
}
