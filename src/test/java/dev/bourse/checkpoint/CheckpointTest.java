package dev.bourse.checkpoint;

import static dev.bourse.checkpoint.CheckpointSamples.SHA;
import static dev.bourse.checkpoint.CheckpointSamples.T0;
import static dev.bourse.checkpoint.CheckpointSamples.draft;
import static dev.bourse.checkpoint.CheckpointSamples.item;
import static dev.bourse.checkpoint.CheckpointSamples.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Transitions of an item. */
@Tag("fast")
class CheckpointTest {
  private static Checkpoint landed(Checkpoint item, int number) {
    return item.published(number, SHA, "rev_" + number, List.of(), T0 + number);
  }

  private static int number(Checkpoint item) {
    return CheckpointView.live(item).number();
  }

  private static Revision.State state(Checkpoint item) {
    return item.shown().state();
  }

  @Test
  void anAnnouncedItemAwaitsItsBytes() {
    Checkpoint item = item(Visibility.ORG);
    assertEquals(Revision.State.PENDING, state(item));
    assertNull(item.live());
  }

  @Test
  void anOrganizationsItemIsReadyOnceItsBytesLand() {
    Checkpoint item = landed(item(Visibility.ORG), 1);
    assertEquals(Revision.State.READY, state(item));
    assertEquals(item.head(), item.live());
    assertEquals(T0 + 1, item.shown().publishedAtMillis());
    assertNull(item.draft());
  }

  @Test
  void aPublicItemIsReviewedBeforeItIsLive() {
    Checkpoint item = landed(item(Visibility.PUBLIC), 1);
    assertEquals(Revision.State.REVIEW, state(item));
    assertNull(item.live());
    Checkpoint approved = item.approved("rev_1", T0 + 5);
    assertEquals(Revision.State.READY, state(approved));
    assertEquals(T0 + 5, approved.shown().publishedAtMillis());
    assertEquals(approved.head(), approved.live());
  }

  @Test
  void whatIsLiveStaysLiveWhileItsSuccessorIsReviewed() {
    Checkpoint first = landed(item(Visibility.PUBLIC), 1).approved("rev_1", T0);
    Checkpoint second = landed(first.redrafted(draft(2)), 2);
    assertEquals(1, number(second));
    assertEquals(2, second.shown().number());
    assertEquals(2, number(second.approved("rev_2", T0)));
    Checkpoint rejected = second.rejected("rev_2", "no");
    assertEquals(1, number(rejected));
    assertEquals(Revision.State.REJECTED, state(rejected));
    assertEquals("no", rejected.shown().rejectionReason());
  }

  @Test
  void theOldEditionIsShownUntilTheNewOneIsComplete() {
    Checkpoint item = landed(item(Visibility.ORG), 1).redrafted(draft(2));
    assertEquals(1, item.shown().number());
    assertEquals(1, number(item));
    assertEquals(2, landed(item, 2).shown().number());
  }

  @Test
  void aDecidedReviewIsNotDecidedAgain() {
    Checkpoint approved = landed(item(Visibility.PUBLIC), 1).approved("rev_1", T0);
    assertEquals(
        "wrong-status",
        refused(ErrorCode.CONFLICT, () -> approved.rejected("rev_1", "no")).extras().get("reason"));
  }

  @Test
  void aReviewEndsWithItsRevision() {
    Checkpoint first = landed(item(Visibility.PUBLIC), 1);
    Checkpoint second = landed(first.redrafted(draft(2)), 2);
    refused(ErrorCode.NOT_FOUND, () -> second.approved("rev_1", T0));
  }

  @Test
  void bytesLandOnceAndOnlyInTime() {
    Checkpoint item = item(Visibility.ORG);
    for (Checkpoint late : List.of(landed(item, 1), item.redrafted(draft(2)), item.expired())) {
      assertEquals(
          "not-pending", refused(ErrorCode.CONFLICT, () -> landed(late, 1)).extras().get("reason"));
    }
    refused(
        ErrorCode.CONFLICT, () -> item.published(1, SHA, "r", List.of(), CheckpointSamples.LATE));
  }

  @Test
  void withoutItsDraftAnItemIsWhatItWasOrNothing() {
    assertEquals(Optional.empty(), item(Visibility.ORG).withoutDraft());
    Checkpoint item = landed(item(Visibility.ORG), 1);
    assertEquals(item.head(), item.redrafted(draft(2)).withoutDraft().orElseThrow().shown());
  }

  @Test
  void anItemIsDeadWhenNothingCameAndNothingCan() {
    Checkpoint item = item(Visibility.ORG);
    assertFalse(item.isDead(T0));
    assertTrue(item.isDead(CheckpointSamples.LATE));
    assertTrue(item.expired().isDead(T0));
    assertFalse(landed(item, 1).redrafted(draft(2)).expired().isDead(T0));
  }

  @Test
  void announcedBytesCountUntilTheyExpire() {
    Checkpoint item = item(Visibility.ORG);
    assertEquals(100, item.heldBytes());
    assertEquals(0, item.expired().heldBytes());
    Checkpoint replaced = landed(item, 1).redrafted(draft(2));
    assertEquals(200, replaced.heldBytes());
    assertEquals(100, landed(replaced, 2).heldBytes());
  }

  @Test
  void aPlatformDocumentNeedsNoReview() {
    Checkpoint document =
        Checkpoint.create(
            "ckp_1",
            Checkpoint.PLATFORM,
            Visibility.PUBLIC,
            "operator:o",
            "operator:o",
            "Us",
            draft(1));
    assertEquals(Revision.State.READY, state(landed(document, 1)));
    assertFalse(document.isBy("operator:o"));
  }

  @Test
  void aNewEditionOfAnotherNameMovesTheItemOnceItLands() {
    Checkpoint item = landed(item(Visibility.ORG), 1);
    Checkpoint renaming = item.redrafted(CheckpointSamples.draft(2, "other.bin"));
    assertEquals("a.bin", renaming.fileName());
    assertEquals("other.bin", landed(renaming, 2).fileName());
  }
}
