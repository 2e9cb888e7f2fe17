package dev.bourse.store.postgres;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("fast")
class LossConfirmationTest {
  private static final long HEARD_NANOS = 7;

  private final LossConfirmation loss = new LossConfirmation();

  @Test
  void aSecondIdleLookConfirmsALoss() {
    assertFalse(loss.add(HEARD_NANOS, true));
    assertTrue(loss.add(HEARD_NANOS, true));
  }

  @Test
  void aServerThatBeginsToWorkAfterTheFirstLookKeepsTheConnection() {
    assertFalse(loss.add(HEARD_NANOS, true));
    assertFalse(loss.add(HEARD_NANOS, false));
    assertFalse(loss.add(HEARD_NANOS, true));
  }

  @Test
  void dataBetweenTwoIdleLooksKeepsTheConnection() {
    assertFalse(loss.add(HEARD_NANOS, true));
    assertFalse(loss.add(HEARD_NANOS + 1, true));
    assertTrue(loss.add(HEARD_NANOS + 1, true));
  }
}
