package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.BulkheadPair;
import dev.bourse.core.ErrorCode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The limits of event streams and their memory. */
@Tag("fast")
class StreamRoomTest {
  private static ErrorCode refusal(StreamRoom room, String token, String owner) {
    return assertThrows(ApiException.class, () -> room.enter(token, owner)).code();
  }

  @Test
  void aRefusedStreamCountsForNothing() {
    StreamRoom room = new StreamRoom(2 * StreamRoom.MAX_PER_TOKEN + 1, 1_000);
    BulkheadPair.Places first = room.enter("a", "acme");
    for (int i = 1; i < StreamRoom.MAX_PER_TOKEN; i++) {
      room.enter("a", "acme");
    }
    assertEquals(ErrorCode.RATE_LIMITED, refusal(room, "a", "acme"));
    assertEquals(StreamRoom.MAX_PER_TOKEN, room.open());
    first.close();
    first.close();
    room.enter("a", "acme");
    assertEquals(StreamRoom.MAX_PER_TOKEN, room.open());
  }

  /** With any number of tokens: an organization may have 500. */
  @Test
  void oneOrganizationLeavesRoomForEveryOther() {
    StreamRoom room = new StreamRoom(100, 1_000);
    int own = 0;
    while (isLetIn(room, "token-" + own, "acme")) {
      own++;
    }
    assertEquals(50, own);
    assertEquals(ErrorCode.OVERLOADED, refusal(room, "another", "acme"));
    int others = 0;
    while (isLetIn(room, "t", "org-" + others)) {
      others++;
    }
    assertEquals(StreamRoom.MAX_PER_TOKEN, others, "one token's, whatever its organization");
    while (isLetIn(room, "t" + others, "org-" + others)) {
      others++;
    }
    assertEquals(50, others);
    assertEquals(ErrorCode.OVERLOADED, refusal(room, "t-more", "org-more"));
  }

  private static boolean isLetIn(StreamRoom room, String token, String owner) {
    try {
      room.enter(token, owner);
      return true;
    } catch (ApiException refused) {
      return false;
    }
  }

  @Test
  void onceTooMuchWaitsWhoHasMoreThanAnEvenShareHasNoRoom() {
    StreamRoom room = new StreamRoom(10, 1_000);
    assertTrue(room.hasRoom(900));
    room.addWaiting(1_000);
    assertFalse(room.hasRoom(100));
    assertTrue(room.hasRoom(99), "who is hardly behind goes on");
    room.removeWaiting(1);
    assertTrue(room.hasRoom(900));
  }
}
