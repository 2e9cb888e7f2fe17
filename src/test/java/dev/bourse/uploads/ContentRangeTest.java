package dev.bourse.uploads;

import static dev.bourse.checkpoint.CheckpointSamples.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The header of a resumable PUT. */
@Tag("fast")
class ContentRangeTest {
  @Test
  void aChunkNamesItsBytes() {
    assertEquals(
        new ContentRange(false, 5, OptionalLong.of(9), OptionalLong.of(10)),
        ContentRange.parse("bytes 5-9/10"));
  }

  @Test
  void whatIsNotYetKnownIsAStar() {
    assertEquals(
        new ContentRange(false, 5, OptionalLong.of(9), OptionalLong.empty()),
        ContentRange.parse("bytes 5-9/*"));
    assertEquals(
        new ContentRange(false, 5, OptionalLong.empty(), OptionalLong.of(10)),
        ContentRange.parse("bytes 5-*/10"));
    assertEquals(
        new ContentRange(false, 0, OptionalLong.empty(), OptionalLong.empty()),
        ContentRange.parse("bytes 0-*/*"));
  }

  @Test
  void aStarAloneAsks() {
    assertTrue(ContentRange.parse("bytes */10").isQuery());
    assertTrue(ContentRange.parse("bytes */*").isQuery());
  }

  @Test
  void otherTextIsRefused() {
    for (String header :
        new String[] {
          "",
          "bytes",
          "bytes 5-4/10",
          "bytes 5-10/10",
          "bytes 10-*/10",
          "bytes 5-9",
          "bytes -9/10",
          "bytes 5-/10",
          "items 5-9/10",
          "bytes=5-9/10",
          "bytes 1-2,4-5/10",
          "bytes 0-9999999999999999999/*"
        }) {
      refused(ErrorCode.BAD_REQUEST, () -> ContentRange.parse(header));
    }
  }
}
