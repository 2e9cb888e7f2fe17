package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.nodes.Machine;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The conditions under which a machine can be granted. */
@Tag("fast")
class NodeTest {
  private static final long MINUTE = 60_000;
  private static final Node FRESH =
      new Node(new Machine("n0", "10.0.0.0", 22, null), false, 0, 0, null);

  @Test
  void failuresInARowSetItAsideForOneTwoAndFourMinutes() {
    Node once = FRESH.failed(0, "why");
    Node twice = once.failed(0, "why");
    Node thrice = twice.failed(0, "why");

    assertEquals(MINUTE, once.usableAfterMillis());
    assertEquals(2 * MINUTE, twice.usableAfterMillis());
    assertEquals(4 * MINUTE, thrice.usableAfterMillis());
    assertFalse(once.isUsable(MINUTE - 1));
    assertTrue(once.isUsable(MINUTE));
    assertNull(thrice.quarantinedAtMillis());
  }

  @Test
  void theFailureAfterThoseQuarantinesUntilAnOperatorActs() {
    Node out = FRESH.failed(0, "why").failed(0, "why").failed(0, "why").failed(77, "why");

    assertEquals(77L, out.quarantinedAtMillis());
    assertFalse(out.isUsable(Long.MAX_VALUE));
    assertFalse(out.healthy().isUsable(Long.MAX_VALUE));
  }

  @Test
  void aSuccessForgetsTheFailures() {
    assertEquals(FRESH, FRESH.failed(0, "why").failed(0, "why").healthy());
  }

  @Test
  void aCordonedMachineIsNotUsable() {
    assertFalse(new Node(FRESH.machine(), true, 0, 0, null).isUsable(1));
  }
}
