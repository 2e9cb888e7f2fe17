package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What streams of events may be and hold together. */
@Tag("fast")
class StreamRoomTest {
  private static ErrorCode refusal(StreamRoom room, String token) {
    return assertThrows(ApiError.class, () -> room.enter(token)).code();
  }

  @Test
  void aRefusedStreamCountsForNothing() {
    StreamRoom room = new StreamRoom(StreamRoom.MAX_PER_TOKEN + 1, 1_000);
    for (int i = 0; i < StreamRoom.MAX_PER_TOKEN; i++) {
      room.enter("a");
    }
    assertEquals(ErrorCode.RATE_LIMITED, refusal(room, "a"));
    room.enter("b");
    assertEquals(ErrorCode.OVERLOADED, refusal(room, "c"));
    assertEquals(StreamRoom.MAX_PER_TOKEN + 1, room.open());
    room.leave("a");
    room.enter("a");
    assertEquals(ErrorCode.OVERLOADED, refusal(room, "c"));
  }

  @Test
  void onceTooMuchWaitsWhoHasMoreThanAnEvenShareHasNoRoom() {
    StreamRoom room = new StreamRoom(10, 1_000);
    assertTrue(room.hasRoom(900));
    room.waits(1_000);
    assertFalse(room.hasRoom(100));
    assertTrue(room.hasRoom(99), "who is hardly behind goes on");
    room.waited(1);
    assertTrue(room.hasRoom(900));
  }
}
