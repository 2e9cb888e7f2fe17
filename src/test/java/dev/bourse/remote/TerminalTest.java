package dev.bourse.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Reads of typed lines, and nothing after them. */
@Tag("fast")
class TerminalTest {
  @Test
  void aLineEndsAtItsEnd() throws IOException {
    try (InputStream typed = input("yes\nno")) {
      assertEquals(Optional.of("yes"), Terminal.line(typed));
      assertEquals(Optional.of("no"), Terminal.line(typed));
    }
  }

  @Test
  void endOfInputIsNoAnswer() throws IOException {
    try (InputStream nothing = input("")) {
      assertEquals(Optional.empty(), Terminal.line(nothing));
    }
  }

  private static InputStream input(String typed) {
    return new ByteArrayInputStream(typed.getBytes(StandardCharsets.UTF_8));
  }
}
