package dev.bourse.store.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.postgres.PrimaryHistory.Primary;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The choice between two servers that accept writes. */
class PrimaryHistoryTest {
  private final PrimaryHistory history = new PrimaryHistory();
  private final List<Primary> told = new ArrayList<>();

  @Test
  void aFormerPrimaryIsRefusedOnceTheNewOneWasUsed() {
    history.onNewer(told::add);
    Primary first = new Primary(7, 1);
    Primary second = new Primary(7, 2);
    history.used(first);
    assertTrue(history.admits(first));
    history.used(second);
    assertFalse(history.admits(first));
    assertTrue(history.admits(second));
    // A connection in progress.
    history.used(first);
    assertFalse(history.admits(first));
    assertEquals(List.of(second), told);
  }

  @Test
  void aFormerPrimaryIsNewsOnce() {
    assertTrue(history.isNews(new Primary(7, 1)));
    assertFalse(history.isNews(new Primary(7, 1)));
    assertTrue(history.isNews(new Primary(7, 2)));
  }

  @Test
  void anotherSystemIsUsedWhateverItsTimeline() {
    history.onNewer(told::add);
    history.used(new Primary(7, 5));
    Primary moved = new Primary(8, 1);
    assertTrue(history.admits(moved));
    history.used(moved);
    assertTrue(history.admits(new Primary(8, 1)));
    assertEquals(List.of(), told);
  }

  @Test
  void aServerThatDoesNotSayWhatItIsIsTakenAsItIs() {
    history.used(new Primary(7, 5));
    assertTrue(history.admits(PrimaryHistory.UNKNOWN));
    history.used(PrimaryHistory.UNKNOWN);
    assertFalse(history.admits(new Primary(7, 4)));
  }
}
