package dev.bourse.client.trail;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The lines of a text of any length, each of bounded length. */
final class BoundedLines {
  /** Far more than a row that the service records, and little enough to read anything. */
  static final int MAX_BYTES = 4 << 20;

  /** A line that is no text, or too long to be one of a trail. */
  static final class Unreadable extends IOException {
    private static final long serialVersionUID = 1;

    Unreadable(long line, String what) {
      super(line + ": " + what);
    }
  }

  private final InputStream bytes;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream(1_024);
  private long number;

  BoundedLines(InputStream bytes) {
    this.bytes = bytes;
  }

  /** The number of the line read last, from 1; 0 before the first. */
  long number() {
    return number;
  }

  /** The next line without its end; null behind the last. */
  @Nullable String next() throws IOException {
    line.reset();
    int each = bytes.read();
    if (each < 0) {
      return null;
    }
    number++;
    while (each >= 0 && each != '\n') {
      if (line.size() == MAX_BYTES) {
        throw new Unreadable(number, "a line of over " + (MAX_BYTES >> 20) + " MiB");
      }
      line.write(each);
      each = bytes.read();
    }
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(line.toByteArray()))
          .toString()
          .stripTrailing();
    } catch (CharacterCodingException e) {
      throw new Unreadable(number, "it is not UTF-8");
    }
  }
}
