package dev.bourse.checkpoint;

import static dev.bourse.checkpoint.CheckpointSamples.item;
import static dev.bourse.checkpoint.CheckpointSamples.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The item that a publication replaces. */
@Tag("fast")
class ReplacePolicyTest {
  private static final Optional<Checkpoint> NONE = Optional.empty();
  private static final Optional<Checkpoint> ALICES = Optional.of(item(Visibility.ORG));
  private static final Publisher ALICE =
      new Publisher("acme", "alice", "acme/alice/1", "member:alice", null, false, null);
  private static final Publisher BOB =
      new Publisher("acme", "bob", "acme/bob/1", "member:bob", null, false, null);
  private static final ReplacePolicy ONE = ReplacePolicy.one("ckp_1");

  private static void isTaken(ReplacePolicy replace, Optional<Checkpoint> named, Publisher member) {
    assertEquals(
        "exists",
        refused(ErrorCode.CONFLICT, () -> replace.choose(ALICES, named, member, Visibility.ORG))
            .extras()
            .get("reason"));
  }

  @Test
  void itsCreatorRepublishingReplacesAnItem() {
    assertEquals(ALICES, ReplacePolicy.ANY.choose(ALICES, NONE, ALICE, Visibility.ORG));
    assertEquals(NONE, ReplacePolicy.ANY.choose(NONE, NONE, ALICE, Visibility.ORG));
  }

  @Test
  void aNewItemFindsItsPlaceFree() {
    assertEquals(NONE, ReplacePolicy.NONE.choose(NONE, NONE, ALICE, Visibility.ORG));
    isTaken(ReplacePolicy.NONE, NONE, ALICE);
  }

  @Test
  void whoHasTheNameOfAnItemsCreatorIsNotItsCreatorForThat() {
    Publisher later =
        new Publisher("acme", "alice", "acme/alice/2", "member:alice", null, false, null);
    isTaken(ReplacePolicy.ANY, NONE, later);
    refused(ErrorCode.GONE, () -> ONE.choose(NONE, ALICES, later, Visibility.ORG));
  }

  @Test
  void anotherMembersPlaceIsTaken() {
    isTaken(ReplacePolicy.ANY, NONE, BOB);
  }

  private static final Publisher JOB =
      new Publisher(
          "acme",
          "alice",
          "acme/alice/1",
          "member:alice",
          null,
          false,
          new Publisher.Credential("pub_1", CheckpointSamples.LATE));

  @Test
  void aJobIsNotToldToReplaceWhatItAskedToReplace() {
    ApiException refused =
        refused(
            ErrorCode.CONFLICT, () -> ReplacePolicy.ANY.choose(ALICES, NONE, JOB, Visibility.ORG));
    assertEquals("exists", refused.extras().get("reason"));
    assertFalse(refused.detail().contains("replace it"), refused.detail());
    isTaken(ReplacePolicy.NONE, NONE, JOB);
  }

  @Test
  void anExpiredAnnouncementOfTheMemberDoesNotBlockAJob() {
    Checkpoint announced = item(Visibility.ORG);
    Checkpoint expired = announced.expired();
    assertFalse(JOB.owns(announced));
    assertTrue(JOB.owns(expired));
  }

  @Test
  void anItemIsReplacedByItsIdWhateverItsName() {
    assertEquals(ALICES, ONE.choose(NONE, ALICES, ALICE, Visibility.ORG));
    assertEquals(ALICES, ONE.choose(ALICES, ALICES, ALICE, Visibility.ORG));
    refused(ErrorCode.GONE, () -> ONE.choose(NONE, ALICES, BOB, Visibility.ORG));
    refused(ErrorCode.GONE, () -> ONE.choose(NONE, NONE, ALICE, Visibility.ORG));
    refused(ErrorCode.BAD_REQUEST, () -> ONE.choose(NONE, ALICES, ALICE, Visibility.PUBLIC));
    Optional<Checkpoint> other =
        Optional.of(
            Checkpoint.create(
                "ckp_2",
                "acme",
                Visibility.ORG,
                "alice",
                "acme/alice/1",
                null,
                CheckpointSamples.draft(1, "b.bin")));
    isTaken(ReplacePolicy.one("ckp_2"), other, ALICE);
  }
}
