package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.nodes.Machine;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The steps of a new image. */
@Tag("fast")
class ReimageTest {
  private static final Node HELD =
      new Node(new Machine("n0", "10.0.0.0", 22, "ssh-ed25519 old"), false, 0, 0, null);
  private static final Reimage BEGUN = new Reimage("a0", 0, 1_000, null);

  private static Reimage.Step next(Node node, long now) {
    return Reimage.next(node, "a0", now);
  }

  @Test
  void aTryIsStoredThenTheCommandRunsThenTheMachineIsVisited() {
    assertEquals(Reimage.Step.BEGIN, next(HELD, 0));
    assertEquals(Reimage.Step.IMAGE, next(HELD.needing(BEGUN), 999));
    assertEquals(Reimage.Step.VISIT, next(HELD.needing(BEGUN.answered("ssh-ed25519 new")), 999));
  }

  @Test
  void theTimeIsUpInEachStep() {
    assertEquals(Reimage.Step.GIVE_UP, next(HELD.needing(BEGUN), 1_000));
    assertEquals(Reimage.Step.GIVE_UP, next(HELD.needing(BEGUN.answered("key")), 1_000));
  }

  @Test
  void anImageAfterAnotherAllocationCountsForNothing() {
    assertEquals(Reimage.Step.BEGIN, Reimage.next(HELD.needing(BEGUN), "a1", 0));
  }

  @Test
  void aFailedTryWaitsForAnOperatorWhateverElseQuarantinedTheMachine() {
    Node failed = HELD.needing(BEGUN).unclean("a0", 5, "why");
    assertEquals(Reimage.Step.WAIT, next(failed, 0));
    assertEquals(5L, failed.quarantinedAtMillis());
    Node faulty = HELD.needing(BEGUN).unfit(1, "GPU").unclean("a0", 5, "why");
    assertEquals(Reimage.Step.WAIT, next(faulty, 0));
    assertEquals(1L, faulty.quarantinedAtMillis());
  }

  @Test
  void aMachineThatNeedsAnImageIsNotUsableAndTheImageEndsItsOwnQuarantineOnly() {
    assertFalse(HELD.needing(BEGUN).isUsable(0));
    Machine anew = HELD.machine().reimaged("ssh-ed25519 new").withBaseline("d1");
    Node clean = HELD.needing(BEGUN).unclean("a0", 5, "why").reimaged(anew);
    assertTrue(clean.isUsable(0));
    assertNull(clean.reimage());
    assertEquals(anew, clean.machine());
    assertEquals(HELD.generation() + 1, clean.generation());
    assertFalse(HELD.needing(BEGUN).unfit(1, "GPU").reimaged(anew).isUsable(0));
  }

  @Test
  void aRepetitionHasTheSameIdAndAnOperatorsRetryAnother() {
    assertEquals("a0.0", BEGUN.id());
    assertEquals(BEGUN.id(), BEGUN.answered("key").id());
    assertEquals("a0.1", new Reimage("a0", 1, 1_000, null).id());
  }
}
